package github_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	gh "github.com/google/go-github/v82/github"

	"reeve/plugins/github"
	"reeve/plugins/plugintest"
)

const (
	issueArguments = `{"repository":"acme/app","title":"It fails","body":"Always."}`
	pullArguments  = `{"repository":"acme/app","head":"fix/login","base":"main","head_sha":"` + headSHA + `","title":"Fix","body":"It."}`
)

func commentArguments(version, body string) map[string]any {
	return map[string]any{"issue": "acme/app#5", "body": body, "version": version}
}

// What is written is written by the App where that is installed and means no more
// than the person's own word, and else by him.
func TestWhoWrites(t *testing.T) {
	const plain, command, mention = "Thanks.", "Fine.\n/approve", "@dependabot merge"
	tests := []struct {
		role, visibility   string
		app                string // where the bot has rights
		body, want, reason string
	}{
		{"push", "private", "acme", plain, "app at acme", ""},
		{"admin", "public", "acme", command, "app at acme", ""},
		{"push", "private", "", plain, "alice", "no installation at the owner"},
		{"push", "private", "acme/other", plain, "alice", "no installation for the repository"},
		{"pull", "private", "acme", plain, "app at acme", "who sees a private repository may comment there"},
		{"pull", "private", "acme", command, "alice", "a command means more from the app"},
		{"triage", "public", "acme", plain, "app at acme", ""},
		{"triage", "public", "acme", mention, "alice", "a command means more from the app"},
		{"pull", "public", "acme", plain, "alice", "nobody tells whether he is blocked"},
		{"", "public", "acme", plain, "alice", "nobody tells whether he is blocked"},
		{"", "private", "acme", plain, "", "he does not see it"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s in %s %s %.5s", test.role, test.visibility, test.app, test.body), func(t *testing.T) {
			h := newHub()
			version := h.version(t, 5)
			h.change(func(p *place) {
				p.roles["alice"] = test.role
				p.Private, p.Visibility = gh.Ptr(test.visibility != "public"), gh.Ptr(test.visibility)
			})
			got := h.host(t, plugintest.Apps(test.app)).As(plugintest.Alice, "Comment.").Calls("github_comment", commentArguments(version, test.body))
			who := ""
			for _, wrote := range h.written() {
				who, _, _ = strings.Cut(wrote, ":")
			}
			if who != test.want || got.Error != (test.want == "") || len(h.written()) > 1 {
				t.Errorf("written by %q (%s), want %q: %s", who, got.Text, test.want, test.reason)
			}
		})
	}
}

