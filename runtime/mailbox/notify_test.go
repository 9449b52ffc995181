package mailbox_test

import (
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// What a person is told apart from any turn stands in the outbox once, whichever
// replica says it, how often, and whether or not its answers are lost.
func TestP7_AToldPersonIsToldOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		tell := func(box *mailbox.Box, id string) (*mailbox.SendLease, []chat.Part) {
			t.Helper()
			lease, parts, err := box.Notify(t.Context(), alice, chat.Part{ID: id, Markdown: id})
			if err != nil {
				t.Fatal(err)
			}
			return lease, parts
		}
		lease, parts := tell(w.box, "notice/1")
		if lease == nil || len(parts) != 1 || parts[0].To.DM != alice.User {
			t.Fatalf("nobody is to post it: %v %v", lease, parts)
		}
		tell(w.other, "notice/1")
		tell(w.box, "notice/1")
		tell(w.other, "notice/2")
		left, err := w.box.Sent(t.Context(), *lease)
		if err != nil || len(left) != 2 || left[0].ID != "notice/1" || left[1].ID != "notice/2" {
			t.Fatalf("in the outbox: %v, %v", left, err)
		}
		if left, err = w.box.Sent(t.Context(), *lease, mailbox.Posted{ID: "notice/1"}, mailbox.Posted{ID: "notice/2"}); err != nil || len(left) > 0 {
			t.Fatalf("after posting: %v, %v", left, err)
		}
		if lease, _ := tell(w.other, "notice/1"); lease != nil {
			t.Error("it is posted once more")
		}
		if _, _, err := w.box.Notify(t.Context(), chat.SystemActor("scheduler"), chat.Part{ID: "notice/3"}); err == nil {
			t.Error("one who is no person was told")
		}
	})
}
