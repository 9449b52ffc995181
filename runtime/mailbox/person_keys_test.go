package mailbox_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"reeve/runtime/mailbox"
)

// A key of a kind that a search for what is held of a person does not know would
// be left out of it.
func TestEveryKindOfKeyIsKnownToTheSearch(t *testing.T) {
	inGo := regexp.MustCompile(`\+ ":?([a-z_]+)`)
	inLua := regexp.MustCompile(`P \.\. '([a-z_]+):?'`)
	var kinds []string
	read := func(name string, form *regexp.Regexp) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range form.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(kinds, m[1]) {
				kinds = append(kinds, m[1])
			}
		}
	}
	read("keys.go", inGo)
	scripts, err := filepath.Glob("*.lua")
	if err != nil || len(scripts) < 20 {
		t.Fatalf("the scripts: %v, %v", scripts, err)
	}
	for _, name := range scripts {
		read(name, inLua)
	}
	for _, no := range []string{"owner", "work"} { // channels of pub/sub, which keep nothing
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == no })
	}
	known := mailbox.KeyKinds()
	slices.Sort(kinds)
	slices.Sort(known)
	if !slices.Equal(kinds, known) {
		t.Errorf("the sources write keys of the kinds\n%v\nand the search knows\n%v", kinds, known)
	}
}
