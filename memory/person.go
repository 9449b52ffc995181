package memory

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// KeyKinds are the kinds of keys that the store writes, as they stand in its
// keys behind the prefix and the shard.
func KeyKinds() []string { return []string{"book", "due"} }

var keyName = regexp.MustCompile(`^\{m\d\d\}:(?:` + strings.Join(KeyKinds(), "|") + `)(?::|$)`)

// IsKey reports whether a key is one of the store's, by what stands behind the
// prefix.
func IsKey(name string) bool { return keyName.MatchString(name) }

// State is where a memory stands at a moment: held, replaced, forgotten or
// expired.
func (m Memory) State(now time.Time) string {
	switch {
	case !m.Forgotten.IsZero():
		return "forgotten"
	case m.ReplacedBy != "":
		return "replaced"
	case !m.holds(now):
		return "expired"
	}
	return "held"
}

// Cites reports whether the memory rests on a person's words.
func (m Memory) Cites(person chat.Actor) bool { return slices.Contains(m.Authors(), person) }

// Cited are the owners, other than the person, of memories that rest on his
// words, with those memories.
func (s *Store) Cited(ctx context.Context, person chat.Actor) (map[Owner][]Memory, error) {
	owners, err := s.Owners(ctx)
	if err != nil {
		return nil, err
	}
	cited := map[Owner][]Memory{}
	for _, o := range owners {
		if o.Person == person {
			continue
		}
		all, err := s.All(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			if m.Cites(person) {
				cited[o] = append(cited[o], m)
			}
		}
	}
	return cited, nil
}

// EraseCited takes out, for good and at once, an owner's memories that rest on a
// person's words. What they had replaced stays replaced.
func (s *Store) EraseCited(ctx context.Context, o Owner, now time.Time, person chat.Actor) (gone int, err error) {
	err = s.change(ctx, o, now, func(b *book) error {
		gone = 0
		for id, m := range b.entries {
			if m.Cites(person) {
				delete(b.entries, id)
				b.changed[id] = true
				gone++
			}
		}
		return nil
	})
	return gone, err
}