// What the person may not do himself the bot does not do for him, and nothing is
// sent.
func TestWhatIsNotWritten(t *testing.T) {
	const issue, comment, pull = "github_create_issue", "github_comment", "github_open_pull_request"
	tests := []struct {
		name, tool, arguments, want string
		change                      func(*place)
	}{
		{"archived", issue, issueArguments, "archived", func(p *place) { p.Archived = gh.Ptr(true) }},
		{"archived", comment, "", "archived", func(p *place) { p.Archived = gh.Ptr(true) }},
		{"disabled", pull, pullArguments, "disabled", func(p *place) { p.Disabled = gh.Ptr(true) }},
		{"no issues", issue, issueArguments, "switched off", func(p *place) { p.HasIssues = gh.Ptr(false) }},
		{"no issues", comment, "", "switched off", func(p *place) { p.HasIssues = gh.Ptr(false) }},
		{"not a member", issue, issueArguments, "cannot see it", func(p *place) { p.roles["alice"] = "" }},
		{"no permission", issue, issueArguments, "may not do that in acme/app", func(p *place) { p.roles["alice"] = "none" }},
		{"no permission", comment, "", "may not do that in acme/app", func(p *place) { p.roles["alice"] = "none" }},
		{"may not push", pull, pullArguments, "may not push", func(p *place) { p.roles["alice"] = "triage" }},
		{"locked", comment, "", "locked", func(p *place) { p.issues[5].Locked = gh.Ptr(true); p.roles["alice"] = "triage" }},
		{"another comment", comment, "", "has changed since", func(p *place) { p.issues[5].Comments = gh.Ptr(2) }},
		{"edited in the same second", comment, "", "has changed since", func(p *place) { p.issues[5].Body = gh.Ptr("Since ever.") }},
		{"closed", comment, "", "has changed since", func(p *place) { p.issues[5].State = gh.Ptr("closed") }},
		{"gone", comment, "", "no such thing", func(p *place) { delete(p.issues, 5) }},
		{"a push", pull, pullArguments, "has moved since", func(p *place) { p.branches["fix/login"] = mainSHA }},
		{"into itself", pull, strings.Replace(pullArguments, `"main"`, `"fix/login"`, 1), "are the same branch", func(*place) {}},
		{"no branch", pull, pullArguments, "no branch", func(p *place) { delete(p.branches, "fix/login") }},
		{"no base", pull, pullArguments, "Nothing was written. GitHub finds the request wrong: Validation Failed; base is invalid.", func(p *place) { delete(p.branches, "main") }},
		{"another's pull request", pull, pullArguments, "has an open pull request already, acme/app#8", func(p *place) { p.pull(8, "fix/login", "main", people[plugintest.Bob]) }},
		{"another name", issue, issueArguments, "has moved and is acme/app2 now", func(p *place) { p.FullName = gh.Ptr("acme/app2") }},
		{"the app lacks a permission", issue, issueArguments, "lacks the permission issues=write", func(p *place) { p.mute = true }},
		{"single sign-on", comment, "", "single sign-on", func(p *place) { p.signOn = true }},
	}
	for _, test := range tests {
		t.Run(test.tool+" "+test.name, func(t *testing.T) {
			h := newHub()
			var arguments any = test.arguments
			if test.arguments == "" {
				arguments = commentArguments(h.version(t, 5), "Thanks.")
			}
			h.change(test.change)
			got := h.host(t, plugintest.Apps("acme")).As(plugintest.Alice, "Do it.").Calls(test.tool, arguments)
			if !got.Error || !strings.Contains(got.Text, test.want) || len(h.written()) > 0 {
				t.Errorf("it gave %+v, and should say %q; written is %q", got, test.want, h.written())
			}
		})
	}
}

// A commit that is pushed after a comment was looked at is another pull request.
func TestACommentOnAPullRequestCoversItsCommits(t *testing.T) {
	h := newHub()
	arguments := map[string]any{"issue": "https://github.com/acme/app/pull/7", "body": "Looks good.", "version": h.version(t, 7)}
	done(t, h.host(t).As(plugintest.Alice, "Comment.").Calls("github_comment", arguments))
	h.change(func(p *place) { p.pulls[7].Head.SHA = gh.Ptr(mainSHA) })
	if got := h.host(t).As(plugintest.Alice, "Comment.").Calls("github_comment", arguments); !got.Error || len(h.written()) != 1 {
		t.Errorf("%+v, %q", got, h.written())
	}
}

// Each person writes with his own account, whatever the arguments say.
func TestEachPersonsOwnAccountWrites(t *testing.T) {
	h := newHub()
	host := h.host(t)
	done(t, host.As(plugintest.Alice, "Open it.").Calls("github_create_issue", issueArguments))
	done(t, host.As(plugintest.Bob, "Open it.").Calls("github_create_issue", issueArguments))
	wrote := h.written()
	if len(wrote) != 2 || !strings.HasPrefix(wrote[0], "alice: ") || !strings.Contains(wrote[0], "for @alice,") || !strings.HasPrefix(wrote[1], "bob-hub: ") || !strings.Contains(wrote[1], "for @bob-hub,") {
		t.Errorf("written is %q", wrote)
	}
}

// The account that answers is the one that was connected.
func TestAnotherAccountDoesNotWrite(t *testing.T) {
	h := newHub()
	host := plugintest.New(t, github.New(), plugintest.Serve(h), plugintest.Accounts(func(chatPerson) (string, string) { return "1002", "bob-hub" }))
	got := host.As(plugintest.Alice, "Open it.").Calls("github_create_issue", issueArguments)
	if !got.Error || !strings.Contains(got.Text, "another account") || len(h.written()) > 0 {
		t.Errorf("%+v, %q", got, h.written())
	}
}

