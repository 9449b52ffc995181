package connecting

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// gossip is a provider of OAuth that writes what it was sent into each of its
// answers: into bodies, errors and headers.
type gossip struct {
	base, secret string

	mu       sync.Mutex
	heard    strings.Builder // every request as it came, and what was given for it
	canaries []canary        // all that is secret, as it comes up
	codes    map[string]bool // that are not spent yet
	access   map[string]bool // tokens; false: it takes this one no more
	refresh  map[string]bool // tokens that are not spent yet
	faults   map[string]int  // how many of the next answers at a path are errors
	answers  map[string]int  // by path and status
}

func newGossip(t *testing.T) (g *gossip, roots string) {
	t.Helper()
	g = &gossip{codes: map[string]bool{}, access: map[string]bool{}, refresh: map[string]bool{}, faults: map[string]int{}, answers: map[string]int{}}
	g.secret = g.coin("client secret")
	g.base, roots = serve(t, g)
	return g, roots
}

// coin is a secret that nobody can have by chance. It holds what forms and URLs
// write in another way.
func (g *gossip) coin(name string) string {
	value := "s/" + rand.Text() + "+" + rand.Text() + "=="
	g.canaries = append(g.canaries, canary{name, value})
	return value
}

func (g *gossip) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	raw, _ := httputil.DumpRequest(r, true)
	g.heard.Write(raw)
	_ = r.ParseForm()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	_, basic, _ := r.BasicAuth()
	secret, _ := url.QueryUnescape(basic)
	answer := func(status int, fields string) {
		g.answers[fmt.Sprint(r.URL.Path, " ", status)]++
		said := fmt.Sprintf("%s; %s; client %s; %s; %v", r.Header.Get("Authorization"), token, secret, r.PostForm.Encode(), r.PostForm)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Debug", said)
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error_description=%q", said))
		http.SetCookie(w, &http.Cookie{Name: "session", Value: url.QueryEscape(token)})
		w.WriteHeader(status)
		g.heard.WriteString(fields)
		_, _ = fmt.Fprintf(w, `{%s, "error_description": %q, "authorization": %q, "token": %q}`, fields, said, r.Header.Get("Authorization"), token)
	}
	faulty := g.faults[r.URL.Path] > 0
	if faulty {
		g.faults[r.URL.Path]--
	}
	switch r.URL.Path {
	case "/token":
		if verifier := r.PostForm.Get("code_verifier"); verifier != "" {
			g.canaries = append(g.canaries, canary{"verifier", verifier})
		}
		code, refresh := r.PostForm.Get("code"), r.PostForm.Get("refresh_token")
		good := g.codes[code] || g.refresh[refresh]
		delete(g.codes, code)
		delete(g.refresh, refresh)
		if faulty || !good || secret != g.secret {
			answer(http.StatusBadRequest, `"error": "invalid_grant"`)
			return
		}
		next, again := g.coin("access token"), g.coin("refresh token")
		g.access[next], g.refresh[again] = true, true
		answer(http.StatusOK, fmt.Sprintf(`"access_token": %q, "refresh_token": %q, "token_type": "bearer", "expires_in": 3600, "scope": "read"`, next, again))
	case "/revoke":
		answer(http.StatusServiceUnavailable, `"error": "server_error"`)
	case "/me", "/api/whoami", "/api/fault":
		switch {
		case !g.access[token]:
			answer(http.StatusUnauthorized, `"error": "invalid_token"`)
		case faulty || r.URL.Path == "/api/fault":
			answer(http.StatusInternalServerError, `"error": "server_error"`)
		default:
			answer(http.StatusOK, `"id": "alice", "name": "alice of Acme"`)
		}
	}
}

// allow is somebody at the provider who lets the app in: where his browser goes.
func (g *gossip) allow(address, _ string) string {
	u, _ := url.Parse(address)
	g.mu.Lock()
	defer g.mu.Unlock()
	code, state := g.coin("code"), u.Query().Get("state")
	g.canaries = append(g.canaries, canary{"state", state})
	g.codes[code] = true
	g.heard.WriteString(address)
	return u.Query().Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {state}}.Encode()
}

// refuse takes no token more of those that it has given so far.
func (g *gossip) refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for token := range g.access {
		g.access[token] = false
	}
}

// fail makes the next answer at each of the paths an error.
func (g *gossip) fail(paths ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, path := range paths {
		g.faults[path]++
	}
}

// answered is how often a path was answered with a status.
func (g *gossip) answered(path string, status int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.answers[fmt.Sprint(path, " ", status)]
}
