package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/cmd/app/apptest/golden"
)

// root is the top of the repository.
const root = "../.."

// holds compares a file of the repository with what the code makes of it.
func holds(t *testing.T, name, want string) {
	t.Helper()
	golden.Holds(t, filepath.Join(root, name), want)
}

func TestEnvExampleIsTheStruct(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Copy this to .env and take the # from what you set. docs/configuration.md says\n# more. What the environment sets wins over this file.\n")
	for _, s := range settingsList() {
		if s.Group != "" {
			fmt.Fprintf(&b, "\n# ---- %s\n", s.Group)
		}
		later := ""
		if s.Later {
			later = " Not used yet."
		}
		fmt.Fprintf(&b, "\n# %s%s\n# May be %s.\n#%s=%s\n", s.Doc, later, s.MayBe(), s.Name, s.Default)
	}
	holds(t, ".env.example", b.String())
}

func TestEnvExampleCanBeUsed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".env.example"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if name, _, found := strings.Cut(strings.TrimPrefix(line, "#"), "="); found && variableName.MatchString(name) {
			lines = append(lines, strings.TrimPrefix(line, "#"))
		}
	}
	variables, err := parseDotenv(strings.Join(lines, ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(variables) != len(settingsList()) {
		t.Errorf("%d settings are in the file, %d in the struct", len(variables), len(settingsList()))
	}
	got, err := ParseSettings(variables)
	if err != nil {
		t.Fatal(err)
	}
	none, _ := ParseSettings(nil)
	if diff := cmp.Diff(fmt.Sprintf("%+v", none), fmt.Sprintf("%+v", got)); diff != "" {
		t.Error("the example's values are not the defaults:\n" + diff)
	}
}

const (
	tableBegins = "<!-- The tables up to the end mark are made from cmd/app/settings.go: go test ./cmd/app -update -->\n"
	tableEnds   = "<!-- end of the tables -->\n"
)

func TestConfigurationPageIsTheStruct(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatal("docs/configuration.md has lost the marks around its tables")
	}
	var b strings.Builder
	for _, s := range settingsList() {
		if s.Group != "" {
			fmt.Fprintf(&b, "\n### %s\n\n| variable | default | may be | what it does |\n|---|---|---|---|\n", s.Group)
		}
		def := "empty"
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}
		doc := s.Doc
		if s.Later {
			doc += " **Not used yet.**"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, def, s.MayBe(), doc)
	}
	b.WriteString("\n")
	holds(t, "docs/configuration.md", before+tableBegins+b.String()+tableEnds+after)
}

// Every recipe's lines are settings that may be.
func TestRecipesParse(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```sh\n")[1:]
	if len(blocks) < 4 {
		t.Fatalf("only %d recipes", len(blocks))
	}
	known := map[string]bool{}
	for _, s := range settingsList() {
		known[s.Name] = true
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		variables, err := parseDotenv(text)
		if err != nil {
			t.Errorf("%v in:\n%s", err, text)
		}
		for name := range variables {
			if !known[name] {
				t.Errorf("a recipe sets %s, which is no setting", name)
			}
		}
		if _, err := ParseSettings(variables); err != nil {
			t.Errorf("a recipe is refused: %v", err)
		}
	}
}

func TestManifestFileIsWhatIsPrinted(t *testing.T) {
	holds(t, "manifest.yml", manifest())
}
