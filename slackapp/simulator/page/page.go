// Package page is the web page of the playground: a small Slack in a browser,
// in which one person speaks as everybody and sees what becomes of each
// message. It is plain HTML, CSS and JavaScript without a build step, and talks
// to a simulator's endpoints under /sim with the key of the page's own address.
//
// What becomes of a message is not the simulator's to know: the page reads it
// from annotations named "log", whose data are lines of the bot's log
// (Server.Publish): "message", "turn runs", "turn ended" and their like, with
// their attributes.
//
// Where simulator.Options.Play answers GET /play/pace with {"ms": 1500,
// "model": "demo"}, the page offers to change the pace with POST /play/pace
// {"ms": 300}; with another model it shows that one's name alone.
package page

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed static
var files embed.FS

// policy lets the page load and reach nothing but its own server, and keeps the
// browser from reading any text as markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Handler serves the page at / and its files beside it.
func Handler() http.Handler {
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	server := http.FileServerFS(static)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the address holds the key
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.URL.Path == "/play/pace" {
			w.WriteHeader(http.StatusNoContent) // nobody beside knows of a pace
			return
		}
		server.ServeHTTP(w, r)
	})
}
