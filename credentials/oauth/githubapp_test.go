package oauth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"reeve/credentials/oauth"
	"reeve/plugins"
)

var appKey = must(rsa.GenerateKey(rand.Reader, 2048))

// hub is GitHub as an app sees it: installed at the organisation acme, and for
// the repository acme/site.
type hub struct {
	base   string
	mu     sync.Mutex
	minted []string // bodies
	life   time.Duration
}

func newHub(t *testing.T, now func() time.Time) *hub {
	h := &hub{life: time.Hour}
	h.base = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := jwt.ParseSigned(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), []jose.SignatureAlgorithm{jose.RS256})
		var claims jwt.Claims
		if err == nil {
			err = token.Claims(&appKey.PublicKey, &claims)
		}
		if err != nil || claims.Issuer != "4711" || claims.Expiry.Time().Sub(claims.IssuedAt.Time()) > 10*time.Minute || claims.ValidateWithLeeway(jwt.Expected{Time: now()}, 0) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch r.Method + " " + r.URL.Path {
		case "GET /orgs/acme/installation", "GET /repos/acme/site/installation":
			_, _ = io.WriteString(w, `{"id": 99, "suspended_at": null}`)
		case "GET /orgs/idle/installation":
			_, _ = io.WriteString(w, `{"id": 98, "suspended_at": "2026-01-01T00:00:00Z"}`)
		case "GET /users/octocat/installation", "GET /repos/octo-cat_acme/site/installation":
			_, _ = io.WriteString(w, `{"id": 97}`)
		case "POST /app/installations/99/access_tokens":
			body, _ := io.ReadAll(r.Body)
			h.mu.Lock()
			h.minted = append(h.minted, string(body))
			n := len(h.minted)
			h.mu.Unlock()
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]any{"token": fmt.Sprintf("%sapp-%d", tokenKind, n), "expires_at": now().Add(h.life).UTC()})
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	return h
}

func TestGitHubApp(t *testing.T) {
	f := newFake(t)
	c := &clock{}
	h := newHub(t, c.now)
	app := oauth.NewGitHubApp("4711", appKey, h.base, loopback(), c.now)
	k := newKit(t, []oauth.Configured{f.provider("acme")}, func(o *oauth.Options) { o.Apps, o.Now = map[string]oauth.App{"acme": app}, c.now })
	k.connect(f, "acme")
	f.api = func(http.ResponseWriter, *http.Request) {}
	spoke := func() string {
		seen := f.seen()
		return seen[len(seen)-1].Header.Get("Authorization")
	}

	account, done, err := k.Open(t.Context(), oauth.Use{Actor: alice, Provider: "acme", Access: plugins.Read})
	if err != nil {
		t.Fatal(err)
	}
	if account.App != nil {
		t.Error("a call that reads gets the app's rights")
	}
	done()
	account, done, err = k.Open(t.Context(), oauth.Use{Actor: alice, Provider: "acme", Access: plugins.Write})
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]bool{"acme": true, "acme/site": true, "octocat": true, "octo-cat_acme/site": true, "idle": false, "nobody": false, "acme/other": false} {
		_, ok, err := account.App(t.Context(), place)
		if err != nil || ok != want {
			t.Errorf("%s: %v, %v", place, ok, err)
		}
	}
	for _, place := range []string{"", "/", "acme/", "/site", "acme/site/x", "../acme", "acme/..", "acme/a?b", "acme%2f", "_acme", "acme_/."} {
		if _, ok, err := account.App(t.Context(), place); err == nil || ok {
			t.Errorf("%q passes", place)
		}
	}
	var watched []string
	traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteHeaderField: func(key string, _ []string) { watched = append(watched, key) }})
	client, _, err := account.App(traced, "acme/site")
	if len(watched) > 0 {
		t.Errorf("the app's proof can be watched: %q", watched)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, _, err := send(t, client, "POST", f.base+"/api/x", "x"); err != nil || spoke() != "Bearer "+tokenKind+"app-1" {
			t.Errorf("%q, %v", spoke(), err)
		}
	}
	if len(h.minted) != 1 || h.minted[0] != `{"repositories":["site"]}` {
		t.Errorf("%q", h.minted)
	}
	if _, _, err := send(t, client, "GET", "https://example.com/", ""); err == nil {
		t.Error("the app's token goes to another host")
	}
	// Another place has another token, and an old one is replaced.
	whole, _, _ := account.App(t.Context(), "acme")
	if _, _, err := send(t, whole, "GET", f.base+"/api/x", ""); spoke() != "Bearer "+tokenKind+"app-2" {
		t.Errorf("%q, %v", spoke(), err)
	}
	c.advance(58*time.Minute + 30*time.Second)
	if _, _, err := send(t, client, "GET", f.base+"/api/x", ""); spoke() != "Bearer "+tokenKind+"app-3" {
		t.Errorf("%q, %v", spoke(), err)
	}
	// Only for somebody, and only during his call.
	if _, err := k.Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Fatal(err)
	}
	if _, _, err := send(t, client, "GET", f.base+"/api/x", ""); err == nil {
		t.Error("the app's rights are spent for nobody")
	}
	k.connect(f, "acme")
	done()
	if _, _, err := send(t, client, "GET", f.base+"/api/x", ""); err == nil {
		t.Error("it works after its call")
	}
	if _, ok, err := account.App(t.Context(), "acme"); ok || err == nil {
		t.Error("the app can be had after the call")
	}
}

func TestGitHubAppSettings(t *testing.T) {
	text := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(appKey)}))
	for name, environ := range map[string][]string{
		"as it is":        {"GITHUB_APP_ID=4711", "GITHUB_APP_PRIVATE_KEY=" + text},
		"in one line":     {"GITHUB_APP_ID=4711", "GITHUB_APP_PRIVATE_KEY=" + strings.ReplaceAll(text, "\n", `\n`)},
		"in a file":       {"GITHUB_APP_ID=4711", "GITHUB_APP_PRIVATE_KEY_FILE=" + file(t, text)},
		"its client's id": {"GITHUB_APP_ID=Iv23liABC", "GITHUB_APP_PRIVATE_KEY=" + text},
	} {
		if app, err := oauth.LoadGitHubApp(environ, loopback()); app == nil || err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if app, err := oauth.LoadGitHubApp([]string{"GITHUB_CLIENT_ID=x"}, loopback()); app != nil || err != nil {
		t.Errorf("%v", err)
	}
	for name, environ := range map[string][]string{
		"no key":    {"GITHUB_APP_ID=4711"},
		"no id":     {"GITHUB_APP_PRIVATE_KEY=" + text},
		"both":      {"GITHUB_APP_ID=4711", "GITHUB_APP_PRIVATE_KEY=" + text, "GITHUB_APP_PRIVATE_KEY_FILE=x"},
		"no PEM":    {"GITHUB_APP_ID=4711", "GITHUB_APP_PRIVATE_KEY=" + tokenKind},
		"no file":   {"GITHUB_APP_ID=4711", "GITHUB_APP_PRIVATE_KEY_FILE=/does/not/exist"},
		"not an id": {"GITHUB_APP_ID=a b", "GITHUB_APP_PRIVATE_KEY=" + text},
	} {
		if _, err := oauth.LoadGitHubApp(environ, loopback()); err == nil || !strings.Contains(err.Error(), "GITHUB_APP_") || strings.Contains(err.Error(), tokenKind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
