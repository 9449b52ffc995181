package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reeve/runtime/mailbox/redistest"
)

// learns ends a turn of Alice's in which she says one thing of herself.
func (k *kit) learns(topic, text string) {
	k.Helper()
	k.model.propose = answers(cites(Preference, topic, text, 1, "what she says"))
	run := turnOf(alice).asks("what she says").Run
	run.Visibility = "dm"
	k.ends(run)
}

func TestARestatedPreferenceStaysOneAndAChangedOneReplaces(t *testing.T) {
	k := newKit(t)
	k.learns("code review style", "Prefers terse code reviews.")
	k.learns("code review style", "prefers terse code reviews")
	k.learns("Code review style", "Prefers code reviews that are terse.")
	if n := len(k.texts(mine(alice))); n != 1 {
		t.Fatalf("%d memories of one preference", n)
	}
	k.learns("code review style", "Wants long and friendly explanations.")
	k.holds(mine(alice), "Wants long and friendly explanations.")
	all, err := k.store.All(t.Context(), mine(alice))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.ReplacedBy == "" && m.Text != "Wants long and friendly explanations." {
			t.Errorf("%q stands beside it", m.Text)
		}
	}
	if len(all) < 2 {
		t.Error("there is no history")
	}
}

func TestATaskThatIsTriedAgainWritesOnce(t *testing.T) {
	k := newKit(t)
	run := turnOf(alice).asks("I prefer terse code reviews").Run
	k.model.propose = answers(cites(Preference, "code review style", "Prefers terse code reviews.", 1, "I prefer terse code reviews"))
	k.ends(run)
	k.model.propose = answers(cites(Preference, "how reviews are", "Likes it when a review is short.", 1, "I prefer terse code reviews"))
	k.ends(run)
	k.holds(mine(alice), "Prefers terse code reviews.")
}

func TestTurnsThatEndAtOnceDoNotDoubleAPreference(t *testing.T) {
	k := newKit(t)
	k.model.propose = answers(cites(Preference, "code review style", "Prefers terse code reviews.", 1, "I prefer terse code reviews"))
	var group sync.WaitGroup
	for range 8 {
		run := turnOf(alice).asks("I prefer terse code reviews").Run
		group.Go(func() { k.ends(run) })
	}
	group.Wait()
	k.holds(mine(alice), "Prefers terse code reviews.")
}

func TestForgottenMemoriesComeBackForADay(t *testing.T) {
	k := newKit(t)
	k.learns("code review style", "Prefers terse code reviews.")
	held, _ := k.store.Held(t.Context(), mine(alice), k.now)
	id := held[0].ID
	forget := func() {
		t.Helper()
		if gone, err := k.store.Forget(t.Context(), mine(alice), k.now, Forgetter{}, id); err != nil || len(gone) != 1 {
			t.Fatalf("forgot %d, %v", len(gone), err)
		}
		k.holds(mine(alice))
	}
	forget()
	k.now = k.now.Add(23 * time.Hour)
	if back, err := k.store.Restore(t.Context(), mine(alice), k.now, id); err != nil || len(back) != 1 {
		t.Fatalf("brought back %d, %v", len(back), err)
	}
	k.holds(mine(alice), "Prefers terse code reviews.")
	forget()
	k.now = k.now.Add(24 * time.Hour)
	if back, err := k.store.Restore(t.Context(), mine(alice), k.now, id); err != nil || len(back) != 0 {
		t.Errorf("brought back %d after a day, %v", len(back), err)
	}
	if _, err := k.store.Clean(t.Context(), k.now); err != nil {
		t.Fatal(err)
	}
	if all, _ := k.store.All(t.Context(), mine(alice)); len(all) != 0 {
		t.Errorf("after a day there still is %+v", all)
	}
	if owners, _ := k.store.Owners(t.Context()); len(owners) != 0 {
		t.Errorf("owners of nothing: %v", owners)
	}
}

