package app

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the direction of imports inside the module: a package may
// import those named for it. "x/*" stands for every package below x.
var mayImport = map[string][]string{
	"runtime/chat":         {},
	"plugins":              {"runtime/chat"},
	"plugins/*":            {"plugins", "runtime/chat"},
	"plugins/outbound":     {},
	"plugins/settings":     {},
	"plugins/plugintest":   {"plugins", "plugins/settings", "runtime/chat"},
	"plugins/web":          {"plugins", "plugins/outbound", "runtime/chat"},
	"agent":                {"plugins", "runtime/chat"},
	"agent/*":              {"agent", "plugins", "runtime/chat"},
	"runtime/mailbox":      {"runtime/chat"},
	"runtime/mailbox/*":    {"runtime/mailbox", "runtime/chat"},
	"runtime":              {"agent", "plugins", "runtime/chat", "runtime/mailbox"},
	"slackapp":             {"plugins", "runtime", "runtime/chat", "runtime/mailbox", "slackapp/render"},
	"slackapp/simulator":   {"runtime/chat"},
	"slackapp/*":           {"runtime/chat"},
	"slackapp/simulator/*": {"runtime/chat", "slackapp/simulator"},
	"memory":               {"plugins", "runtime/chat"},
	"credentials":          {"plugins", "runtime/chat"},
	"credentials/oauth":    {"credentials", "plugins", "plugins/outbound", "plugins/settings", "runtime/chat"},
	"cmd/app":              {"*"},
	"cmd/app/apptest":      {"*"}, // kits for tests: nothing imports them but these
	"cmd/app/apptest/*":    {},
	"cmd/reeve":            {"cmd/app", "plugins", "plugins/*", "memory"},
}

// mayUse says which packages may import a client of the outside world.
var mayUse = map[string][]string{
	"github.com/redis/go-redis":         {"runtime/mailbox", "runtime/mailbox/*", "memory", "credentials"},
	"github.com/alicebob/miniredis":     {"runtime/mailbox", "runtime/mailbox/*"},
	"github.com/slack-go/slack":         {"slackapp", "slackapp/*"},
	"github.com/sashabaranov/go-openai": {"agent/openai"},
	"github.com/caarlos0/env":           {"cmd/app", "plugins/settings"},
	"github.com/alecthomas/kong":        {"cmd/app"},
}

// sources are the files of the repository, by their slashed path.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		if d.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "bin"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if d.Name() == ".env" || d.Name() == "reeve" && path.Dir(filepath.ToSlash(rel)) == "." || !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		files[filepath.ToSlash(rel)] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 30 || files["go.mod"] == nil {
		t.Fatalf("only %d files were found", len(files))
	}
	return files
}

// eachGo parses every Go file.
func eachGo(t *testing.T, mode parser.Mode, do func(name string, text []byte, file *ast.File, set *token.FileSet)) {
	t.Helper()
	for name, text := range sources(t) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, mode)
		if err != nil {
			t.Errorf("parse: %v", err)
			continue
		}
		do(name, text, file, set)
	}
}

// in reports whether a package is named in a list.
func in(list []string, pkg string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		prefix, all := strings.CutSuffix(entry, "*")
		return entry == pkg || all && strings.HasPrefix(pkg, prefix)
	})
}

// rule is the entry of the longest name in mayImport that fits a package.
func rule(pkg string) (allowed []string, known bool) {
	best := -1
	for name, list := range mayImport {
		if prefix, all := strings.CutSuffix(name, "*"); name == pkg || all && strings.HasPrefix(pkg, prefix) && len(name) > best {
			allowed, known, best = list, true, len(name)
			if name == pkg {
				return allowed, true
			}
		}
	}
	return allowed, known
}

