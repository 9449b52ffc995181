package mailbox_test

import (
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// TestP5_PartsOfACommitAreQueuedWithItOnce: what a run says while it goes on
// stands in the outbox with the entries of the same step, once, however often
// the step is asked for.
func TestP5_PartsOfACommitAreQueuedWithItOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.n++
		part := turn.part("a list")
		part.To = chat.Destination{DM: alice.User}
		c := mailbox.Commit{Ref: turn.Ref, Number: turn.n, Entries: entries("a result"), Parts: []chat.Part{part}}
		for range 2 {
			if _, err := w.box.Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		lease, parts, ok, err := w.box.ClaimSending(t.Context(), turn.Conversation)
		if err != nil || !ok {
			t.Fatalf("nobody may post: %v, %v", ok, err)
		}
		w.same("what is to be posted", []string{"a list"}, ids(parts))
		w.same("where", part.To, parts[0].To)
		if left, err := w.box.Sent(t.Context(), lease, mailbox.Posted{ID: part.ID}); err != nil || len(left) != 0 {
			t.Errorf("left: %v, %v", left, err)
		}
		turn.Token = "1-stale"
		if _, err := w.box.Commit(t.Context(), mailbox.Commit{Ref: turn.Ref, Number: turn.n + 1, Parts: []chat.Part{turn.part("late")}}); err == nil {
			t.Error("a stale run's part was taken")
		}
		if _, _, ok, _ := w.box.ClaimSending(t.Context(), turn.Conversation); ok {
			t.Error("a stale run's part is to be posted")
		}
	})
}
