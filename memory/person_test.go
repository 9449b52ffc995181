package memory

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"reeve/runtime/chat"
)

func spanOf(author chat.Actor, text string) Span {
	return Span{Entry: "e1", Author: author, Text: text}
}

// kept puts memories into the store as they are.
func (k *kit) kept(o Owner, memories ...Memory) {
	k.Helper()
	for i := range memories {
		m := &memories[i]
		m.Schema, m.Created, m.Expires = schema, k.now, k.now.Add(day)
	}
	if _, err := k.store.Add(k.Context(), o, k.now, memories...); err != nil {
		k.Fatal(err)
	}
}

// What a channel remembers of a person's words goes with the person; what others
// have said stays, and so do others' own memories.
func TestErasingWhatRestsOnAPersonsWords(t *testing.T) {
	k := newKit(t)
	channel, ok := Shared(chat.Conversation{Team: "T1", Channel: "C1"})
	if !ok {
		t.Fatal("no channel")
	}
	k.kept(channel,
		Memory{Kind: Knowledge, Topic: "the build", Text: "bob says it is slow", Evidence: Evidence{Turn: "t_1", Spans: []Span{spanOf(bob, "it is slow")}}},
		Memory{Kind: Knowledge, Topic: "the lunch", Text: "both say it is good", Evidence: Evidence{Turn: "t_1", Spans: []Span{spanOf(alice, "it is good"), spanOf(bob, "so it is")}}},
		Memory{Kind: Knowledge, Topic: "the office", Text: "alice says it is loud", Evidence: Evidence{Turn: "t_2", Spans: []Span{spanOf(alice, "it is loud")}}},
	)
	k.kept(mine(bob), Memory{Kind: Fact, Topic: "himself", Text: "bob is tall", Evidence: Evidence{Turn: "t_3", Spans: []Span{spanOf(bob, "I am tall")}}})
	cited, err := k.store.Cited(t.Context(), bob)
	if err != nil || len(cited) != 1 || len(cited[channel]) != 2 {
		t.Fatalf("what rests on Bob's words: %+v, %v", cited, err)
	}
	for want := 2; want >= 0; want -= 2 { // and a second time finds nothing
		if n, err := k.store.EraseCited(t.Context(), channel, k.now, bob); err != nil || n != want {
			t.Fatalf("erased %d, %v; want %d", n, err, want)
		}
	}
	k.holds(channel, "alice says it is loud")
	k.holds(mine(bob), "bob is tall")
	if err := k.store.Erase(t.Context(), mine(bob)); err != nil {
		t.Fatal(err)
	}
	k.holds(mine(bob))
	if n, err := k.store.EraseCited(t.Context(), channel, k.now, alice); err != nil || n != 1 {
		t.Fatalf("erased %d of Alice's, %v", n, err)
	}
	if owners, err := k.store.Owners(t.Context()); err != nil || len(owners) != 0 {
		t.Errorf("who has memories still: %v, %v", owners, err)
	}
}

func TestTheStatesOfAMemory(t *testing.T) {
	k := newKit(t)
	held := Memory{Expires: k.now.Add(day)}
	gone, replaced, over := held, held, held
	gone.Forgotten, replaced.ReplacedBy, over.Expires = k.now, "m_2", k.now
	for want, m := range map[string]Memory{"held": held, "forgotten": gone, "replaced": replaced, "expired": over} {
		if got := m.State(k.now); got != want {
			t.Errorf("%+v is %s, want %s", m, got, want)
		}
	}
}

func TestTheStoreWritesKeysOfTheKindsThatItNames(t *testing.T) {
	k := newKit(t)
	k.kept(mine(bob), Memory{Kind: Fact, Topic: "himself", Text: "bob is tall", Evidence: Evidence{Turn: "t_3", Spans: []Span{spanOf(bob, "I am tall")}}})
	keys, err := k.store.redis.Keys(t.Context(), k.store.prefix+":*").Result()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, key := range keys {
		_, name, _ := strings.Cut(strings.TrimPrefix(key, k.store.prefix+":"), ":")
		kind, _, _ := strings.Cut(name, ":")
		seen[kind] = true
		if !IsKey(strings.TrimPrefix(key, k.store.prefix+":")) {
			t.Errorf("%s is not known for a key of the store", key)
		}
	}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, KeyKinds()) {
		t.Errorf("keys of the kinds %v, and named are %v", got, KeyKinds())
	}
}
