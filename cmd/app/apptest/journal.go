package apptest

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// Line is one line of the log that a process writes.
type Line map[string]any

// Text is an attribute that is a text; empty where there is none.
func (l Line) Text(key string) string {
	s, _ := l[key].(string)
	return s
}

// List is an attribute that holds texts.
func (l Line) List(key string) []string {
	items, _ := l[key].([]any)
	var out []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Journal is what processes have logged, and what they wrote that is no log.
type Journal struct {
	written func() // called after each line

	mu    sync.Mutex
	lines []Line
	raw   []string
}

func (j *Journal) add(text string) {
	var l Line
	err := json.Unmarshal([]byte(text), &l)
	j.mu.Lock()
	if err == nil {
		j.lines = append(j.lines, l)
	}
	j.raw = append(j.raw, text)
	j.mu.Unlock()
	j.look()
}

// look lets whoever waits for a line look again.
func (j *Journal) look() {
	if j.written != nil {
		j.written()
	}
}

// All are the lines so far.
func (j *Journal) All() []Line {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines[:len(j.lines):len(j.lines)]
}

// Texts are the lines as they were written.
func (j *Journal) Texts() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.raw[:len(j.raw):len(j.raw)]
}

// With are the lines with a message, and with an attribute where one is named.
func (j *Journal) With(msg string, attribute ...string) []Line {
	var found []Line
	for _, l := range j.All() {
		if l.Text("msg") == msg && (len(attribute) == 0 || l.Text(attribute[0]) == attribute[1]) {
			found = append(found, l)
		}
	}
	return found
}

// Holding counts the lines that hold all of some texts.
func (j *Journal) Holding(texts ...string) int {
	n := 0
line:
	for _, raw := range j.Texts() {
		for _, text := range texts {
			if !strings.Contains(raw, text) {
				continue line
			}
		}
		n++
	}
	return n
}

// lineWriter cuts what one process writes into lines, for several journals:
// processes must not write into each other's lines.
type lineWriter struct {
	journals []*Journal
	rest     []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		text, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		for _, j := range w.journals {
			j.add(string(text))
		}
		w.rest = rest
	}
}
