package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"reeve/credentials"
	"reeve/credentials/oauth"
)

// Tokens are built from pieces, so that nothing that looks for tokens finds these.
const tokenKind = "tok" + "en-canary-"

// fake is a provider that does what a test wants. It rotates refresh tokens, and
// revokes the whole family when one is used twice.
type fake struct {
	base string

	mu       sync.Mutex
	serial   int
	codes    map[string]grant // by code
	families map[string]int   // by family: the serial of the good refresh token; 0: revoked
	access   map[string]string
	spent    map[string]int // how often each refresh token was spent
	revoked  []string
	refused  map[string]bool // access tokens that the API does not take
	forms    []url.Values    // that the token endpoint was sent
	lifetime int             // of access tokens, in seconds
	user     map[string]any
	// hooks take a request's place.
	token, userinfo, device, api http.HandlerFunc
	apiSeen                      []*http.Request
	hang                         chan struct{} // revoking waits for it
}

type grant struct{ challenge, redirect, scope string }

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{
		codes: map[string]grant{}, families: map[string]int{}, access: map[string]string{}, spent: map[string]int{}, refused: map[string]bool{},
		lifetime: 3600, user: map[string]any{"sub": "17", "name": "octocat", "email": "alice@example.com", "email_verified": true},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/token", f.serveToken)
	mux.HandleFunc("/revoke", f.serveRevoke)
	mux.HandleFunc("/device", f.serveDevice)
	mux.HandleFunc("/me", f.serveMe)
	mux.HandleFunc("/api/", f.serveAPI)
	f.base = serve(t, mux)
	return f
}

func (f *fake) provider(name string) oauth.Configured {
	return oauth.Configured{
		Provider: oauth.Provider{
			Name: name, Title: strings.ToUpper(name[:1]) + name[1:], AuthURL: f.base + "/authorize", TokenURL: f.base + "/token",
			Revoke:   oauth.Revoke{URL: f.base + "/revoke"},
			UserInfo: oauth.UserInfo{URL: f.base + "/me", ID: "sub", Name: "name", Email: "email", Verified: "email_verified"},
			Scopes:   oauth.Scopes{Default: []string{"read"}, Implies: map[string][]string{"admin": {"write"}, "write": {"read"}}},
			Hosts:    []string{"127.0.0.1"}, ReadPOST: []oauth.ReadPOST{{Path: "/api/graphql", GraphQL: true}, {Path: "/api/*/search"}},
			AuthStyle: "params", PKCE: true, Issuer: f.base,
		},
		ClientID: "app", ClientSecret: credentials.NewSecret("app-secret"),
	}
}

func (f *fake) withDevice(c oauth.Configured) oauth.Configured {
	c.DeviceURL = f.base + "/device"
	return c
}

// allow is the person at the provider: where his browser is sent back to.
func (f *fake) allow(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serial++
	code := fmt.Sprintf("code-%d", f.serial)
	f.codes[code] = grant{q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("scope")}
	return q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {f.base}}.Encode()
}

func (f *fake) serveToken(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	f.forms = append(f.forms, r.PostForm)
	hook := f.token
	f.mu.Unlock()
	if hook != nil {
		hook(w, r)
		return
	}
	f.grant(w, r)
}

// grant answers as a proper provider does.
func (f *fake) grant(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fail := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": tokenKind + "in-a-description"})
	}
	if r.PostForm.Get("client_id") != "app" || r.PostForm.Get("client_secret") != "app-secret" {
		fail("invalid_client")
		return
	}
	family, scope := "", ""
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		g, ok := f.codes[r.PostForm.Get("code")]
		delete(f.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge || r.PostForm.Get("redirect_uri") != g.redirect {
			fail("invalid_grant")
			return
		}
		f.serial++
		family, scope = fmt.Sprintf("f%d", f.serial), g.scope
	case "refresh_token":
		token := r.PostForm.Get("refresh_token")
		f.spent[token]++
		var serial int
		_, err := fmt.Sscanf(token, tokenKind+"refresh-%d", &serial)
		for name, good := range f.families {
			if good == serial && err == nil {
				family = name
			}
		}
		if family == "" {
			// Spent before: somebody has stolen it, and all of its family ends.
			for name, of := range f.access {
				if of == f.familyOf(serial) {
					delete(f.access, name)
				}
			}
			f.families[f.familyOf(serial)] = 0
			fail("invalid_grant")
			return
		}
	default:
		fail("unsupported_grant_type")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(f.issue(family, scope))
}

func (f *fake) familyOf(serial int) string {
	return fmt.Sprintf("f%d", f.spent[fmt.Sprintf("root-%d", serial)])
}

// issue makes a pair of tokens of a family. It is called with the lock held.
func (f *fake) issue(family, scope string) map[string]any {
	f.serial++
	var root int
	_, _ = fmt.Sscanf(family, "f%d", &root)
	f.families[family] = f.serial
	f.spent[fmt.Sprintf("root-%d", f.serial)] = root
	access := fmt.Sprintf("%saccess-%d", tokenKind, f.serial)
	f.access[access] = family
	answer := map[string]any{"access_token": access, "refresh_token": fmt.Sprintf("%srefresh-%d", tokenKind, f.serial), "token_type": "bearer", "expires_in": f.lifetime}
	if scope != "" {
		answer["scope"] = scope
	}
	return answer
}

func (f *fake) serveRevoke(_ http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	hang := f.hang
	f.mu.Unlock()
	if hang != nil {
		<-hang
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revoked = append(f.revoked, r.PostForm.Get("token"))
	delete(f.access, r.PostForm.Get("token"))
}

func (f *fake) serveDevice(w http.ResponseWriter, r *http.Request) {
	if f.device != nil {
		f.device(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"device_code": tokenKind + "device", "user_code": "WDJB-MJHT", "verification_uri": f.base + "/enter", "expires_in": 900, "interval": 5,
	})
}

func (f *fake) serveMe(w http.ResponseWriter, r *http.Request) {
	if f.userinfo != nil {
		f.userinfo(w, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] == "" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_ = json.NewEncoder(w).Encode(f.user)
}

func (f *fake) serveAPI(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	f.mu.Lock()
	f.apiSeen = append(f.apiSeen, r.Clone(r.Context()))
	good := f.access[token] != "" && !f.refused[token]
	f.mu.Unlock()
	switch {
	case f.api != nil:
		f.api(w, r)
	case !good:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "secret"})
		_, _ = w.Write([]byte("hello"))
	}
}

func (f *fake) seen() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*http.Request{}, f.apiSeen...)
}

// tookBack are the tokens that were revoked.
func (f *fake) tookBack() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.revoked...)
}

// spentTwice are refresh tokens that were spent more than once.
func (f *fake) spentTwice() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for token, n := range f.spent {
		if strings.HasPrefix(token, tokenKind) && n > 1 {
			all = append(all, token)
		}
	}
	return all
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// newAccount makes a kit in which Alice has an account at a provider.
func newAccount(t *testing.T) (*kit, *fake) {
	t.Helper()
	f := newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	k.connect(f, "acme")
	return k, f
}

// connect has Alice connect an account through her browser.
func (k *kit) connect(f *fake, name string, scopes ...string) {
	k.Helper()
	b := newBrowser(k)
	link := k.begin(alice, name, scopes...)
	code := b.get(f.allow(k, b.follow(link))).code(k)
	if sentence, done, err := k.Enter(k.Context(), link.Flow, alice, code); err != nil || !done || !strings.HasPrefix(sentence, "Connected") {
		k.Fatalf("%q, %v, %v\n%s", sentence, done, err, k.log)
	}
}