func TestMemoriesExpireByKind(t *testing.T) {
	k := newKit(t)
	now := k.now
	for kind := range lifetimes {
		m := Memory{Kind: kind, Topic: string(kind) + " topic", Text: "a " + string(kind), Created: now, Expires: now.Add(lifetimes[kind]), Schema: schema}
		if _, err := k.store.Add(t.Context(), channel, now, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{0, 6}, {29 * day, 6}, {30 * day, 4}, {180 * day, 3}, {365 * day, 0}} {
		k.now = now.Add(step.after)
		next, err := k.store.Clean(t.Context(), k.now)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := k.store.All(t.Context(), channel)
		if len(all) != step.left || next.IsZero() != (step.left == 0) {
			t.Errorf("after %v there are %d (next %v), want %d", step.after, len(all), next, step.left)
		}
	}
}

func TestAFullStoreSaysSo(t *testing.T) {
	k := newKit(t)
	memories := make([]Memory, most)
	for i := range memories {
		memories[i] = Memory{Kind: Fact, Topic: fmt.Sprintf("word%03d", i), Text: fmt.Sprintf("word%03d", i), Created: k.now, Expires: k.now.Add(day), Schema: schema}
	}
	if _, err := k.store.Add(t.Context(), mine(alice), k.now, memories...); err != nil {
		t.Fatal(err)
	}
	one := Memory{Kind: Fact, Topic: "one more", Text: "one more", Created: k.now, Expires: k.now.Add(day), Schema: schema}
	other := Memory{Kind: Fact, Topic: "word007", Text: "another one", Created: k.now, Expires: k.now.Add(day), Schema: schema}
	if outcomes, err := k.store.Add(t.Context(), mine(alice), k.now, one, other); err != nil || !slices.Equal(outcomes, []outcome{full, replaced}) {
		t.Errorf("one more than %d, and one in place of another: %v, %v", most, outcomes, err)
	}
	if items := k.sees(alice); !strings.Contains(items[0].Text, "nothing is added") {
		t.Errorf("her home tab says %q", items[0].Text)
	}
	k.model.propose = likesTerse
	got := k.call(turnOf(alice).asks("remember that I prefer terse code reviews").Run, "remember", reviews("I prefer terse code reviews"))
	if !got.Error || !strings.Contains(got.Text, "as many as there may be") || len(k.texts(mine(alice))) != most {
		t.Errorf("a full store said %q", got.Text)
	}
}

// A record of a later version is neither read nor lost.
func TestRecordsOfALaterVersionAreLeftAlone(t *testing.T) {
	space := redistest.Shared(t)
	store := NewStore(space.Client(), space.Prefix(), true)
	ctx := t.Context()
	record := `{"id":"m_future","v":2,"kind":"dream"}`
	if err := space.Client().HSet(ctx, store.book(mine(alice)), "m_future", record).Err(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	m := Memory{Kind: Fact, Topic: "a", Text: "b", Created: now, Expires: now.Add(time.Hour), Schema: schema}
	if _, err := store.Add(ctx, mine(alice), now, m); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Clean(ctx, now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, err := space.Client().HGet(ctx, store.book(mine(alice)), "m_future").Result(); err != nil || got != record {
		t.Errorf("it is %q now, %v", got, err)
	}
}

// Whatever is done to books, no two memories that count are about the same, an
// owner has no more than he may, and nobody sees what is another's.
func TestBooksKeepTheirRules(t *testing.T) {
	space := redistest.SharedCluster(t)
	rapid.Check(t, func(t *rapid.T) {
		store := NewStore(space.Client(), redistest.Prefix(), true)
		ctx, now := context.Background(), noon
		owners := []Owner{mine(alice), mine(bob), channel}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			o := rapid.SampledFrom(owners).Draw(t, "owner")
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "days")) * day / 4)
			held, err := store.Held(ctx, o, now)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, m := range held {
				ids = append(ids, m.ID)
			}
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				text := rapid.SampledFrom([]string{"red", "green", "blue"}).Draw(t, "text")
				m := Memory{Kind: Fact, Topic: rapid.SampledFrom([]string{"door", "wall"}).Draw(t, "topic"), Text: o.Key() + " likes " + text, Created: now, Expires: now.Add(60 * day), Schema: schema}
				_, err = store.Add(ctx, o, now, m)
			case 2:
				_, err = store.Forget(ctx, o, now, Forgetter{}, ids...)
			case 3:
				all, _ := store.All(ctx, o)
				ids = ids[:0]
				for _, m := range all {
					ids = append(ids, m.ID)
				}
				_, err = store.Restore(ctx, o, now, ids...)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range owners {
				held, _ := store.Held(ctx, o, now)
				topics := map[string]bool{}
				for _, m := range held {
					if topics[m.Topic] {
						t.Fatalf("%s has two of %q: %+v", o.Key(), m.Topic, held)
					}
					topics[m.Topic] = true
					if !slices.Contains([]string{o.Key() + " likes red", o.Key() + " likes green", o.Key() + " likes blue"}, m.Text) {
						t.Fatalf("%s has %q", o.Key(), m.Text)
					}
				}
			}
		}
	})
}
