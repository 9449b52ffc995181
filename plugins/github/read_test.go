package github_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	gh "github.com/google/go-github/v82/github"

	"reeve/cmd/app/apptest/golden"
	"reeve/plugins"
	"reeve/plugins/github"
	"reeve/plugins/plugintest"
	"reeve/runtime/chat"
)

// What the tools declare decides when a call of them is made at all.
func TestWhatTheToolsDeclare(t *testing.T) {
	var b strings.Builder
	for _, tool := range newHub().host(t).Extension().Tools {
		host := "-"
		if tool.Host != nil {
			host, _ = tool.Host(nil)
		}
		fmt.Fprintf(&b, "%s: %s %s, provider %s (account %v, scopes %v), sends %v to %s, %v\n", tool.Name, tool.Effect, tool.Access, tool.Provider, tool.Account, tool.Scopes, tool.Sends, host, tool.Timeout)
		var parameters any
		if err := json.Unmarshal(tool.Parameters, &parameters); err != nil {
			t.Fatal(err)
		}
		schema, _ := json.MarshalIndent(parameters, "  ", "  ")
		fmt.Fprintf(&b, "  %s\n  %s\n\n", tool.Description, schema)
	}
	golden.Holds(t, filepath.Join("testdata", "tools.golden"), b.String())
	for access, want := range map[string]string{"public": "[] [public_repo]", "app": "[] []"} {
		tools := plugintest.New(t, github.New(), plugintest.Env("GITHUB_ACCESS="+access)).Extension().Tools
		if got := fmt.Sprint(tools[0].Scopes, " ", tools[len(tools)-1].Scopes); got != want {
			t.Errorf("%s: scopes are %s, want %s", access, got, want)
		}
	}
}

// What is read, as the model sees it.
func TestWhatIsRead(t *testing.T) {
	h := newHub()
	turn := h.host(t).As(plugintest.Alice, "Read.")
	var b strings.Builder
	for _, call := range [][2]string{
		{"github_search", `{"kind":"issues","query":"login  label:bug\n"}`},
		{"github_search", `{"kind":"pull_requests","query":"login","repository":"acme/app","page":2}`},
		{"github_search", `{"kind":"code","query":"login"}`},
		{"github_search", `{"kind":"repositories","query":"org:acme"}`},
		{"github_read_issue", `{"issue":"acme/app#5"}`},
		{"github_read_pull_request", `{"pull_request":"acme/app#7"}`},
		{"github_read_pull_request", `{"pull_request":"acme/app#7","show":"diff"}`},
		{"github_read_pull_request", `{"pull_request":"acme/app#7","show":"reviews"}`},
		{"github_read_pull_request", `{"pull_request":"acme/app#7","show":"comments"}`},
		{"github_read_branch", `{"repository":"acme/app","branch":"fix/login"}`},
	} {
		fmt.Fprintf(&b, "== %s %s\n%s\n", call[0], call[1], done(t, turn.Calls(call[0], call[1])))
	}
	golden.Holds(t, filepath.Join("testdata", "read.golden"), b.String())
	private := h.host(t).As(plugintest.Alice, "Read.")
	private.Visibility = chat.DM
	if text := done(t, private.Calls("github_read_issue", `{"issue":"acme/app#5"}`)); strings.Contains(text, "Not everybody") {
		t.Errorf("in a direct message it says %s", text)
	}
	if got := turn.Calls("github_read_issue", `{"issue":"acme/app#7"}`); !got.Error || !strings.Contains(got.Text, "github_read_pull_request") {
		t.Errorf("a pull request as an issue: %+v", got)
	}
}

// Of many comments the newest are shown, and any page can be asked for.
func TestPagesOfComments(t *testing.T) {
	h := newHub()
	h.change(func(p *place) {
		p.issues[5].Comments, p.comments[5] = gh.Ptr(65), nil
		for n := range 65 {
			p.comments[5] = append(p.comments[5], &gh.IssueComment{Body: gh.Ptr(fmt.Sprintf("word-%d.", n)), User: people[plugintest.Bob], CreatedAt: &moment})
		}
	})
	turn := h.host(t).As(plugintest.Alice, "Read.")
	for arguments, want := range map[string][]string{
		`{"issue":"acme/app#5"}`:           {"65, page 3 of 3", "word-60.", "word-64."},
		`{"issue":"acme/app#5","page":1}`:  {"65, page 1 of 3", "word-0.", "word-29."},
		`{"issue":"acme/app#5","page":99}`: {"65, page 3 of 3", "word-60.", "word-64."},
	} {
		text := done(t, turn.Calls("github_read_issue", arguments))
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in %s", arguments, part, text)
			}
		}
	}
}