// A repository that has moved is read under its old name, and not written to.
func TestWhatHasMoved(t *testing.T) {
	h := newHub()
	h.add("old/app", "private").MirrorURL = gh.Ptr("acme/app")
	text := done(t, h.host(t).As(plugintest.Alice, "Read.").Calls("github_read_issue", `{"issue":"old/app#5"}`))
	if !strings.Contains(text, "Login fails") {
		t.Errorf("it gave %s", text)
	}
	got := h.host(t).As(plugintest.Alice, "Write.").Calls("github_create_issue", strings.ReplaceAll(issueArguments, "acme/", "old/"))
	if !got.Error || !strings.Contains(got.Text, "has moved and is acme/app now") || len(h.written()) > 0 {
		t.Errorf("%+v, %q", got, h.written())
	}
}

// The call of a pull request that is made again finds what it has made, also when
// that was closed since; another call does not.
func TestAPullRequestIsOpenedOnceACall(t *testing.T) {
	h := newHub()
	// A turn of each host is the first, and its call has the same key.
	again := func() string {
		return done(t, h.host(t).As(plugintest.Alice, "Open it.").Calls("github_open_pull_request", pullArguments))
	}
	first := again()
	h.change(func(p *place) { p.branches["fix/login"] = mainSHA })
	second := again()
	h.change(func(p *place) {
		for _, pr := range p.pulls {
			pr.State = gh.Ptr("closed")
		}
	})
	third := again()
	if len(h.written()) != 1 || !strings.Contains(first, "/pull/") || !strings.HasPrefix(second, first) || !strings.HasPrefix(third, first) {
		t.Errorf("three times: %q %q %q; written is %q", first, second, third, h.written())
	}
	h.change(func(p *place) { p.branches["fix/login"] = headSHA })
	turn := h.host(t).As(plugintest.Alice, "Open it.")
	turn.Calls("github_search", `{"kind":"issues","query":"a"}`)
	done(t, turn.Calls("github_open_pull_request", pullArguments))
	if len(h.written()) != 2 {
		t.Errorf("another call: written is %q", h.written())
	}
}

// An earlier try of the same call may come through at the last moment: then GitHub
// refuses a second pull request, and the first is the call's own.
func TestAnEarlierTryComesThrough(t *testing.T) {
	h := newHub()
	h.before = func(r *http.Request) {
		if r.Method != http.MethodPost {
			return
		}
		body, _ := io.ReadAll(r.Body)
		first := r.Clone(r.Context())
		first.Body, r.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
		h.mu.Lock()
		defer h.mu.Unlock()
		h.mux.ServeHTTP(&nowhere{http.Header{"X-Oauth-Scopes": {"repo"}}}, first)
	}
	text := done(t, h.host(t).As(plugintest.Alice, "Open it.").Calls("github_open_pull_request", pullArguments))
	if len(h.written()) != 1 || !strings.Contains(text, "/pull/") {
		t.Errorf("it gave %s; written is %q", text, h.written())
	}
}

// A change is not sent on to where it is redirected.
func TestAChangeIsNotRedirected(t *testing.T) {
	h := newHub()
	h.wild = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://api.github.com/repos/acme/other/issues")
		fail(w, http.StatusTemporaryRedirect, "Moved")
	}
	got := h.host(t).As(plugintest.Alice, "Open it.").Calls("github_create_issue", issueArguments)
	last := h.requests()[len(h.requests())-1]
	if !got.Error || !strings.Contains(got.Text, "Nothing was written. It has moved") || last != "POST /repos/acme/app/issues" {
		t.Errorf("%+v; the last request was %s", got, last)
	}
}

// A branch that moves while its pull request is being opened is told of.
func TestABranchMovesMeanwhile(t *testing.T) {
	h := newHub()
	h.before = func(r *http.Request) {
		if r.Method == http.MethodPost {
			h.change(func(p *place) { p.branches["fix/login"] = mainSHA })
		}
	}
	text := done(t, h.host(t).As(plugintest.Alice, "Open it.").Calls("github_open_pull_request", pullArguments))
	if !strings.Contains(text, "the branch has moved") {
		t.Errorf("it gave %s", text)
	}
}
