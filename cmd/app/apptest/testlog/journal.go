// Package testlog keeps what a test's own code logs, for waiting and reading.
package testlog

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds a wait. A loaded machine is no failure.
const patience = 30 * time.Second

// Journal is a log that can be waited for.
type Journal struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed at each line; nil while nobody waits
}

func (j *Journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.Write(line)
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
	return len(line), nil
}

func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Wait waits until the log holds a text n times.
func (j *Journal) Wait(t *testing.T, want string, n int) {
	t.Helper()
	for late := time.After(patience); ; {
		text, changed := j.now()
		if strings.Count(text, want) >= n {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%q is not in the log %d times:\n%s", want, n, text)
		}
	}
}

// now is the log as it is, and a channel that is closed when it has become longer.
func (j *Journal) now() (string, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.text.String(), j.changed
}
