package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDotenvReads(t *testing.T) {
	got, err := parseDotenv("\ufeff# a comment\n\nA=plain value # said why\n export B = 'kept $A \\n # so'\r\nC=\"two\\nlines \\\"quoted\\\"\" # c\nD=\nE= # nothing\nF=a#b\nG=x=y\n")
	want := map[string]string{
		"A": "plain value", "B": `kept $A \n # so`, "C": "two\nlines \"quoted\"",
		"D": "", "E": "", "F": "a#b", "G": "x=y",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, difference:\n%s", err, diff)
	}
}

func TestDotenvErrorsNameTheLineAndNoValue(t *testing.T) {
	for text, want := range map[string]string{
		"A=1\nsecretvalue\n":     "line 2: want NAME=VALUE",
		"1A=secretvalue":         "line 1: want NAME=VALUE",
		"A B=secretvalue":        "line 1: want NAME=VALUE",
		"A=secretvalue\n\nA=2":   "line 3: A is set twice",
		"A='secretvalue":         "line 1: A: the closing quote is missing",
		`A="secretvalue\`:        "line 1: A: the closing quote is missing",
		`A="secretvalue" more`:   "line 1: A: something stands after the closing quote",
		`A="secretvalue \$HOME"`: `line 1: A: \$ is not understood in double quotes; use single quotes to keep it`,
	} {
		_, err := parseDotenv(text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secretvalue") {
			t.Errorf("%q: the error shows the value", text)
		}
	}
}

func TestProcessWinsOverDotenv(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte("A=file\nB=file\nC=file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := environment([]string{"A=process", "B=", "=odd", "D=a=b"}, file)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"A": "process", "B": "", "C": "file", "D": "a=b"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

func TestMissingDotenvIsNoError(t *testing.T) {
	if _, err := environment(nil, filepath.Join(t.TempDir(), "none")); err != nil {
		t.Error(err)
	}
	if _, err := environment(nil, t.TempDir()); err == nil {
		t.Error("a directory is read as .env")
	}
}
