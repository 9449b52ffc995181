package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testName = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")

// The page of promises names each of them, and for each a test that exists.
func TestReliabilityNamesTestsThatExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for name, text := range sources(t) {
		if strings.HasSuffix(name, "_test.go") {
			code.Write(text)
		}
	}
	tests := code.String()
	for _, m := range testName.FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(tests, "\nfunc "+m[1]+"(t *testing.T) {") {
			t.Errorf("docs/reliability.md names %s, which there is not", m[1])
		}
	}
	for n := 1; n <= 11; n++ {
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| P%d \\|.*`TestP%d_", n, n))
		if !row.Match(page) {
			t.Errorf("docs/reliability.md names no test of P%d", n)
		}
	}
}
