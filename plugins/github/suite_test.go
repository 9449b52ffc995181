package github_test

import (
	"testing"

	"reeve/plugins/github"
	"reeve/plugins/plugintest"
)

func TestSuite(t *testing.T) {
	h := newHub()
	h.still = true
	version := h.version(t, 5)
	plugintest.Suite(t, github.New, append(h.around(), plugintest.Calls(60), plugintest.Apps("acme"),
		plugintest.Example("github_search", `{"kind":"issues","query":"login"}`),
		plugintest.Example("github_read_issue", `{"issue":"acme/app#5"}`),
		plugintest.Example("github_read_pull_request", `{"pull_request":"https://github.com/acme/app/pull/7","show":"diff"}`),
		plugintest.Example("github_read_branch", `{"repository":"acme/app","branch":"fix/login"}`),
		plugintest.Example("github_create_issue", `{"repository":"acme/app","title":"It fails","body":"Always."}`),
		plugintest.Example("github_comment", `{"issue":"acme/app#5","body":"Thanks.","version":"`+version+`"}`),
		plugintest.Example("github_open_pull_request", `{"repository":"acme/app","head":"fix/login","base":"main","head_sha":"`+headSHA+`","title":"Fix","body":"It."}`),
	)...)
}