func TestImportsPointOneWay(t *testing.T) {
	eachGo(t, parser.ImportsOnly, func(name string, _ []byte, file *ast.File, _ *token.FileSet) {
		if strings.HasSuffix(name, "_test.go") {
			return // a test may stand outside the house that it looks at
		}
		pkg := path.Dir(name)
		if strings.Contains(pkg, "/testdata/") {
			return // a module of its own, as other people's are
		}
		allowed, known := rule(pkg)
		if !known {
			t.Errorf("%s: the package %s is not in the import table", name, pkg)
			return
		}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if ours, found := strings.CutPrefix(imported, "reeve/"); found {
				if !in(allowed, ours) {
					t.Errorf("%s imports %s", name, ours)
				}
				continue
			}
			for library, users := range mayUse {
				if (imported == library || strings.HasPrefix(imported, library+"/")) && !in(users, pkg) {
					t.Errorf("%s imports %s", name, imported)
				}
			}
			if (pkg == "runtime/chat" || pkg == "plugins/echo") && strings.Contains(strings.Split(imported, "/")[0], ".") {
				t.Errorf("%s imports %s, and may import the standard library alone", name, imported)
			}
		}
	})
}

// A test that sleeps is slow where it passes and fails where it is slow.
func TestNoTestSleeps(t *testing.T) {
	eachGo(t, 0, func(name string, _ []byte, file *ast.File, set *token.FileSet) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					t.Errorf("%s sleeps", set.Position(n.Pos()))
				}
			}
			return true
		})
	})
}

// Packages are given what they need: only the settings read the environment.
func TestOnlyTheSettingsReadTheEnvironment(t *testing.T) {
	eachGo(t, 0, func(name string, _ []byte, file *ast.File, set *token.FileSet) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "cmd/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Getenv", "LookupEnv", "Environ"}, sel.Sel.Name) {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "os" {
					t.Errorf("%s reads the environment", set.Position(n.Pos()))
				}
			}
			return true
		})
	})
}

func TestGoFilesAreFormatted(t *testing.T) {
	eachGo(t, 0, func(name string, text []byte, _ *ast.File, _ *token.FileSet) {
		if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
			t.Errorf("%s: run gofmt -w (%v)", name, err)
		}
	})
}

// forbidden are texts that stand in no file. They are put together here, so
// that this file does not hold them.
var forbidden = []struct {
	form *regexp.Regexp
	why  string
}{
	{regexp.MustCompile("(?i)request" + "er(?:[^r]|$)"), "the word is actor, or author: see docs/words.md"},
	{regexp.MustCompile(`/(?:wo` + `rk|ro` + `ot|ho` + `me)/[a-z]`), "a path of somebody's machine"},
	{regexp.MustCompile(`(?i)\b(?:regis` + `try\.[a-z]|pro` + `xy\.golang|[a-z.-]*\bmirr` + `or\.[a-z])`), "the host of a package registry"},
	{regexp.MustCompile(`\b(?:des` + `ign|sla` + `ck|for` + `mats|sty` + `le|ca` + `ses)\.md\b`), "a document that is not in the repository"},
	{regexp.MustCompile(`\b(?:xo` + `x[bpars]-[0-9]{6,}-|xa` + `pp-1-A[0-9A-Z]{8,}-)`), "what looks like a token of Slack's"},
}

func TestNoFileHoldsWhatItMustNot(t *testing.T) {
	for name, text := range sources(t) {
		if bytes.IndexByte(text, 0) >= 0 {
			continue // an image
		}
		for _, f := range forbidden {
			if at := f.form.FindIndex(text); at != nil {
				t.Errorf("%s:%d: %q: %s", name, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]], f.why)
			}
		}
	}
}

// A setting that is said to have no effect yet is read nowhere, and every other
// one is read somewhere.
func TestSettingsMarkedLaterAreUnused(t *testing.T) {
	read := map[string]bool{}
	eachGo(t, 0, func(name string, _ []byte, file *ast.File, _ *token.FileSet) {
		if path.Dir(name) != "cmd/app" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(path.Base(name), "settings") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				read[sel.Sel.Name] = true
			}
			return true
		})
	})
	for _, s := range settingsList() {
		switch {
		case s.Later && read[s.Field]:
			t.Errorf("%s is used, and documented as not used yet", s.Name)
		case !s.Later && !read[s.Field]:
			t.Errorf("%s is documented as used, and nothing reads it", s.Name)
		}
	}
}
