package mailbox_test

import (
	"strings"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// TestP7_WhatIsNotPostedIsKeptAndToldOfOnce: two parts of one answer are
// refused for good. Both are kept, the actor is told once, and what stands
// behind them goes on.
func TestP7_WhatIsNotPostedIsKeptAndToldOfOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.n++
		closing, err := w.box.Close(t.Context(), mailbox.Close{
			Ref: turn.Ref, Number: turn.n, Outcome: mailbox.Done,
			Parts: []chat.Part{turn.part("1"), turn.part("2"), turn.part("3")},
		})
		if err != nil {
			t.Fatal(err)
		}
		refused := func(n string) mailbox.Posted {
			return mailbox.Posted{ID: string(turn.Turn) + "/" + n, Unsent: &mailbox.Unsent{Why: "is_archived", Tell: "not posted"}}
		}
		left, err := w.box.Sent(t.Context(), *closing.Send, refused("1"))
		if err != nil {
			t.Fatal(err)
		}
		w.same("what is left", []string{"2", "3", "not posted"}, ids(left))
		w.same("where it is told", chat.Destination{DM: alice.User}, left[2].To)
		if age := time.Since(left[2].Written.Time()); age < 0 || age > time.Minute {
			t.Errorf("the notice says that it was written %v ago", age)
		}
		if left, err = w.box.Sent(t.Context(), *closing.Send, refused("2")); err != nil {
			t.Fatal(err)
		}
		w.same("what is left", []string{"3", "not posted"}, ids(left))
		dead, err := w.box.Dead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.same("kept", 2, len(dead))
		for i, d := range dead {
			if d.Why != "is_archived" || d.Turn != turn.Turn || d.Where != "out:"+w.conv.Key() || !strings.HasPrefix(d.Record, refused(string('1'+rune(i))).ID+"\n") {
				t.Errorf("kept: %+v", d)
			}
		}
		gauges, err := w.box.Gauges(t.Context())
		if err != nil || gauges.Unsent.N != 2 {
			t.Errorf("unsent: %+v %v, want 2", gauges.Unsent, err)
		}
		left, err = w.box.Sent(t.Context(), *closing.Send, mailbox.Posted{ID: left[0].ID}, mailbox.Posted{ID: left[1].ID, Unsent: &mailbox.Unsent{Why: "user_disabled"}})
		if err != nil || len(left) != 0 {
			t.Errorf("a notice that is refused itself leaves %v, %v", left, err)
		}
		if due, err := w.box.Due(t.Context()); err != nil || len(due) != 0 {
			t.Errorf("an empty outbox is due: %+v %v", due, err)
		}
	})
}

// TestP7_AMovedPartGoesByDM: one step takes it out of its thread and gives it
// to the actor, whole; nothing is kept, unless the actor has no DM.
func TestP7_AMovedPartGoesByDM(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		moved := &mailbox.Unsent{Why: "the channel is shared now", Tell: "for you alone: a", Moved: true}
		turn := w.starts(alice, "one")
		lease := turn.done("a").Send
		left, err := w.box.Sent(t.Context(), *lease, mailbox.Posted{ID: string(turn.Turn) + "/a", Unsent: moved})
		if err != nil {
			t.Fatal(err)
		}
		w.same("what is left", []string{"for you alone: a"}, ids(left))
		w.same("its destination", chat.Destination{DM: alice.User}, left[0].To)
		if _, err := w.box.Sent(t.Context(), *lease, mailbox.Posted{ID: left[0].ID}); err != nil {
			t.Fatal(err)
		}
		task := w.starts(chat.SystemActor("scheduler"), "two")
		lease = task.done("b").Send
		left, err = w.box.Sent(t.Context(), *lease, mailbox.Posted{ID: string(task.Turn) + "/b", Unsent: moved})
		if err != nil || len(left) != 0 {
			t.Fatalf("a part of nobody's leaves %v, %v", left, err)
		}
		dead, err := w.box.Dead(t.Context())
		if err != nil || len(dead) != 1 || dead[0].Turn != task.Turn {
			t.Errorf("kept: %+v %v, want the one that could not be moved", dead, err)
		}
	})
}

// TestP7_AStaleSenderSetsNothingAside: what another sender has is not its to
// give up.
func TestP7_AStaleSenderSetsNothingAside(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.done("a")
		_, err := w.box.Sent(t.Context(), mailbox.SendLease{Conversation: w.conv, Token: "9-other"},
			mailbox.Posted{ID: string(turn.Turn) + "/a", Unsent: &mailbox.Unsent{Why: "x", Tell: "y"}})
		if err == nil {
			t.Error("a stale sender was believed")
		}
		if dead, err := w.box.Dead(t.Context()); err != nil || len(dead) != 0 {
			t.Errorf("set aside: %+v %v", dead, err)
		}
	})
}

func TestP7_WhatIsNotPostedIsCounted(t *testing.T) {
	counted := 0
	w := onServer(t, mailbox.Options{Count: func(name, label string, n int) {
		if name == mailbox.CountAside && label == "out" {
			counted += n
		}
	}})
	turn := w.starts(alice, "one")
	lease := turn.done("a").Send
	for range 2 {
		_, err := w.box.Sent(t.Context(), *lease, mailbox.Posted{ID: string(turn.Turn) + "/a", Unsent: &mailbox.Unsent{Why: "x"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.same("counted", 1, counted)
}
