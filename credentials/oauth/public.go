package oauth

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"reeve/credentials"
)

//go:embed pages/page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// page is what a browser is shown.
type page struct {
	Kind, Title, Text           string
	Provider, Person, Workspace string
	Account, Code, Action       string
	Nonce                       string
	// to is where a form may lead to, besides ourselves.
	to     string
	status int
}

// ServePublic serves Handler on a listener until ctx ends.
func (s *Service) ServePublic(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 2 * wireTime, IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	stop := context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(ending)
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

const (
	// maxQuery bounds what comes with a callback.
	maxQuery = 8 << 10
	// browserCookie tells the browser in which an attempt was begun.
	browserCookie = "reeve_connect"
)

// Handler serves /connect/..., /callback/... and /client/..., and nothing else. It needs no
// script in the browser, and leaves nothing in its history or caches.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /connect/{link}", s.showLink)
	mux.HandleFunc("POST /connect/{link}", s.followLink)
	mux.HandleFunc("GET /callback/{provider}", s.callback)
	mux.HandleFunc("GET /client/{provider}", s.showClient)
	prefix := ""
	if u, err := url.Parse(s.o.PublicURL); err == nil {
		prefix = strings.TrimSuffix(u.Path, "/")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", policy("", ""))
		if strings.HasPrefix(s.o.PublicURL, "https://") {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if !s.limits.allow(r) {
			h.Set("Retry-After", "5")
			s.show(w, page{status: http.StatusTooManyRequests, Title: "One moment", Text: "Too many pages are asked for at once. Try again in a few seconds."})
			return
		}
		if prefix != "" { // whether a proxy has taken it off or not
			if rest, found := strings.CutPrefix(r.URL.Path, prefix); found && strings.HasPrefix(rest, "/") {
				r = r.Clone(r.Context())
				r.URL.Path, r.URL.RawPath = rest, ""
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
		mux.ServeHTTP(w, r)
	})
}

// policy lets a page load nothing. A form leads back to us, and on to a provider,
// which may send the browser on to wherever people sign in.
func policy(nonce, to string) string {
	style, form := "'none'", "'none'"
	if nonce != "" {
		style = "'nonce-" + nonce + "'"
	}
	if to != "" {
		form = "'self' https: " + to
	}
	return "default-src 'none'; style-src " + style + "; form-action " + form + "; frame-ancestors 'none'; base-uri 'none'"
}

func (s *Service) show(w http.ResponseWriter, p page) {
	var raw [16]byte
	_, _ = rand.Read(raw[:])
	p.Nonce = base64.StdEncoding.EncodeToString(raw[:])
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy(p.Nonce, p.to))
	if p.status == 0 {
		p.status = http.StatusOK
	}
	w.WriteHeader(p.status)
	_ = pageTemplate.Execute(w, p)
}

func gonePage() page {
	return page{status: http.StatusGone, Title: "This link is over", Text: "It was used, or its time is over. Go back to Slack, open the link in your message again, or ask the bot once more."}
}

func faultPage() page {
	return page{status: http.StatusServiceUnavailable, Title: "That did not work", Text: "It is not your fault, and nothing was connected. Go back to Slack and open the link again in a minute."}
}

// linked is the flow of a link.
func (s *Service) linked(r *http.Request) (flow, error) {
	way := r.PathValue("link")
	if len(way) > 64 {
		return flow{}, errNoFlow
	}
	kept, err := s.o.Vault.Flow(r.Context(), linkName(way))
	if errors.Is(err, credentials.ErrNone) {
		return flow{}, errNoFlow
	}
	if err != nil {
		return flow{}, err
	}
	f, err := s.load(r.Context(), string(kept.Value))
	if err == nil && (s.o.Now().After(f.Until) || f.Stage != stageOpen && f.Stage != stagePending) {
		err = errNoFlow
	}
	return f, err
}

// showLink shows whose account the link connects. It begins nothing, so that what
// looks at links by itself (a scanner of mail, a preview) does no harm.
func (s *Service) showLink(w http.ResponseWriter, r *http.Request) {
	f, err := s.linked(r)
	switch {
	case errors.Is(err, errNoFlow):
		s.show(w, gonePage())
		return
	case err != nil:
		s.o.Log.Error("a link could not be looked up", "error", err)
		s.show(w, faultPage())
		return
	}
	p := s.named(r.Context(), f)
	p.Kind, p.Title, p.Action = "open", "Connect "+p.Provider, publicPath(s.o.PublicURL, "/connect/"+r.PathValue("link"))
	if c, ok := s.provider(f.owner().Provider); ok {
		if u, err := url.Parse(c.AuthURL); err == nil {
			p.to = u.Scheme + "://" + u.Host // where the form's answer leads to
		}
	}
	s.show(w, p)
}

// named says whose flow it is: his names are those that Slack shows. A workspace
// whose name is not known is left out, since nobody knows its id.
func (s *Service) named(ctx context.Context, f flow) page {
	p := page{Provider: s.Title(f.owner().Provider), Person: string(f.actor().User), Account: f.AccountName}
	if s.o.Who == nil {
		return p
	}
	name, workspace, err := s.o.Who(ctx, f.actor())
	if err != nil {
		s.o.Log.Warn("a person's name is not known", "actor", f.actor().Key(), "error", err)
		return p
	}
	if name = bounded(name); name != "" {
		p.Person = name
	}
	p.Workspace = bounded(workspace)
	return p
}

// followLink begins an attempt in this browser.
func (s *Service) followLink(w http.ResponseWriter, r *http.Request) {
	// A form of another site's page does not begin one in somebody's browser.
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		s.show(w, gonePage())
		return
	}
	f, err := s.linked(r)
	var address string
	browser := secret()
	if err == nil {
		address, err = s.start(r.Context(), f, browser)
	}
	switch {
	case errors.Is(err, errNoFlow), errors.Is(err, errTooOften):
		s.show(w, gonePage())
		return
	case err != nil:
		s.o.Log.Error("a link could not be followed", "error", err)
		s.show(w, faultPage())
		return
	}
	http.SetCookie(w, s.cookie(f.id(), browser, int(stateTime/time.Second)))
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// cookie goes to this server's own pages alone, and comes back from the
// provider's (Lax). Each flow has its own: one person may connect two accounts.
func (s *Service) cookie(id, value string, age int) *http.Cookie {
	c := &http.Cookie{Name: browserCookie + "_" + hashed(id)[:10], Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if strings.HasPrefix(s.o.PublicURL, "https://") {
		c.Name, c.Secure = "__Host-"+c.Name, true
	}
	return c
}

func publicPath(public, path string) string { return strings.TrimSuffix(public, "/") + path }
