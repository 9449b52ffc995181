package mcp

import (
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	long := "a_very_long_name_of_a_tool_that_somebody_has_made_up_for_no_reason"
	tests := []struct {
		server string
		tools  []string
		want   map[string]string
	}{
		{"git", []string{"commit"}, map[string]string{"commit": "mcp_git__commit"}},
		{"git", []string{"get-Sum"}, map[string]string{"get-Sum": "mcp_git__get_sum"}},
		{"git", []string{"get-sum", "get_sum"}, map[string]string{"get-sum": "mcp_git__get_sum_2fb224d8", "get_sum": "mcp_git__get_sum_9096b3e4"}},
		{"git", []string{long}, map[string]string{long: "mcp_git__a_very_long_name_of_a_tool_that_somebody_has_m_3ca10adc"}},
		{"git", []string{"日本", ""}, map[string]string{"日本": "mcp_git_cf2abf0c", "": "mcp_git_e3b0c442"}},
		{"git", []string{"twice", "twice", "once"}, map[string]string{"once": "mcp_git__once"}},
	}
	for _, test := range tests {
		got := toolNames(test.server, test.tools)
		for tool, name := range got {
			if test.want[tool] != name {
				t.Errorf("%.20q is %q, want %q", tool, name, test.want[tool])
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%d names: %v", len(got), got)
		}
	}
}

// Whatever servers and tools are called: no two names meet, each may be one, and
// none depends on the order.
func TestNamesNeverMeet(t *testing.T) {
	form := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	word := rapid.OneOf(rapid.StringMatching(`[aA_.-]{0,4}`), rapid.StringMatching(`[ab_-]{50,70}`), rapid.StringN(0, 6, -1))
	rapid.Check(t, func(t *rapid.T) {
		taken := map[string]bool{}
		servers := rapid.SliceOfDistinct(rapid.StringMatching(`[ab]([ab_]{0,6}[ab])?`), func(name string) string { return sanitise(name) }).Draw(t, "servers")
		for _, server := range servers {
			tools := rapid.SliceOfDistinct(word, func(name string) string { return name }).Draw(t, "tools")
			names := toolNames(sanitise(server), tools)
			if len(names) != len(tools) {
				t.Fatalf("%d of %d tools have a name", len(names), len(tools))
			}
			for _, name := range names {
				if !form.MatchString(name) || taken[name] {
					t.Fatalf("%q is taken (%v), or cannot be", name, taken[name])
				}
				taken[name] = true
			}
			slices.Reverse(tools)
			for tool, name := range toolNames(sanitise(server), tools) {
				if names[tool] != name {
					t.Fatalf("%q is %q or %q", tool, names[tool], name)
				}
			}
		}
	})
}
