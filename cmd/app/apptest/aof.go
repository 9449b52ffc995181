package apptest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reeve/runtime/mailbox/redistest"
)

// AOF is the append-only file of a server that has ended, as it stands on its
// disk.
type AOF struct {
	// Text is the file that grows.
	Text []byte
	// Borders are the offsets behind each command, and Steps those behind each
	// step: a script's whole record, from MULTI to EXEC, or one command alone.
	Borders, Steps []int

	files map[string][]byte // by their path below the server's directory
	name  string            // of the file that grows
}

// ReadAOF reads the files of a server that has ended.
func ReadAOF(t testing.TB, s *redistest.Server) *AOF {
	t.Helper()
	a := &AOF{files: map[string][]byte{}}
	for _, path := range s.AOF() {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(s.Dir(), path)
		if err != nil {
			t.Fatal(err)
		}
		a.files[name] = text
		if strings.HasSuffix(name, ".incr.aof") {
			a.name, a.Text = name, text
		}
	}
	if err := a.parse(); err != nil {
		t.Fatal(err)
	}
	return a
}

// parse finds the borders. A command that a crash has cut off stands behind the
// last of them.
func (a *AOF) parse() error {
	open := false
	for at := 0; at < len(a.Text); {
		name, end, err := command(a.Text, at)
		if err != nil && len(a.Borders) == 0 {
			return fmt.Errorf("parse append-only file: %w", err)
		}
		if err != nil {
			return nil
		}
		at = end
		a.Borders = append(a.Borders, at)
		switch name {
		case "MULTI":
			open = true
		case "EXEC":
			open = false
		}
		if !open {
			a.Steps = append(a.Steps, at)
		}
	}
	return nil
}

// command is the name of the command that begins at an offset, and where it
// ends.
func command(text []byte, at int) (name string, end int, err error) {
	number := func(sign byte) (n int) {
		line, _, ok := bytes.Cut(text[at:], []byte("\r\n"))
		if !ok || len(line) < 2 || line[0] != sign {
			err = fmt.Errorf("no %q", sign)
			return 0
		}
		if n, err = strconv.Atoi(string(line[1:])); err != nil {
			return 0
		}
		at += len(line) + 2
		return n
	}
	for i := range number('*') {
		n := number('$')
		if err != nil || at+n+2 > len(text) {
			return "", 0, fmt.Errorf("argument %d: %w", i, err)
		}
		if i == 0 {
			name = strings.ToUpper(string(text[at : at+n]))
		}
		at += n + 2
	}
	return name, at, err
}

// Before is the last border of a step that is not behind an offset.
func (a *AOF) Before(offset int) int {
	border := 0
	for _, s := range a.Steps {
		if s <= offset {
			border = s
		}
	}
	return border
}

// Put gives a server that has ended the file up to an offset, as a crash in the
// middle of a write would have left it.
func (a *AOF) Put(t testing.TB, s *redistest.Server, offset int) {
	t.Helper()
	for _, path := range s.AOF() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range a.files {
		if name == a.name {
			text = text[:offset]
		}
		path := filepath.Join(s.Dir(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Lacking are the steps of a that b has not, in a's order: what was written in
// the one server and never reached the other.
func (a *AOF) Lacking(b *AOF) (steps []string) {
	has := map[string]int{}
	for _, step := range b.steps() {
		has[step]++
	}
	for _, step := range a.steps() {
		if has[step]--; has[step] < 0 {
			steps = append(steps, step)
		}
	}
	return steps
}

func (a *AOF) steps() (steps []string) {
	from := 0
	for _, to := range a.Steps {
		steps = append(steps, string(a.Text[from:to]))
		from = to
	}
	return steps
}
