package github_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/plugins/plugintest"
)

// After an answer that was lost, it is looked for what was written: found is
// done, and not found is not known. Nothing is sent a second time.
func TestLostAnswers(t *testing.T) {
	for _, lose := range []string{"after", "before", "500"} {
		for _, tool := range []string{"github_create_issue", "github_comment", "github_open_pull_request"} {
			t.Run(tool+" "+lose, func(t *testing.T) {
				h := newHub()
				arguments := map[string]any{"github_create_issue": issueArguments, "github_comment": commentArguments(h.version(t, 5), "Thanks."), "github_open_pull_request": pullArguments}[tool]
				h.lose = lose
				got := h.host(t).As(plugintest.Alice, "Do it.").Calls(tool, arguments)
				posts := 0
				for _, asked := range h.requests() {
					if strings.HasPrefix(asked, "POST") {
						posts++
					}
				}
				switch {
				case posts != 1:
					t.Errorf("sent %d times", posts)
				case lose == "after" && (got.Error || !strings.Contains(got.Text, "https://github.com/acme/app/")):
					t.Errorf("it is there, and said is %+v", got)
				case got.Unknown != (lose != "after"):
					t.Errorf("whether it was made is unknown: %v", got.Unknown)
				case lose != "after" && (!got.Error || !strings.Contains(got.Text, "is not known")):
					t.Errorf("nobody knows, and said is %+v", got)
				}
			})
		}
	}
}

// doubtful answers reads, and does with a POST what a test says.
type doubtful struct {
	hub  *hub
	post func(*http.Request) error
}

func (d doubtful) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		return nil, d.post(r)
	}
	r.Header.Set("Authorization", "Bearer account "+plugintest.Alice.Key())
	w := httptest.NewRecorder()
	d.hub.ServeHTTP(w, r)
	return w.Result(), nil
}

// Only what nobody has begun to send was certainly not sent, whoever is between
// the plugin and the network.
func TestWhatWasSentIsKnownByItsBody(t *testing.T) {
	unread := func(*http.Request) error { return errors.New("the account was disconnected meanwhile") }
	begun := func(r *http.Request) error {
		_, _ = io.CopyN(io.Discard, r.Body, 1)
		return io.ErrUnexpectedEOF
	}
	again := func(r *http.Request) error { // as whoever sends it once more with another token
		body, _ := r.GetBody()
		_, _ = io.Copy(io.Discard, body)
		return errors.New("the connection is lost")
	}
	for _, test := range []struct {
		name string
		post func(*http.Request) error
		want string
	}{
		{"refused", unread, "Nothing was sent. GitHub was not asked, or did not answer: the account was disconnected meanwhile."},
		{"begun", begun, "Whether it was written in acme/app is not known."},
		{"sent again", again, "Whether it was written in acme/app is not known."},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := calls(t, t.Context(), "github_create_issue", issueArguments, doubtful{newHub(), test.post})
			if !got.Error || !strings.Contains(got.Text, test.want) || got.Unknown == strings.HasPrefix(got.Text, "Nothing was sent") {
				t.Errorf("it says %q, and should say %q; unknown: %v", got.Text, test.want, got.Unknown)
			}
		})
	}
}

// A call that is cut while it writes does not look any more, and says what it
// does not know.
func TestACallThatIsCut(t *testing.T) {
	ctx, cut := context.WithCancel(t.Context())
	got := calls(t, ctx, "github_create_issue", issueArguments, doubtful{newHub(), func(r *http.Request) error {
		_, _ = io.Copy(io.Discard, r.Body)
		cut()
		return context.Canceled
	}})
	if !got.Error || !got.Unknown || !strings.Contains(got.Text, "is not known. Nobody could look whether it is there.") {
		t.Errorf("it says %+v", got)
	}
}

// calls makes a call with a transport of a test's own.
func calls(t *testing.T, ctx context.Context, name, arguments string, transport http.RoundTripper) plugins.Result {
	t.Helper()
	for _, tool := range newHub().host(t).Extension().Tools {
		if tool.Name != name {
			continue
		}
		id, login := accounts(plugintest.Alice)
		got, err := tool.Call(ctx, plugins.Call{
			Run: plugins.Run{Actor: plugintest.Alice}, Key: "t/1",
			Account: &plugins.Account{ID: id, Name: login, HTTP: &http.Client{Transport: transport}},
		}, json.RawMessage(arguments))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	t.Fatalf("no tool %s", name)
	return plugins.Result{}
}
