package golden

import (
	"bytes"
	"encoding/json"
	"sync"
)

// line is one line of the log that a replica writes.
type line map[string]any

func (l line) text(key string) string {
	s, _ := l[key].(string)
	return s
}

// list is an attribute that holds texts.
func (l line) list(key string) []string {
	items, _ := l[key].([]any)
	var out []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// journal is what all replicas of one place have logged, and what they wrote
// that is no log.
type journal struct {
	written func() // called after each line

	mu    sync.Mutex
	lines []line
	raw   []string
}

// writer gives one process its way into the journal: processes must not write
// into each other's lines.
func (j *journal) writer() *journalWriter { return &journalWriter{journal: j} }

type journalWriter struct {
	journal *journal
	rest    []byte
}

func (w *journalWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		text, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.journal.add(string(text))
		w.rest = rest
	}
}

func (j *journal) add(text string) {
	var l line
	err := json.Unmarshal([]byte(text), &l)
	j.mu.Lock()
	if err == nil {
		j.lines = append(j.lines, l)
	}
	j.raw = append(j.raw, text)
	j.mu.Unlock()
	j.written()
}

// all are the lines so far.
func (j *journal) all() []line {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines[:len(j.lines):len(j.lines)]
}

// texts are the lines as they were written.
func (j *journal) texts() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.raw[:len(j.raw):len(j.raw)]
}

// with are the lines with a message, and with an attribute where one is named.
func (j *journal) with(msg string, attribute ...string) []line {
	var found []line
	for _, l := range j.all() {
		if l.text("msg") == msg && (len(attribute) == 0 || l.text(attribute[0]) == attribute[1]) {
			found = append(found, l)
		}
	}
	return found
}
