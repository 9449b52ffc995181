package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// use makes one request with Alice's account.
func use(ctx context.Context, s *oauth.Service, f *fake, access plugins.Access) (status int, err error) {
	account, done, err := s.Open(ctx, oauth.Use{Actor: alice, Provider: "acme", Access: access})
	if err != nil {
		return 0, err
	}
	defer done()
	request, err := http.NewRequestWithContext(ctx, "GET", f.base+"/api/x", nil)
	if err != nil {
		return 0, err
	}
	response, err := account.HTTP.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// works wants Alice's account to be used with success.
func (k *kit) works(f *fake) {
	k.Helper()
	if status, err := use(k.Context(), k.Service, f, plugins.Read); err != nil || status != http.StatusOK {
		k.Errorf("%d, %v", status, err)
	}
}

// Sixteen workers in four processes find the token at its end, again and again.
// The provider would end the whole account if one of them spent a refresh token
// that was spent before.
func TestRefreshRaces(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	k.connect(f, "acme")
	services := []*oauth.Service{k.Service, k.another(providers), k.another(providers), k.another(providers)}
	for round := range 6 {
		k.clock.advance(time.Hour - 30*time.Second)
		var group sync.WaitGroup
		var failed atomic.Pointer[error]
		start := make(chan struct{})
		for worker := range 16 {
			group.Go(func() {
				<-start
				status, err := use(t.Context(), services[worker%len(services)], f, plugins.Read)
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("status %d", status)
				}
				if err != nil {
					failed.Store(&err)
				}
			})
		}
		close(start)
		group.Wait()
		if err := failed.Load(); err != nil {
			t.Fatalf("round %d: %v\n%s", round, *err, k.log)
		}
	}
	if twice := f.spentTwice(); len(twice) > 0 {
		t.Errorf("spent twice: %q", twice)
	}
	refreshes := 0
	f.set(func() {
		for _, form := range f.forms {
			if form.Get("grant_type") == "refresh_token" {
				refreshes++
			}
		}
	})
	if refreshes != 6 {
		t.Errorf("%d refreshes in 6 rounds", refreshes)
	}
}

// The same, when the API says that the token is refused before its time.
func TestARefusedTokenIsRefreshedOnceByAll(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.provider("acme")}
	k := newKit(t, providers)
	k.connect(f, "acme")
	second := k.another(providers)
	r, _ := k.record(alice, "acme")
	f.set(func() { f.refused[r.Access.Reveal()] = true })
	var group sync.WaitGroup
	for worker := range 16 {
		s := []*oauth.Service{k.Service, second}[worker%2]
		group.Go(func() {
			if status, err := use(t.Context(), s, f, plugins.Read); err != nil || status != http.StatusOK {
				t.Errorf("%d, %v", status, err)
			}
		})
	}
	group.Wait()
	if twice := f.spentTwice(); len(twice) > 0 {
		t.Errorf("spent twice: %q", twice)
	}
	if now, _ := k.record(alice, "acme"); now.Access.Equal(r.Access) || !now.Usable() {
		t.Errorf("%+v", now)
	}
}

// unauthorized is an API, or a provider, that takes no token.
func unauthorized(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }

// A 401 deletes nothing: the account has to be connected again when even a fresh
// token is not taken, and the provider says so itself.
func TestAnAccountThatIsRefusedHasToBeConnectedAgain(t *testing.T) {
	k, f := newAccount(t)
	f.api, f.userinfo = unauthorized, unauthorized
	if status, err := use(t.Context(), k.Service, f, plugins.Read); err != nil || status != http.StatusUnauthorized {
		t.Errorf("%d, %v", status, err)
	}
	if n := len(f.seen()); n != 2 {
		t.Errorf("%d requests: want one and another with a new token", n)
	}
	r, there := k.record(alice, "acme")
	if !there || !r.Refused {
		t.Errorf("%+v", r)
	}
	standing, err := k.Look(t.Context(), alice, "acme", nil)
	if err != nil || standing.Connected || standing.Name != "octocat" {
		t.Errorf("%+v, %v", standing, err)
	}
	if _, err := use(t.Context(), k.Service, f, plugins.Read); !errors.Is(err, oauth.ErrConnect) {
		t.Errorf("%v", err)
	}
	k.wantAudited("connect browser_code", "disconnect provider")
	f.api, f.userinfo = nil, nil
	k.connect(f, "acme")
	k.works(f)
}

// A 401 of the API's own, for a token that the provider takes, is that request's
// own error: the account goes on. The provider is asked once for each.
func TestAStray401LeavesTheAccount(t *testing.T) {
	for name, test := range map[string]struct {
		lifetime int // of tokens; 0: they have no end, and there is none to get others by
		provider http.HandlerFunc
		requests int
	}{
		"with a refresh token":             {3600, nil, 2},
		"without one":                      {0, nil, 1},
		"without one, the provider hinted": {0, answer(403, "text/plain", "slower"), 1},
		"without one, the provider away":   {0, answer(503, "text/plain", ""), 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			if test.lifetime == 0 {
				f.token = func(w http.ResponseWriter, r *http.Request) {
					f.set(func() {
						a := f.issue("f1", "read")
						delete(a, "refresh_token")
						delete(a, "expires_in")
						w.Header().Set("Content-Type", "application/json")
						_ = json.NewEncoder(w).Encode(a)
					})
				}
			}
			k := newKit(t, []oauth.Configured{f.provider("acme")})
			k.connect(f, "acme")
			var asked atomic.Int32
			f.api = unauthorized
			f.userinfo = func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				if test.provider != nil {
					test.provider(w, r)
				}
			}
			if status, err := use(t.Context(), k.Service, f, plugins.Read); err != nil || status != http.StatusUnauthorized {
				t.Errorf("%d, %v", status, err)
			}
			if n := len(f.seen()); n != test.requests || asked.Load() != 1 {
				t.Errorf("%d requests, want %d; the provider was asked %d times", n, test.requests, asked.Load())
			}
			if r, there := k.record(alice, "acme"); !there || !r.Usable() {
				t.Errorf("%+v", r)
			}
			f.api = nil
			k.works(f)
			k.wantAudited("connect browser_code")
		})
	}
}

