package connecting

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"reeve/plugins"
)

// acme is a plugin that reads with its actor's account.
type acme struct{}

func (acme) Name() string { return "acme" }

func (acme) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{Tools: []plugins.Tool{plugins.MustTool(
		plugins.Tool{Name: "acme_whoami", Description: "Says who you are there.", Effect: plugins.Pure, Access: plugins.Read, Provider: "acme", Account: true, Scopes: []string{"read"}},
		func(ctx context.Context, call plugins.Call, _ struct{}) (plugins.Result, error) {
			request, err := http.NewRequestWithContext(ctx, "GET", os.Getenv(apiVariable)+"/api/whoami", nil)
			if err != nil {
				return plugins.Result{}, err
			}
			response, err := call.Account.HTTP.Do(request)
			if err != nil {
				return plugins.Result{}, err
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			return plugins.Result{Text: string(text)}, err
		})}}, nil
}

// provider is a provider of OAuth at which whoever comes is signed in as the
// account that his browser says.
type provider struct {
	base string

	mu      sync.Mutex
	codes   map[string]string // whose
	tokens  map[string]string
	spent   []string // whose account has read
	revoked int
	devices map[string]string // by device code: whose it was entered by; "over": it is
}

func newProvider(t *testing.T) (p *provider, roots string) {
	t.Helper()
	p = &provider{codes: map[string]string{}, tokens: map[string]string{}, devices: map[string]string{}}
	p.base, roots = serve(t, p)
	return p, roots
}

// serve serves a provider over TLS. roots is the file of what to trust.
func serve(t *testing.T, handler http.Handler) (base, roots string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots = filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(roots, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return server.URL, roots
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mu.Lock()
	defer p.mu.Unlock()
	who := p.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	switch r.URL.Path {
	case "/device":
		code := fmt.Sprintf("CODE-%d", len(p.devices)+1)
		p.devices[code] = ""
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"device_code": code, "user_code": code, "verification_uri": p.base + "/enter", "expires_in": 900, "interval": 1,
		})
	case "/token":
		whose := p.codes[r.PostForm.Get("code")]
		delete(p.codes, r.PostForm.Get("code"))
		w.Header().Set("Content-Type", "application/json")
		if code := r.PostForm.Get("device_code"); code != "" {
			if whose = p.devices[code]; whose == "" || whose == "over" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, map[string]string{"": `{"error":"authorization_pending"}`, "over": `{"error":"expired_token"}`}[whose])
				return
			}
			r.PostForm.Set("code_verifier", "none is needed")
		}
		if whose == "" || r.PostForm.Get("code_verifier") == "" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
			return
		}
		token := fmt.Sprintf("acme-token-%d-%s", len(p.tokens), whose)
		p.tokens[token] = whose
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "bearer", "scope": "read"})
	case "/revoke":
		p.revoked++
		delete(p.tokens, r.PostForm.Get("token"))
	case "/me", "/api/whoami":
		if who == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/api/whoami" {
			p.spent = append(p.spent, who)
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"id": who, "name": who + " of Acme"})
	}
}

// allow is somebody at the provider who lets the app in: where his browser goes.
func (p *provider) allow(address, whose string) string {
	u, _ := url.Parse(address)
	p.mu.Lock()
	defer p.mu.Unlock()
	code := fmt.Sprintf("code-%d-%s", len(p.codes)+len(p.tokens), whose)
	p.codes[code] = whose
	return u.Query().Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {u.Query().Get("state")}}.Encode()
}

// enter is somebody at the provider who enters a code; "over": its time is.
func (p *provider) enter(code, whose string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.devices[code] = whose
}

func (p *provider) read() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.spent...)
}
