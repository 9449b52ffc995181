package connecting

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// canary is a secret that is looked for.
type canary struct{ name, value string }

// forms are the texts of which one stands wherever the canary does, whole or its
// first or second half: as it is, and as it is written in URLs, in base64 in
// whatever place of a longer text, in hex, and as bytes are printed.
func (c canary) forms() []string {
	var forms []string
	half := len(c.value) / 2
	for _, part := range []string{c.value[:half], c.value[half:]} {
		for _, text := range []string{part, url.QueryEscape(part), strings.ToLower(url.QueryEscape(part))} {
			forms = append(forms, text, url.QueryEscape(text))
			for skip := range 3 { // whole groups of three bytes
				whole := text[skip:]
				whole = whole[:len(whole)/3*3]
				for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
					forms = append(forms, coding.EncodeToString([]byte(whole)), url.QueryEscape(coding.EncodeToString([]byte(whole))))
				}
			}
			forms = append(forms, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))),
				strings.Trim(fmt.Sprint([]byte(text)), "[]"), strings.ReplaceAll(strings.Trim(fmt.Sprintf("% #x", text), "[]"), " ", ", "))
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// in answers what of it stands in a text; empty: nothing.
func (c canary) in(text string) string {
	for _, form := range c.forms() {
		if at := strings.Index(text, form); at >= 0 {
			return fmt.Sprintf("%q in %q", form, text[max(0, at-80):min(len(text), at+len(form)+20)])
		}
	}
	return ""
}

// files are all below a directory, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found[entry.Name()] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
