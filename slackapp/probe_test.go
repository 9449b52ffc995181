package slackapp

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// slackAnswering is a Web API that gives one answer, and its URL.
func slackAnswering(t *testing.T, status int, header http.Header, body string) (url string, asked *http.Request) {
	t.Helper()
	asked = &http.Request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = *r.Clone(r.Context())
		for name, values := range header {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/api/", asked
}

func TestProbeBotTellsWhoseTokenItIs(t *testing.T) {
	url, asked := slackAnswering(t, 200, http.Header{"X-Oauth-Scopes": {"chat:write, users:read,,im:write"}},
		`{"ok":true,"team":"Acme","team_id":"T1","user":"reeve","user_id":"U1","bot_id":"B1"}`)
	got, err := ProbeBot(t.Context(), url, "xoxb-test")
	want := BotFacts{"T1", "Acme", "U1", "reeve", "B1", []string{"chat:write", "users:read", "im:write"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, difference:\n%s", err, diff)
	}
	if asked.URL.Path != "/api/auth.test" {
		t.Errorf("asked %s", asked.URL)
	}
}

func TestProbeAppAsksForASocketWithItsOwnToken(t *testing.T) {
	url, asked := slackAnswering(t, 200, nil, `{"ok":true,"url":"wss://127.0.0.1:1/link"}`)
	if err := ProbeApp(t.Context(), url, "xapp-test"); err != nil {
		t.Fatal(err)
	}
	if asked.URL.Path != "/api/apps.connections.open" || asked.Header.Get("Authorization") != "Bearer xapp-test" {
		t.Errorf("asked %s with %q", asked.URL, asked.Header.Get("Authorization"))
	}
}

func TestProbesTellRefusalFromAbsence(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		code   string // of the refusal; empty: none
	}{
		{"wrong token", 200, nil, `{"ok":false,"error":"invalid_auth"}`, "invalid_auth"},
		{"scope", 200, nil, `{"ok":false,"error":"missing_scope","needed":"connections:write"}`, "missing_scope"},
		{"fault", 200, nil, `{"ok":false,"error":"internal_error"}`, ""},
		{"limit", 429, http.Header{"Retry-After": {"1"}}, `{"ok":false,"error":"ratelimited"}`, ""},
		{"gateway", 502, nil, `oops`, ""},
		{"no Slack", 200, nil, `<html>`, ""},
	} {
		url, _ := slackAnswering(t, c.status, c.header, c.body)
		_, botErr := ProbeBot(t.Context(), url, "xoxb-test")
		for _, err := range []error{botErr, ProbeApp(t.Context(), url, "xapp-test")} {
			var refused *ProbeRefused
			switch {
			case err == nil:
				t.Errorf("%s: no error", c.name)
			case errors.As(err, &refused) != (c.code != "") || c.code != "" && refused.Code != c.code:
				t.Errorf("%s: got %v, want a refusal by %q", c.name, err, c.code)
			}
		}
	}
	if _, err := ProbeBot(t.Context(), "http://127.0.0.1:1/", "xoxb-test"); err == nil || errors.As(err, new(*ProbeRefused)) {
		t.Errorf("nobody listens: got %v", err)
	}
}
