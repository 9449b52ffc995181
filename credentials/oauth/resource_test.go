package oauth_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reeve/credentials/oauth"
	"reeve/plugins"
)

// resourceKit is a provider that is one resource, whose tokens say nothing, and
// whose issuer answers about them what a test wants.
func resourceKit(t *testing.T) (k *kit, f *fake, answer *atomic.Value) {
	t.Helper()
	f, answer = newFake(t), &atomic.Value{}
	answer.Store(`200 {"active": true, "sub": "17", "username": "octocat", "aud": ["RESOURCE/"]}`)
	c := f.provider("acme")
	c.UserInfo, c.Resource, c.Try = oauth.UserInfo{}, f.base+"/api", f.base+"/api/try"
	c.IntrospectURL = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_secret") != "app-secret" || !strings.HasPrefix(r.FormValue("token"), tokenKind) {
			t.Errorf("it is asked with %v", r.Form)
		}
		status, text, _ := strings.Cut(answer.Load().(string), " ")
		if status != "200" {
			w.WriteHeader(map[string]int{"404": http.StatusNotFound, "500": http.StatusInternalServerError}[status])
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(text, "RESOURCE", f.base+"/api"))
	})) + "/introspect"
	return newKit(t, []oauth.Configured{c}), f, answer
}

func TestTokenIsTakenForItsResourceAlone(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		taken  bool
		called string
	}{
		"for it":           {`200 {"active": true, "sub": "17", "username": "octocat", "aud": "RESOURCE"}`, true, "octocat"},
		"among others":     {`200 {"active": true, "sub": "17", "aud": ["https://x.example.com", "RESOURCE/"]}`, true, "17"},
		"for another":      {`200 {"active": true, "sub": "17", "aud": ["https://x.example.com"]}`, false, ""},
		"of no use":        {`200 {"active": false}`, false, ""},
		"unreadable":       {`200 <html>`, false, ""},
		"broken":           {`500 {}`, false, ""},
		"no answer for us": {`404 {}`, true, "account"},
		"for nobody knows": {`200 {"active": true, "sub": "17"}`, true, "17"},
	} {
		t.Run(name, func(t *testing.T) {
			k, f, answer := resourceKit(t)
			answer.Store(test.answer)
			if test.taken {
				k.connect(f, "acme")
				if r, ok := k.record(alice, "acme"); !ok || r.AccountName != test.called {
					t.Errorf("the account is %q, %v", r.AccountName, ok)
				}
				k.works(f)
				return
			}
			b := newBrowser(t)
			page := b.get(f.allow(t, b.follow(k.begin(alice, "acme"))))
			if page.status != http.StatusBadGateway || shownCode.MatchString(page.text) {
				t.Errorf("the page is %d %s", page.status, page.text)
			}
			f.set(func() {
				if len(f.revoked) == 0 {
					t.Error("it was not given back")
				}
			})
		})
	}
}

// A refresh that answers with a token for another resource ends the connection.
func TestRefreshedTokenIsForItsResourceToo(t *testing.T) {
	k, f, answer := resourceKit(t)
	k.connect(f, "acme")
	answer.Store(`200 {"active": true, "sub": "17", "aud": ["https://x.example.com"]}`)
	k.clock.advance(2 * time.Hour)
	if status, err := use(t.Context(), k.Service, f, plugins.Read); !errors.Is(err, oauth.ErrConnect) {
		t.Errorf("%d, %v", status, err)
	}
	f.set(func() {
		if len(f.apiSeen) != 0 {
			t.Error("the token was used")
		}
	})
	if standing, err := k.Look(t.Context(), alice, "acme", nil); err != nil || standing.Connected {
		t.Errorf("%+v, %v", standing, err)
	}
}

// A 401 of one resource is judged by its issuer, and where that says nothing, by the
// resource itself.
func TestA401OfAResourceIsJudged(t *testing.T) {
	for name, test := range map[string]struct {
		issuer  string
		itself  int // what the resource answers when the token is tried
		refused bool
	}{
		"the issuer takes it":       {`200 {"active": true, "sub": "17"}`, 401, false},
		"the issuer refuses it":     {`200 {"active": false}`, 405, true},
		"the issuer is away":        {`500 {}`, 401, false},
		"the resource takes it":     {`404 {}`, 405, false},
		"the resource refuses it":   {`404 {}`, 401, true},
		"the resource is away":      {`404 {}`, 503, false},
		"the resource lacks scopes": {`404 {}`, 403, false},
	} {
		t.Run(name, func(t *testing.T) {
			k, f, issuer := resourceKit(t)
			f.token = func(w http.ResponseWriter, _ *http.Request) {
				f.set(func() {
					a := f.issue("f1", "read")
					delete(a, "refresh_token")
					w.Header().Set("Content-Type", "application/json")
					_ = json.NewEncoder(w).Encode(a)
				})
			}
			k.connect(f, "acme")
			issuer.Store(test.issuer)
			f.api = func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/try" {
					if r.Method != "GET" || !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "+tokenKind) {
						t.Errorf("it is tried with %s %v", r.Method, r.Header)
					}
					w.WriteHeader(test.itself)
					return
				}
				w.WriteHeader(http.StatusUnauthorized)
			}
			if status, err := use(t.Context(), k.Service, f, plugins.Read); err != nil || status != http.StatusUnauthorized {
				t.Errorf("%d, %v", status, err)
			}
			if r, there := k.record(alice, "acme"); !there || r.Refused != test.refused {
				t.Errorf("refused: %v, there: %v", r.Refused, there)
			}
		})
	}
}

// What a server writes down of a token is blotted out, wherever it breaks off.
func TestTokenInAnAnswerIsBlottedOut(t *testing.T) {
	k, f := newAccount(t)
	r, _ := k.record(alice, "acme")
	token := r.Access.Reveal()
	for cut := range len(token) + 1 {
		f.set(func() {
			f.api = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Token", token)
				_, _ = io.WriteString(w, "it is "+token[:cut])
				w.(http.Flusher).Flush()
				_, _ = io.WriteString(w, token[cut:]+" and "+token+", or "+token[:len(token)-1])
			}
		})
		account, done, err := k.Open(t.Context(), oauth.Use{Actor: alice, Provider: "acme", Access: plugins.Read})
		if err != nil {
			t.Fatal(err)
		}
		response, err := account.HTTP.Get(f.base + "/api/x")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		done()
		stars := strings.Repeat("*", len(token))
		if want := "it is " + stars + " and " + stars + ", or " + token[:len(token)-1]; err != nil || string(text) != want {
			t.Fatalf("cut at %d: %q, %v", cut, text, err)
		}
		if response.Header.Get("X-Token") != stars {
			t.Fatalf("a header says %q", response.Header.Get("X-Token"))
		}
	}
}
