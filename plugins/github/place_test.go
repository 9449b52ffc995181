package github_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"reeve/plugins/github"
	"reeve/plugins/plugintest"
)

func TestNamesOfRepositoriesAndIssues(t *testing.T) {
	tests := []struct{ text, repository, issue string }{
		{"acme/app", "acme/app", ""},
		{" acme/app ", "acme/app", ""},
		{"acme/app.git", "acme/app", ""},
		{"carol_acme/a.b-c_d", "carol_acme/a.b-c_d", ""},
		{"https://github.com/acme/app", "acme/app", ""},
		{"<https://www.github.com/acme/app/>", "acme/app", ""},
		{"https://github.com/acme/app/tree/main/x?y#z", "acme/app", ""},
		{"acme/app#5", "", "acme/app#5"},
		{"https://github.com/acme/app/issues/5", "acme/app", "acme/app#5"},
		{"https://github.com/acme/app/pull/5/files?w=1#diff-1", "acme/app", "acme/app#5"},
		{"https://github.com/acme/app/issues/5#issuecomment-77", "acme/app", "acme/app#5"},

		{"", "", ""},
		{"app", "", ""},
		{"acme/app/x", "", ""},
		{"../app", "", ""},
		{"acme/..", "", ""},
		{"acme/.", "", ""},
		{"acme/...", "", ""},
		{"acme/.git", "", ""},
		{"acme/app%2f..%2fother", "", ""},
		{"acme/app?x=1", "", ""},
		{"acme/app/../other", "", ""},
		{`acme\app`, "", ""},
		{"acme/äpp", "", ""},
		{"-acme/app", "", ""},
		{"acme/app\x00", "", ""},
		{"acme/app\nX: y", "", ""},
		{"https://evil.example/acme/app", "", ""},
		{"https://github.com.evil.example/acme/app", "", ""},
		{"https://github.com@evil.example/acme/app/issues/5", "", ""},
		{"https://github.com:8443/acme/app", "", ""},
		{"file://github.com/acme/app", "", ""},
		{"https://github.com/acme%2fother/app/issues/5", "", ""},
		{"https://github.com/acme/%2e%2e/issues/5", "", ""},
		{"https://github.com/acme/../issues/5", "", ""},
		{"acme/app#0", "", ""},
		{"acme/app#05", "", ""},
		{"acme/app#+5", "", ""},
		{"acme/app#-5", "", ""},
		{"acme/app#5/../../other", "", ""},
		{"acme/app#99999999999", "", ""},
		{"acme/app/issues/5", "", ""},
	}
	for _, test := range tests {
		repository, issue := github.Parse(test.text)
		if repository != test.repository || issue != test.issue {
			t.Errorf("%q is the repository %q and the issue %q, want %q and %q", test.text, repository, issue, test.repository, test.issue)
		}
	}
}

func TestNamesOfBranches(t *testing.T) {
	for name, want := range map[string]bool{
		"main": true, "fix/login": true, "fix-#12": true, "v1.0_x": true, "große/änderung": true, "a+b": true, "a=b&c": true,
		"": false, ".": false, "..": false, "../main": false, "a/../b": false, "a//b": false, "/a": false, "a/": false, ".hidden": false, "a/.b": false,
		"a..b": false, "a%2fb": false, "a?b": false, "a:b": false, "a b": false, "a\nb": false, "a\x00": false, "a\u200bb": false, "a\u00a0b": false, "a.lock": false, "a.": false,
		"-a": false, "a@{1}": false, "@": false, `a\b`: false, "a*": false, "octocat:main": false, "\xff": false, strings.Repeat("a", 245): false,
	} {
		if err := github.CheckBranch(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

var pathForm = regexp.MustCompile(`^/(user|search/(issues|code|repositories)|repos/[A-Za-z0-9_-]+/[A-Za-z0-9._-]+(/(issues|pulls|issues/\d+|issues/\d+/comments|pulls/\d+|pulls/\d+/(files|reviews|comments)|git/ref/heads/[^?#]+|compare/[^?#]+\.\.\.[0-9a-f]{40}))?)$`)

// Whatever a model names, what is asked for is one of a few things of GitHub's,
// and never a path that leads elsewhere.
func FuzzPaths(f *testing.F) {
	f.Add("acme/app", "fix/login", "main")
	f.Add("acme/..", "../../user", "%2e%2e")
	f.Add("https://github.com/acme/app/issues/5?x#y", "a#b", "a?b")
	f.Add("acme/app#5", "heads/..;/x", "@")
	h := newHub()
	f.Fuzz(func(t *testing.T, place, head, base string) {
		turn := h.host(t).As(plugintest.Alice, "Look.")
		for tool, arguments := range map[string]map[string]any{
			"github_search":            {"kind": "code", "query": head, "repository": place},
			"github_read_issue":        {"issue": place},
			"github_read_pull_request": {"pull_request": place, "show": "reviews"},
			"github_read_branch":       {"repository": place, "branch": head, "base": base},
			"github_open_pull_request": {"repository": place, "head": head, "base": base, "head_sha": headSHA, "title": "t", "body": "b"},
			"github_create_issue":      {"repository": place, "title": head + "t", "body": base + "b"},
		} {
			turn.Calls(tool, arguments)
		}
		for _, asked := range h.requests() {
			_, path, _ := strings.Cut(asked, " ")
			decoded, err := url.PathUnescape(path)
			if err != nil || !pathForm.MatchString(path) || strings.Contains(decoded, "/../") || strings.HasSuffix(decoded, "/..") {
				t.Errorf("asked for is %q", asked)
			}
		}
		h.forget()
	})
}

func TestSettings(t *testing.T) {
	for variable, want := range map[string]string{
		"GITHUB_API_URL=http://api.github.com":           "GITHUB_API_URL",
		"GITHUB_API_URL=https://user@ghe.example/api/v3": "GITHUB_API_URL",
		"GITHUB_API_URL=https://ghe.example/api/v3?x=1":  "GITHUB_API_URL",
		"GITHUB_API_URL=http://localhost":                "GITHUB_API_URL",
		"GITHUB_API_URL=ghe.example":                     "GITHUB_API_URL",
		"GITHUB_ACCESS=everything":                       "it may be all, public or app",
	} {
		if err := plugintest.Refused(t, github.New(), plugintest.Env(variable)); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", variable, err)
		}
	}
	for api, host := range map[string]string{
		"https://api.github.com": "github.com", "https://api.github.com/": "github.com",
		"https://GHE.example/api/v3/": "ghe.example", "https://api.acme.ghe.com": "acme.ghe.com",
	} {
		for _, tool := range plugintest.New(t, github.New(), plugintest.Env("GITHUB_API_URL="+api)).Extension().Tools {
			if tool.Host == nil {
				continue
			}
			if got, err := tool.Host(nil); got != host || err != nil {
				t.Errorf("%s: %s sends to %q, %v", api, tool.Name, got, err)
			}
		}
	}
}
