package app

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fenced      = regexp.MustCompile("(?ms)^```(?:sh|console)?\n(.*?)^```")
	inline      = regexp.MustCompile("`([^`\n]+)`")
	makeCommand = regexp.MustCompile(`^make((?: [a-z-]+)+)$`)
	ourCommand  = regexp.MustCompile(`^(?:go run \./cmd/reeve|(?:\./)?reeve) ([a-z]+)\b`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z-]+):.*## `)
	localLink   = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// makeTargets are the targets that make help lists.
func makeTargets(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, m := range makeTarget.FindAllStringSubmatch(string(text), -1) {
		targets = append(targets, m[1])
	}
	return targets
}

func TestMakeHasItsTargets(t *testing.T) {
	targets := makeTargets(t)
	for _, want := range []string{"help", "test", "race", "chaos", "bench", "lint", "conformance", "full", "fuzz", "deps"} {
		if !slices.Contains(targets, want) {
			t.Errorf("make %s is missing, or without its ## line", want)
		}
	}
}

// Every command that a page tells people to type exists.
func TestCommandsInDocumentsExist(t *testing.T) {
	targets := makeTargets(t)
	commands := []string{"run", "playground", "check", "manifest", "version", "turns", "turn", "outbox", "dead", "memories", "person", "keys", "audit"}
	seen := 0
	for name, text := range sources(t) {
		if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "CHANGELOG") {
			continue
		}
		var lines []string
		for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, strings.Split(block[1], "\n")...)
		}
		for _, code := range inline.FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, code[1])
		}
		for _, line := range lines {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			line, _, _ = strings.Cut(line, " #")
			line = strings.TrimSpace(line)
			if m := makeCommand.FindStringSubmatch(line); m != nil {
				seen++
				for _, target := range strings.Fields(m[1]) {
					if !slices.Contains(targets, target) {
						t.Errorf("%s says make %s, which there is not", name, target)
					}
				}
			}
			if m := ourCommand.FindStringSubmatch(line); m != nil {
				seen++
				if !slices.Contains(commands, m[1]) {
					t.Errorf("%s says reeve %s, which there is not", name, m[1])
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d commands were found in the documents", seen)
	}
}

func TestLinksInDocumentsLead(t *testing.T) {
	for name, text := range sources(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, link := range localLink.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), link[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", name, link[1])
			}
		}
	}
}

func TestReadmeBeginsWithTheTwoCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go run ./cmd/reeve playground", "make test", "reeve manifest", "reeve check", "reeve run", "docs/playground.png"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the README has no %q", want)
		}
	}
}

func TestCIRunsEverything(t *testing.T) {
	file := filepath.Join(root, ".ci/run")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o111 == 0 {
		t.Error(".ci/run cannot be executed")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"deps", "lint", "test", "race", "chaos", "model", "conformance", "fuzz"} {
		if !regexp.MustCompile(`(?m)^suite .*\bmake ` + target + `( |$)`).Match(text) {
			t.Errorf(".ci/run has no suite of make %s", target)
		}
	}
}
