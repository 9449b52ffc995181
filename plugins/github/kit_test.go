package github_test

import (
	"regexp"
	"testing"

	"reeve/plugins"
	"reeve/plugins/plugintest"
)

var versionLine = regexp.MustCompile(`(?m)^version: (\S+)$`)

// version is that of the issue or pull request of acme/app, as Alice reads it.
func (h *hub) version(t testing.TB, number int) string {
	t.Helper()
	tool, arguments := "github_read_issue", map[string]any{"issue": "acme/app#5"}
	if number == 7 {
		tool, arguments = "github_read_pull_request", map[string]any{"pull_request": "acme/app#7"}
	}
	result := h.host(t).As(plugintest.Alice, "Read it.").Calls(tool, arguments)
	found := versionLine.FindStringSubmatch(result.Text)
	if result.Error || found == nil {
		t.Fatalf("no version: %s", result.Text)
	}
	return found[1]
}

// done and refused are what a result must be.
func done(t *testing.T, r plugins.Result) string {
	t.Helper()
	if r.Error {
		t.Errorf("it was refused: %s", r.Text)
	}
	return r.Text
}
