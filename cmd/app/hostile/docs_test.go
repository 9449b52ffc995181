package hostile

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../.."

var (
	namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	ruleName  = regexp.MustCompile(`(?m)^\s+[rR]ule\w+\s+(?:Rule )?\s*= "([a-z_]+)"`)
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page for reviewers names tests that there are, and every rule of the gate.
func TestSecurityPageIsTrue(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, "docs/security.md")
	promised := namedTest.FindAllStringSubmatch(page, -1)
	if len(promised) < 20 {
		t.Errorf("the page names %d tests", len(promised))
	}
	for _, m := range promised {
		if !tests[m[1]] {
			t.Errorf("the page names %s, and there is no such test", m[1])
		}
	}
	rules := ruleName.FindAllStringSubmatch(read(t, "plugins/gate/judge.go")+read(t, "plugins/gate/audit.go"), -1)
	if len(rules) < 25 {
		t.Errorf("the gate has %d rules", len(rules))
	}
	for _, m := range rules {
		if !strings.Contains(page, "`"+m[1]+"`") {
			t.Errorf("the page does not tell of the rule %s", m[1])
		}
	}
}
