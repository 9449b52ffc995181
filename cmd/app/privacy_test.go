package app

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/credentials"
	"reeve/memory"
	"reeve/runtime/mailbox"
)

// docs/privacy.md says of every kind of key what of a person is in it, and of
// no other.
func TestPrivacyPageNamesEveryKindOfRecord(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/privacy.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	_, table, found := strings.Cut(page, "| key | what of a person is in it | kept for | export | erase |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if !found {
		t.Fatal("the page has lost its table")
	}
	var rows []string
	for line := range strings.Lines(table) {
		if m := regexp.MustCompile("^\\| `([a-z_]+)` \\|").FindStringSubmatch(line); m != nil {
			rows = append(rows, m[1])
		}
	}
	kinds := slices.Concat(mailbox.KeyKinds(), memory.KeyKinds(), credentials.KeyKinds())
	for _, kind := range kinds {
		if n := len(slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return row != kind })); n != 1 {
			t.Errorf("%d rows are about keys of the kind %q", n, kind)
		}
	}
	for _, row := range rows {
		if !slices.Contains(kinds, row) {
			t.Errorf("no key is of the kind %q", row)
		}
	}
	for _, kind := range mailbox.HeldKinds {
		if !strings.Contains(table, "`"+string(kind)+"`") {
			t.Errorf("the table does not say what the export's %q comes from", kind)
		}
		if heldWords[kind] == "" {
			t.Errorf("an erasure has no words for the kind %q", kind)
		}
	}
	for _, name := range regexp.MustCompile("`([A-Z]+_[A-Z_]+)[`=]").FindAllStringSubmatch(page, -1) {
		if !slices.ContainsFunc(settingsList(), func(s setting) bool { return s.Name == name[1] }) {
			t.Errorf("the page names %s, which is no setting", name[1])
		}
	}
}