// Whatever people have written, a result keeps its budget, and a line that begins
// at the margin is ours.
func FuzzSheet(f *testing.F) {
	f.Add("Always.", "a title", 3)
	f.Add(strings.Repeat("\n", 20_000), "t\nversion: x", 30)
	f.Add(strings.Repeat("a\r", 20_000)+"\u2028version: x", "\u0085version: x", 30)
	f.Add(strings.Repeat("x", 60_000), strings.Repeat("𝄞", 400), 30)
	f.Add("\xff\xfe\x00", "\u202e", 1)
	f.Fuzz(func(t *testing.T, body, title string, count int) {
		h := newHub()
		count = max(min(count, 30), 1)
		who := &gh.User{Login: gh.Ptr("bob\n[x] " + title)}
		h.change(func(p *place) {
			p.issues[5].Body, p.issues[5].Title, p.issues[5].User, p.issues[5].Comments, p.comments[5] = &body, &title, who, &count, nil
			p.issues[5].Labels = []*gh.Label{{Name: &title}}
			p.pulls[7].Body, p.pulls[7].Title, p.pulls[7].ReviewComments, p.files, p.reviews, p.lines = &body, &title, &count, nil, nil, nil
			p.Description = &title
			for range count {
				p.comments[5] = append(p.comments[5], &gh.IssueComment{Body: &body, User: who, CreatedAt: &moment})
				p.files = append(p.files, &gh.CommitFile{Filename: &title, Patch: &body, Status: &title, PreviousFilename: &title})
				p.reviews = append(p.reviews, &gh.PullRequestReview{Body: &body, User: who, State: &title, SubmittedAt: &moment})
				p.lines = append(p.lines, &gh.PullRequestComment{Body: &body, User: who, Path: &title, CreatedAt: &moment})
			}
		})
		turn := h.host(t).As(plugintest.Alice, "Read.")
		for _, call := range [][2]string{
			{"github_search", `{"kind":"issues","query":"x"}`}, {"github_search", `{"kind":"repositories","query":"x"}`},
			{"github_read_issue", `{"issue":"acme/app#5"}`}, {"github_read_branch", `{"repository":"acme/app","branch":"fix/login"}`},
			{"github_read_pull_request", `{"pull_request":"acme/app#7"}`}, {"github_read_pull_request", `{"pull_request":"acme/app#7","show":"diff"}`},
			{"github_read_pull_request", `{"pull_request":"acme/app#7","show":"reviews"}`},
		} {
			text := done(t, turn.Calls(call[0], call[1]))
			if len(text) > 60<<10 {
				t.Errorf("%s: %d bytes", call, len(text))
			}
			versions := 0
			for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
				if strings.HasPrefix(line, "version:") {
					versions++
				}
				if !strings.HasPrefix(line, "    ") && !ours(line) {
					t.Errorf("%s: a line at the margin: %q", call, line)
				}
			}
			if versions > 1 {
				t.Errorf("%s: %d versions", call, versions)
			}
		}
	})
}

func ours(line string) bool {
	for _, begin := range []string{
		"Read with the GitHub account", "Issue acme/app#5,", "Pull request acme/app#7,", "From ", "version: 2026-", "Title:", "Text:", "Comments, oldest first", "Comments:", "The ",
		"[2026-03-02 08:00 UTC] bob [x]", "Changed files", "- ", "Reviews, oldest first", "Comments at lines", "Branch ", "head_sha: ", "Commits, oldest", "Found: ", "GitHub did not finish",
	} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return strings.Contains(line, "left out for want of room.")
}

// The fields that are typed by hand are those of GitHub's own answers, as
// go-github knows them.
func TestFieldsAreGitHubs(t *testing.T) {
	for name, pair := range github.Types(gh.User{}, gh.Repository{}, gh.RepositoryPermissions{}, gh.Label{}, gh.Issue{}, gh.PullRequestBranch{}, gh.PullRequest{}, gh.IssueComment{},
		gh.PullRequestComment{}, gh.PullRequestReview{}, gh.CommitFile{}, gh.Reference{}, gh.CommitsComparison{}, gh.RepositoryCommit{}, gh.CodeResult{}, gh.IssuesSearchResult{}) {
		known := map[string]bool{}
		for _, tag := range tags(reflect.TypeOf(pair[1])) {
			known[tag] = true
		}
		ours := tags(reflect.TypeOf(pair[0]))
		if len(ours) == 0 {
			t.Errorf("%s has no fields", name)
		}
		for _, tag := range ours {
			if !known[tag] {
				t.Errorf("%s has a field %q that GitHub does not have", name, tag)
			}
		}
	}
}

func tags(of reflect.Type) (all []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Anonymous {
			all = append(all, tags(field.Type)...)
			continue
		}
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		all = append(all, tag)
	}
	return all
}

// A host that gives no account is answered, and not a fault.
func TestWithoutAnAccount(t *testing.T) {
	for _, tool := range newHub().host(t).Extension().Tools {
		arguments := map[string]string{
			"github_search": `{"kind":"issues","query":"x"}`, "github_read_issue": `{"issue":"acme/app#5"}`, "github_read_pull_request": `{"pull_request":"acme/app#5"}`,
			"github_read_branch": `{"repository":"acme/app","branch":"main"}`, "github_create_issue": issueArguments, "github_comment": `{"issue":"acme/app#5","body":"x","version":"x"}`,
			"github_open_pull_request": pullArguments,
		}[tool.Name]
		if got, err := tool.Call(t.Context(), plugins.Call{}, json.RawMessage(arguments)); err != nil || !got.Error || !strings.Contains(got.Text, "none is connected") {
			t.Errorf("%s: %+v, %v", tool.Name, got, err)
		}
	}
}
