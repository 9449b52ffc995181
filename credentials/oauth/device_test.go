package oauth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"reeve/credentials/oauth"
	"reeve/runtime/chat"
)

func TestDeviceFlow(t *testing.T) {
	pending := func(code string) http.HandlerFunc { return answer(400, "application/json", `{"error":"`+code+`"}`) }
	type step struct {
		answer http.HandlerFunc
		after  time.Duration
		polls  int // in all, when the time is over
	}
	granted := func(f *fake) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if r.PostForm.Get("device_code") != tokenKind+"device" || r.PostForm.Get("code") != "" || r.PostForm.Get("client_id") != "app" {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(f.issue("f1000", "read"))
		}
	}
	for name, test := range map[string]struct {
		steps []step
		email string
		how   chat.How // how the wait ended; empty: it goes on
	}{
		"granted":                  {[]step{{pending("authorization_pending"), 5 * time.Second, 1}, {nil, 5 * time.Second, 2}}, "Alice@Example.com", chat.ByAccount},
		"slow down":                {[]step{{pending("slow_down"), 5 * time.Second, 1}, {nil, 6 * time.Second, 1}, {nil, 4 * time.Second, 2}}, "alice@example.com", chat.ByAccount},
		"refused":                  {[]step{{pending("access_denied"), 5 * time.Second, 1}, {nil, time.Minute, 1}}, "alice@example.com", chat.ByRefusal},
		"expired there":            {[]step{{pending("expired_token"), 5 * time.Second, 1}, {nil, time.Minute, 1}}, "alice@example.com", ""},
		"expired here":             {[]step{{pending("authorization_pending"), 5 * time.Second, 1}, {nil, 16 * time.Minute, 1}, {nil, time.Hour, 1}}, "alice@example.com", ""},
		"network trouble":          {[]step{{answer(503, "text/html", "<html>"), 5 * time.Second, 1}, {nil, 6 * time.Second, 1}, {nil, 4 * time.Second, 2}}, "alice@example.com", chat.ByAccount},
		"another address":          {[]step{{nil, 5 * time.Second, 1}}, "bob@example.com", chat.ByRefusal},
		"an address that looks so": {[]step{{nil, 5 * time.Second, 1}}, "alice@e\u212Aample.com", chat.ByRefusal},
		"no address":               {[]step{{nil, 5 * time.Second, 1}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			if strings.Contains(name, "looks so") {
				f.user["email"] = "alice@ekample.com"
			}
			providers := []oauth.Configured{f.withDevice(f.provider("acme"))}
			k := newKit(t, providers, withoutURL)
			k.emails[alice] = test.email
			link := k.begin(alice, "acme")
			if link.Code != "WDJB-MJHT" || link.URL != f.base+"/enter" || link.Until.Before(k.clock.now().Add(50*time.Minute)) {
				t.Errorf("%+v", link)
			}
			second := k.another(providers, withoutURL)
			for i, s := range test.steps {
				f.set(func() {
					if f.token = s.answer; s.answer == nil {
						f.token = granted(f)
					}
				})
				k.clock.advance(s.after)
				// Two processes look at once; one of them asks.
				done := make(chan error, 1)
				go func() { done <- second.Sweep(t.Context()) }()
				if err := errors.Join(k.Sweep(t.Context()), <-done); err != nil {
					t.Fatal(err)
				}
				if f.set(func() {}); len(f.forms) != s.polls {
					t.Errorf("step %d: %d polls, want %d", i, len(f.forms), s.polls)
				}
			}
			_, there := k.record(alice, "acme")
			if there != (test.how == chat.ByAccount) {
				t.Errorf("connected: %v\n%s", there, k.log)
			}
			got := k.endings()
			if test.how == "" && len(got) > 0 || test.how != "" && (len(got) != 1 || got[0].how != test.how) {
				t.Errorf("%+v", got)
			}
			if test.how == chat.ByRefusal && test.steps[0].answer == nil && len(f.tookBack()) != 2 {
				t.Error("the token was not given back")
			}
			if strings.Contains(k.log.String(), tokenKind) {
				t.Errorf("the log: %s", k.log)
			}
		})
	}
	t.Run("a provider without one", func(t *testing.T) {
		f := newFake(t)
		k := newKit(t, []oauth.Configured{f.provider("acme")}, withoutURL)
		if k.Knows("acme") {
			t.Error("it can be used")
		}
		if _, err := k.Begin(t.Context(), oauth.For{Actor: alice, Provider: "acme"}); err == nil {
			t.Error("it begins")
		}
		if _, err := k.Begin(t.Context(), oauth.For{Actor: chat.SystemActor("scheduler"), Provider: "acme"}); err == nil {
			t.Error("a system actor begins")
		}
	})
	t.Run("a page that is not safe", func(t *testing.T) {
		f := newFake(t)
		f.device = answer(200, "application/json", `{"device_code":"x","user_code":"y","verification_uri":"javascript:alert(1)"}`)
		k := newKit(t, []oauth.Configured{f.withDevice(f.provider("acme"))}, withoutURL)
		if _, err := k.Begin(t.Context(), oauth.For{Actor: alice, Provider: "acme"}); err == nil {
			t.Error("it begins")
		}
	})
}

// A process that finds a flow in the hands of another leaves its reminder as it is:
// the other may have named an earlier time meanwhile than was read of it.
func TestATakenFlowKeepsItsReminder(t *testing.T) {
	f := newFake(t)
	providers := []oauth.Configured{f.withDevice(f.provider("acme"))}
	k := newKit(t, providers, withoutURL)
	k.begin(alice, "acme")
	asked, answered := make(chan struct{}), make(chan struct{})
	f.token = func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-answered
		answer(400, "application/json", `{"error":"authorization_pending"}`)(w, r)
	}
	k.clock.advance(5 * time.Second)
	done := make(chan error, 1)
	go func() { done <- k.Sweep(t.Context()) }()
	<-asked
	flows, err := k.vault.Reminders(t.Context())
	if err != nil || len(flows) != 1 {
		t.Fatalf("%q, %v", flows, err)
	}
	if err := k.vault.Remind(t.Context(), flows[0], k.clock.now()); err != nil {
		t.Fatal(err)
	}
	if err := k.another(providers, withoutURL).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if due, err := k.vault.Due(t.Context(), k.clock.now(), 10); err != nil || len(due) != 1 {
		t.Errorf("due is %q, %v", due, err)
	}
	close(answered)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
