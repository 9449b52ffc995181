package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"
)

const (
	// most is how many memories an owner can have at a time.
	most = 200
	// undo is for how long a forgotten memory can be brought back.
	undo = 24 * time.Hour
	// history is for how long a replaced memory is kept, to be looked up.
	history = 30 * day
)

// errOneATurn: a turn has forgotten something already, and nobody was asked
// about the next.
var errOneATurn = errors.New("this turn has forgotten something already")

// book is all that is remembered of one owner. Its methods change it in memory;
// the store writes what has changed, or nothing when somebody else was faster.
type book struct {
	version int64
	entries map[string]Memory
	changed map[string]bool // ids that were written or taken out
	strange int             // records that cannot be read, and are left alone
	due     bool            // it is to be written even when nothing has changed
}

func newBook() *book { return &book{entries: map[string]Memory{}, changed: map[string]bool{}} }

func (b *book) put(m Memory) {
	b.entries[m.ID] = m
	b.changed[m.ID] = true
}

// outcome is what became of a memory that was to be added.
type outcome string

const (
	added    outcome = "added"
	known    outcome = "known"    // the same is remembered already
	replaced outcome = "replaced" // it has taken an older one's place
	full     outcome = "full"     // the owner has as many as he may have
)

// add takes memories in. One that says what is known changes nothing; one of
// the same kind and topic takes the older one's place. Who has written before
// adds nothing: it is a task or a call that is made again.
func (b *book) add(now time.Time, memories ...Memory) []outcome {
	outcomes, wrote := make([]outcome, len(memories)), b.writers()
	for i, m := range memories {
		m.ID = idOf(m)
		older := b.about(m, now)
		switch {
		case wrote[m.By] || b.says(m, now):
			outcomes[i] = known
			continue
		case len(older) > 0:
			outcomes[i] = replaced
		case len(b.held(now)) >= most:
			outcomes[i] = full
			continue
		default:
			outcomes[i] = added
		}
		for _, o := range older {
			o.ReplacedBy, o.Expires = m.ID, now.Add(history)
			b.put(o)
		}
		b.put(m)
	}
	return outcomes
}

// writers are the calls and tasks that have written into the book.
func (b *book) writers() map[string]bool {
	writers := map[string]bool{}
	for _, m := range b.entries {
		if m.By != "" {
			writers[m.By] = true
		}
	}
	return writers
}

// idOf is a memory's id. It is made of what the memory says and where it comes
// from, and of nothing that differs between two tries.
func idOf(m Memory) string {
	sum := sha256.Sum256([]byte(string(m.Evidence.Turn) + "\x00" + string(m.Kind) + "\x00" + normal(m.Topic) + "\x00" + normal(m.Text)))
	return "m_" + hex.EncodeToString(sum[:8])
}

// says reports whether the same is remembered already.
func (b *book) says(m Memory, now time.Time) bool {
	return slices.ContainsFunc(b.held(now), func(o Memory) bool {
		return o.Kind == m.Kind && (normal(o.Text) == normal(m.Text) || o.about(m) && alike(o.Text, m.Text) >= sameText)
	})
}

// about are the memories whose place another one takes.
func (b *book) about(m Memory, now time.Time) []Memory {
	return slices.DeleteFunc(b.held(now), func(o Memory) bool { return !o.about(m) })
}

func (m Memory) about(other Memory) bool {
	return m.Kind == other.Kind && (normal(m.Topic) == normal(other.Topic) || alike(m.Topic, other.Topic) >= sameTopic)
}

// held are the memories that count, oldest first.
func (b *book) held(now time.Time) []Memory {
	var held []Memory
	for _, m := range b.entries {
		if m.holds(now) {
			held = append(held, m)
		}
	}
	slices.SortFunc(held, func(x, y Memory) int {
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.ID, y.ID))
	})
	return held
}

// purge takes out for good what has expired or was forgotten a day ago, and
// answers when the next is due; the zero time: nothing is left.
func (b *book) purge(now time.Time) (next time.Time) {
	if b.strange > 0 {
		next = now.Add(day)
	}
	for id, m := range b.entries {
		end := m.Expires
		if !m.Forgotten.IsZero() && m.Forgotten.Add(undo).Before(end) {
			end = m.Forgotten.Add(undo)
		}
		if !now.Before(end) {
			delete(b.entries, id)
			b.changed[id] = true
			continue
		}
		if next.IsZero() || end.Before(next) {
			next = end
		}
	}
	return next
}