// What a provider's answer to a refresh does to the account.
func TestOutcomesOfARefresh(t *testing.T) {
	refuse := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	lost := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	}
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		connect bool // the account has to be connected again
	}{
		"refused for good":        {refuse(400, `{"error":"invalid_grant","error_description":"`+tokenKind+`x"}`), true},
		"GitHub's way, with 200":  {refuse(200, `{"error":"bad_refresh_token"}`), true},
		"Atlassian's way":         {refuse(403, `{"error":"unauthorized_client"}`), true},
		"a server's fault":        {refuse(500, `{"error":"server_error"}`), false},
		"a gateway's fault":       {refuse(502, `<html>`), true}, // the provider behind it may have done it
		"an overloaded provider":  {refuse(503, `<html>`), false},
		"too many":                {refuse(429, ``), false},
		"the app is not accepted": {refuse(401, `{"error":"invalid_client"}`), false},
		"the answer was lost":     {lost, true},
		"an answer without token": {refuse(200, `{"token_type":"bearer"}`), true},
		"garbage":                 {refuse(200, `<html>`+tokenKind), true},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/steal", http.StatusTemporaryRedirect)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			k, f := newAccount(t)
			before, _ := k.record(alice, "acme")
			k.clock.advance(2 * time.Hour) // the access token is over
			f.set(func() { f.token = test.answer })
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := use(ctx, k.Service, f, plugins.Read)
			if err == nil || strings.Contains(err.Error(), tokenKind) || strings.Contains(err.Error(), "app-secret") {
				t.Errorf("%v", err)
			}
			if strings.Contains(k.log.String(), tokenKind) {
				t.Errorf("the log: %s", k.log)
			}
			f.set(func() { f.token = nil })
			if !test.connect {
				k.works(f)
				if twice := len(f.spentTwice()); twice > 0 {
					t.Error("spent twice")
				}
				return
			}
			if r, there := k.record(alice, "acme"); !there || !r.Refused && r.State != credentials.Refreshing {
				t.Errorf("%+v", r)
			}
			// A token that may be spent is never spent again.
			again, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if _, err := use(again, k.Service, f, plugins.Read); err == nil {
				t.Error("it works again by itself")
			}
			f.set(func() {
				if n := f.spent[before.Refresh.Reveal()]; n > 0 {
					t.Errorf("spent %d times after the outcome was in doubt", n)
				}
			})
			k.connect(f, "acme")
			k.works(f)
		})
	}
}

// A process dies between the provider and the store: it held the intent, and the
// provider may have answered. Nobody spends the token again.
func TestACrashBetweenProviderAndStore(t *testing.T) {
	k, f := newAccount(t)
	owner := credentials.Owner{Actor: alice, Provider: "acme"}
	r, _ := k.record(alice, "acme")
	// The dead process's intent, whose time is over.
	if _, err := k.vault.Intend(t.Context(), owner, r.Revision, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	k.clock.advance(2 * time.Hour)
	if _, err := use(t.Context(), k.Service, f, plugins.Read); !errors.Is(err, oauth.ErrConnect) {
		t.Errorf("%v", err)
	}
	if standing, err := k.Look(t.Context(), alice, "acme", nil); err != nil || standing.Connected {
		t.Errorf("%+v, %v", standing, err)
	}
	f.set(func() {
		if f.spent[r.Refresh.Reveal()] != 0 {
			t.Error("the refresh token was spent again")
		}
	})
	k.connect(f, "acme")
	if standing, err := k.Look(t.Context(), alice, "acme", nil); err != nil || !standing.Connected {
		t.Errorf("%+v, %v", standing, err)
	}
}

// A replaced token is given back, and the same account stays usable.
func TestAReplacedTokenIsGivenBack(t *testing.T) {
	k, f := newAccount(t)
	first, _ := k.record(alice, "acme")
	k.connect(f, "acme", "write")
	second, _ := k.record(alice, "acme")
	if got := f.tookBack(); !slices.Equal(got, []string{first.Refresh.Reveal(), first.Access.Reveal()}) {
		t.Errorf("taken back: %d tokens", len(got))
	}
	if !slices.Equal(second.Scopes, []string{"read", "write"}) {
		t.Errorf("scopes: %q", second.Scopes)
	}
	standing, err := k.Look(t.Context(), alice, "acme", []string{"read", "admin", "write"})
	if err != nil || !slices.Equal(standing.Lacking, []string{"admin"}) {
		t.Errorf("%+v, %v", standing, err)
	}
	if standing, _ := k.Look(t.Context(), mallory, "acme", nil); standing.Connected {
		t.Errorf("%+v", standing)
	}
	if standing, _ := k.Look(t.Context(), chat.SystemActor("scheduler"), "acme", nil); standing.Connected {
		t.Errorf("%+v", standing)
	}
	if _, _, err := k.Open(t.Context(), oauth.Use{Actor: chat.SystemActor("scheduler"), Provider: "acme", Access: plugins.Read}); err == nil {
		t.Error("a system actor spends somebody's account")
	}
	if _, _, err := k.Open(t.Context(), oauth.Use{Actor: alice, Provider: "acme", Scopes: []string{"admin"}, Access: plugins.Read}); !errors.Is(err, oauth.ErrConnect) {
		t.Errorf("%v", err)
	}
}
