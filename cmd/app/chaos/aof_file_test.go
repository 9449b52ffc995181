package chaos

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

// aof is the append-only file of a server, as it stands on its disk.
type aof struct {
	files map[string][]byte // by their path below the server's directory
	name  string            // of the file that grows
	// borders are the offsets behind each command, and steps those behind each
	// step: a script's whole record, from MULTI to EXEC, or one command alone.
	borders, steps []int
}

// readAOF reads the files of a server that has ended.
func readAOF(t *testing.T, s *redistest.Server) aof {
	t.Helper()
	a := aof{files: map[string][]byte{}}
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
			a.name = name
		}
	}
	if err := a.parse(); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *aof) parse() error {
	text, open := a.files[a.name], false
	for at := 0; at < len(text); {
		name, end, err := command(text, at)
		if err != nil {
			return fmt.Errorf("parse append-only file at %d: %w", at, err)
		}
		at = end
		a.borders = append(a.borders, at)
		switch name {
		case "MULTI":
			open = true
		case "EXEC":
			open = false
		}
		if !open {
			a.steps = append(a.steps, at)
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

// before is the last border of a step that is not behind an offset.
func (a *aof) before(offset int) int {
	border := 0
	for _, s := range a.steps {
		if s <= offset {
			border = s
		}
	}
	return border
}

// put gives a server that has ended the file up to an offset, as a crash in the
// middle of a write would have left it.
func (a *aof) put(t *testing.T, s *redistest.Server, offset int) {
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
		if err := os.WriteFile(filepath.Join(s.Dir(), name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
