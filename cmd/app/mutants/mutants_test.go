// Package mutants breaks the code on purpose, one rule at a time, and wants a
// test to fail each time: a suite that nobody has seen fail proves nothing. Run
// it by make mutants; no other suite does.
package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

const root = "../../.." // of the repository

// change replaces the one place in a file where old stands.
type change struct{ file, old, new string }

// mutant is a rule that is broken, and the tests of which one has to see it.
type mutant struct {
	what    string
	changes []change
	pkg     string
	tests   string // a pattern
	args    []string
}

func TestEachMutantIsCaught(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Fatal(err)
	}
	rows := make([]string, len(mutants))
	room := make(chan struct{}, 2)
	var group sync.WaitGroup
	for i, m := range mutants {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			by, out, err := run(t.TempDir(), m)
			switch {
			case err != nil:
				t.Errorf("%s: %v\n%s", m.what, err, out)
			case len(by) == 0:
				t.Errorf("%s: NOT CAUGHT by %s in %s\n%s", m.what, m.tests, m.pkg, out)
			}
			rows[i] = m.what + "\t" + strings.Join(by, ", ")
		})
	}
	group.Wait()
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nmutant\tcaught by\n%s\n", strings.Join(rows, "\n"))
	_ = w.Flush()
	t.Log(table.String())
}

// TestUnbrokenCodePasses runs the same tests on the code as it is.
func TestUnbrokenCodePasses(t *testing.T) {
	type suite struct{ pkg, args string }
	tests := map[suite][]string{}
	for _, m := range mutants {
		s := suite{m.pkg, strings.Join(m.args, " ")}
		tests[s] = append(tests[s], m.tests)
	}
	for s, patterns := range tests {
		slices.Sort(patterns)
		all := mutant{pkg: s.pkg, tests: strings.Join(slices.Compact(patterns), "|"), args: strings.Fields(s.args)}
		by, out, err := run(t.TempDir(), all)
		if err != nil || len(by) > 0 || !strings.Contains(out, "--- PASS: ") {
			t.Errorf("%s: %v fail: %v\n%s", s.pkg, by, err, out)
		}
	}
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// TestMutantsFitTheCode wants that each can be made of the code as it is now.
func TestMutantsFitTheCode(t *testing.T) {
	for _, m := range mutants {
		if _, err := m.write(t.TempDir()); err != nil {
			t.Errorf("%s: %v", m.what, err)
		}
	}
}

// write writes the files that a mutant changes into a folder, and answers each one's
// path by that of the file in whose place it stands.
func (m mutant) write(dir string) (map[string]string, error) {
	over := map[string]string{}
	for i, c := range m.changes {
		name, err := filepath.Abs(filepath.Join(root, c.file))
		if err != nil {
			return nil, err
		}
		from := name
		if over[name] != "" {
			from = over[name]
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		if n := strings.Count(string(text), c.old); n != 1 {
			return nil, fmt.Errorf("%s has %d places that read %q: the mutant is to be brought up to date", c.file, n, c.old)
		}
		over[name] = filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(c.file)))
		if err := os.WriteFile(over[name], []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o600); err != nil {
			return nil, err
		}
	}
	return over, nil
}

// run tests a mutant, and answers the tests that failed. The files that it
// changes are laid over those of the repository, which stay as they are.
func run(dir string, m mutant) (by []string, out string, err error) {
	over, err := m.write(dir)
	if err != nil {
		return nil, "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": over})
	if err != nil {
		return nil, "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return nil, "", err
	}
	args := append([]string{"test", "-vet=off", "-count=1", "-v", "-timeout=2m", "-overlay=" + list, "-run=^(" + m.tests + ")$", m.pkg}, m.args...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	raw, err := cmd.CombinedOutput()
	out = string(raw)
	for _, found := range failed.FindAllStringSubmatch(out, -1) {
		by = append(by, found[1])
	}
	slices.Sort(by)
	if err != nil && len(by) == 0 {
		return nil, out, fmt.Errorf("the tests did not run: %w", err)
	}
	return by, out, nil
}
