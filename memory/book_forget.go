package memory

import (
	"slices"
	"strings"
	"time"
)

// forget takes memories out of use, with what they have replaced, and answers
// those that it found. by is the call that asks for it, and empty for a button.
// A call that is made again finds what it has forgotten.
func (b *book) forget(now time.Time, by string, ids ...string) []Memory {
	var gone []Memory
	for _, id := range ids {
		m, ok := b.entries[id]
		if !ok || !m.holds(now) && (by == "" || m.ForgottenBy != by) {
			continue
		}
		gone = append(gone, m)
		for _, m := range b.line(id) {
			if m.Forgotten.IsZero() {
				m.Forgotten, m.ForgottenBy = now, by
				b.put(m)
			}
		}
	}
	return gone
}

// forgot reports whether another call of a call's turn has forgotten something.
func (b *book) forgot(by string) bool {
	turn, _, _ := strings.Cut(by, "/")
	for _, m := range b.entries {
		if m.ForgottenBy != by && strings.HasPrefix(m.ForgottenBy, turn+"/") {
			return true
		}
	}
	return false
}

// line is a memory and all that it has replaced.
func (b *book) line(id string) []Memory {
	line, ids := []Memory{}, []string{id}
	for i := 0; i < len(ids); i++ {
		line = append(line, b.entries[ids[i]])
		for other, m := range b.entries {
			if m.ReplacedBy == ids[i] && !slices.Contains(ids, other) {
				ids = append(ids, other)
			}
		}
	}
	return line
}

// restore brings back what was forgotten within a day, with what it has
// replaced, unless something newer has taken its place meanwhile.
func (b *book) restore(now time.Time, ids ...string) []Memory {
	var back []Memory
	for _, id := range ids {
		m, ok := b.entries[id]
		if !ok || !m.returns(now) || len(b.about(m, now)) > 0 {
			continue
		}
		for _, m := range b.line(id) {
			m.Forgotten, m.ForgottenBy = time.Time{}, ""
			b.put(m)
		}
		back = append(back, b.entries[id])
	}
	return back
}
