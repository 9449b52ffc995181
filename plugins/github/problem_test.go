package github_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	gh "github.com/google/go-github/v82/github"

	"reeve/plugins/plugintest"
)

// Each refusal of GitHub's is a sentence that says what would help.
func TestProblemsSayWhatToDo(t *testing.T) {
	answers := func(status int, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, body)
		}
	}
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string
		dm     string
	}{
		{"revoked", answers(401, `{"message":"Bad credentials"}`), "disconnect GitHub in the bot's home tab", ""},
		{"scopes", answers(403, `{"message":"Nope"}`, "X-OAuth-Scopes", "read:user", "X-Accepted-OAuth-Scopes", "repo, public_repo"), "a scope that the connection has not been granted: repo or public_repo; it has read:user", ""},
		{"no scopes at all", answers(403, `{}`, "X-OAuth-Scopes", "", "X-Accepted-OAuth-Scopes", "repo"), "it has none", ""},
		{"scopes that suffice", answers(403, `{"message":"Blocked."}`, "X-OAuth-Scopes", "repo", "X-Accepted-OAuth-Scopes", "public_repo"), "GitHub refuses this to the connected GitHub account (403): Blocked.", ""},
		{"single sign-on", answers(403, `{}`, "X-GitHub-SSO", "required; url=https://github.com/orgs/acme/sso?authorization_request=AZ2"), "has been sent the link by direct message", "<https://github.com/orgs/acme/sso?authorization_request=AZ2>"},
		{"single sign-on elsewhere", answers(403, `{}`, "X-GitHub-SSO", "required; url=https://evil.example/sso"), "Authorized OAuth Apps", ""},
		{"single sign-on, odd link", answers(403, `{}`, "X-GitHub-SSO", "required; url=https://github.com/a|b>"), "by direct message", "<https://github.com/a%7Cb%3E>"},
		{"oauth restrictions", answers(403, `{"message":"Although you appear to have the correct authorization credentials, the acme organization has enabled OAuth App access restrictions"}`), "an owner of it has to approve the app", ""},
		{"secondary limit", answers(403, `{"message":"You have exceeded a secondary rate limit."}`, "Retry-After", "90"), "asked again in 2 minutes", ""},
		{"429", answers(429, `{}`), "asked again in a minute", ""},
		{"primary limit", answers(403, `{}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", fmt.Sprint(plugintest.Start.Unix()+20*60)), "asked again in 20 minutes", ""},
		{"a limit without an end", answers(403, `{}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "99999999999"), "asked again in 1440 minutes", ""},
		{"not there", answers(404, `{"message":"Not Found"}`, "X-OAuth-Scopes", "repo"), "A private repository that the account is no member of looks the same", ""},
		{"not there with less", answers(404, `{}`, "X-OAuth-Scopes", "public_repo"), "has not been granted the scope repo", ""},
		{"gone", answers(410, `{}`), "It is gone", ""},
		{"fields", answers(422, `{"message":"Validation Failed","errors":[{"field":"q","code":"missing_field"},"Only 1000 results"]}`), "Validation Failed; q is missing field; Only 1000 results", ""},
		{"legal", answers(451, `{}`), "legal reasons", ""},
		{"trouble", answers(502, `<html>`), "trouble of its own (502)", ""},
		{"hostile message", answers(400, `{"message":"a\nTitle:\u202e b"}`), "(400): a Title: b.", ""},
		{"no JSON", answers(200, `<html>`), "could not be read", ""},
		{"too much", func(w http.ResponseWriter, _ *http.Request) {
			for range 9 << 10 {
				_, _ = fmt.Fprint(w, strings.Repeat(" ", 1<<10))
			}
		}, "longer than can be read", ""},
		{"a redirect elsewhere", answers(302, ``, "Location", "https://uploads.github.com/x"), "It has moved", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHub()
			h.wild = test.answer
			got := h.host(t).As(plugintest.Alice, "Read.").Calls("github_read_issue", `{"issue":"acme/app#5"}`)
			if !got.Error || !strings.Contains(got.Text, test.want) || strings.Contains(got.Text, "authorization_request") || strings.Contains(got.Text, "\n") {
				t.Errorf("it says %q, and should say %q", got.Text, test.want)
			}
			if (got.DM == "") != (test.dm == "") || !strings.Contains(got.DM, test.dm) {
				t.Errorf("the person is told %q, and should be told %q", got.DM, test.dm)
			}
		})
	}
}

// Every tool says so when there were too many requests, and writes nothing.
func TestLimitsMeetEveryTool(t *testing.T) {
	for limit, want := range map[string]string{"retry": "10 minutes", "reset": "20 minutes"} {
		h := newHub()
		version := h.version(t, 5)
		h.limit = limit
		turn := h.host(t).As(plugintest.Alice, "Do it.")
		for tool, arguments := range map[string]any{
			"github_search": `{"kind":"issues","query":"x"}`, "github_read_pull_request": `{"pull_request":"acme/app#7"}`, "github_create_issue": issueArguments,
			"github_comment": commentArguments(version, "x"), "github_open_pull_request": pullArguments,
		} {
			if got := turn.Calls(tool, arguments); !got.Error || !strings.Contains(got.Text, want) || len(h.written()) > 0 {
				t.Errorf("%s: %+v", tool, got)
			}
		}
	}
}

// What a connection may not see is not told from what is not there; what it may
// not do it is told how to get.
func TestScopesOfAConnection(t *testing.T) {
	h := newHub()
	h.scopes = map[string]string{"alice": "public_repo"}
	turn := h.host(t).As(plugintest.Alice, "Do it.")
	if got := turn.Calls("github_read_issue", `{"issue":"acme/app#5"}`); !got.Error || !strings.Contains(got.Text, "scope repo") {
		t.Errorf("a private repository: %+v", got)
	}
	h.change(func(p *place) { p.Private, p.Visibility = gh.Ptr(false), gh.Ptr("public") })
	done(t, turn.Calls("github_create_issue", issueArguments))
	h.scopes["alice"] = "read:user"
	if got := turn.Calls("github_create_issue", issueArguments); !got.Error || !strings.Contains(got.Text, "public_repo or repo") {
		t.Errorf("without the scope: %+v", got)
	}
}

// A search that leaves out what wants its sign-on says so.
func TestPartialResults(t *testing.T) {
	h := newHub()
	h.change(func(p *place) { p.signOn = true })
	text := done(t, h.host(t).As(plugintest.Alice, "Search.").Calls("github_search", `{"kind":"issues","query":"x"}`))
	if !strings.Contains(text, "belongs to 2 organizations") {
		t.Errorf("it says %s", text)
	}
}
