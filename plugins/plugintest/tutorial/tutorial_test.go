// Package tutorial follows docs/plugins.md, as an author does.
package tutorial

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	outside  = "../testdata/outside"
	tutorial = "../../../docs/plugins.md"
)

var (
	fileBlock    = regexp.MustCompile("(?ms)^```go\n// (\\S+\\.go)\n(.*?)^```$")
	commandBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
)

// The page tells of the module that stands in testdata/outside, and of nothing
// else.
func TestTheTutorialHoldsTheOutsideModule(t *testing.T) {
	page, err := os.ReadFile(tutorial)
	if err != nil {
		t.Fatal(err)
	}
	told, there := map[string]string{}, map[string]string{}
	for _, block := range fileBlock.FindAllStringSubmatch(string(page), -1) {
		told[block[1]] = block[2]
	}
	err = filepath.WalkDir(outside, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "go.mod" {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(outside, name)
		there[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(there, told); diff != "" {
		t.Error(diff)
	}
}

// Whoever types the page's commands, with the page's files, has a bot of his own
// whose plugin is tested.
func TestTheTutorialsCommandsWork(t *testing.T) {
	page, err := os.ReadFile(tutorial)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	blocks := commandBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of commands, and this test knows two", len(blocks))
	}
	dir := t.TempDir()
	// The copy of the repository is this one.
	sh(t, dir, strings.ReplaceAll(blocks[0][1], "../reeve", root))
	dir = filepath.Join(dir, "ourbot")
	if err := os.CopyFS(dir, without(t, "go.mod")); err != nil {
		t.Fatal(err)
	}
	if out := sh(t, dir, blocks[1][1]); !strings.HasSuffix(strings.TrimSpace(out), "ourbot 1.0") || !strings.Contains(out, "ok  \texample.com/ourbot/lunch") {
		t.Errorf("the commands say:\n%s", out)
	}
	// Its own plugin is compiled in, and the example is held back.
	check := exec.Command(filepath.Join(dir, "ourbot"), "check")
	check.Dir, check.Env = t.TempDir(), []string{"PLUGINS=nothing", "SLACK_API_URL=http://127.0.0.1:1/api/"}
	if out, _ := check.CombinedOutput(); !strings.Contains(string(out), "it may hold clock, echo, lunch") {
		t.Errorf("check says:\n%s", out)
	}
}

// without is the outside module less one file.
func without(t *testing.T, name string) fs.FS {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(outside)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	return os.DirFS(dir)
}

// sh types commands, as one does: the first that fails ends it.
func sh(t *testing.T, dir, commands string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", commands)
	cmd.Dir = dir
	// A workspace or flags of whoever runs this test are not the reader's.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\nended with %v:\n%s", commands, err, out)
	}
	return string(out)
}
