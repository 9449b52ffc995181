package mailbox_test

import (
	"errors"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func ids(parts []chat.Part) []string {
	list := []string{}
	for _, p := range parts {
		list = append(list, p.Markdown)
	}
	return list
}

func TestP7_OneSenderDrainsTheOutboxInOrder(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		first := w.starts(alice, "one")
		lease := first.done("a").Send
		if lease == nil || lease.Look {
			t.Fatalf("the sender's lease of a fresh outbox: %+v", lease)
		}
		second := w.starts(bob, "two")
		if other := second.done("b").Send; other != nil {
			t.Fatalf("a second sender while the first holds its lease: %+v", other)
		}
		if _, _, ok, err := w.other.ClaimSending(t.Context(), w.conv); ok || err != nil {
			t.Fatalf("a held outbox was taken over: %v %v", ok, err)
		}
		if left, err := w.box.Sent(t.Context(), *lease); err != nil || len(left) != 2 {
			t.Errorf("a renewal tells of %v %v, want both parts", left, err)
		}
		left, err := w.box.Sent(t.Context(), *lease, mailbox.Posted{ID: string(first.Turn) + "/a"})
		if err != nil {
			t.Fatal(err)
		}
		w.same("what is left", []string{"b"}, ids(left))
		w.same("its destination", chat.Destination{Channel: w.conv.Channel, Thread: w.conv.Root}, left[0].To)
		left, err = w.box.Sent(t.Context(), *lease, mailbox.Posted{ID: string(second.Turn) + "/b"})
		if err != nil || len(left) != 0 {
			t.Fatal(left, err)
		}
		if due, err := w.box.Due(t.Context()); err != nil || len(due) != 0 {
			t.Errorf("an empty outbox is due: %+v %v", due, err)
		}
		next := w.starts(carol, "three").done("c").Send
		if next == nil || next.Look || next.Token == lease.Token {
			t.Fatalf("the next sender's lease: %+v", next)
		}
		if _, err := w.box.Sent(t.Context(), mailbox.SendLease{Conversation: w.conv, Token: "9-other"}); !errors.Is(err, mailbox.ErrStale) {
			t.Errorf("a lease that was never given: %v, want ErrStale", err)
		}
	})
}

func TestP7_LostSendersOutboxIsTakenOverAndLookedAt(t *testing.T) {
	onEveryStore(t, short, func(w *world) {
		turn := w.starts(alice, "one")
		lost := turn.done("a").Send
		var taken mailbox.SendLease
		for {
			due, err := w.box.Due(t.Context())
			if err != nil || len(due) != 1 || due[0].Kind != mailbox.DueSend {
				t.Fatalf("the index: %+v %v, want the outbox", due, err)
			}
			<-time.After(due[0].In + time.Millisecond)
			l, parts, ok, err := w.other.ClaimSending(t.Context(), w.conv)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				w.same("parts", []string{"a"}, ids(parts))
				taken = l
				break
			}
		}
		if !taken.Look || taken.Token == lost.Token {
			t.Errorf("a taken over lease: %+v, want a new one that looks first", taken)
		}
		if _, err := w.box.Sent(t.Context(), *lost, mailbox.Posted{ID: string(turn.Turn) + "/a"}); !errors.Is(err, mailbox.ErrStale) {
			t.Errorf("the lost sender: %v, want ErrStale", err)
		}
		if left, err := w.other.Sent(t.Context(), taken, mailbox.Posted{ID: string(turn.Turn) + "/a"}); err != nil || len(left) != 0 {
			t.Error(left, err)
		}
		if _, _, ok, err := w.box.ClaimSending(t.Context(), w.conv); ok || err != nil {
			t.Errorf("an empty outbox was taken over: %v %v", ok, err)
		}
	})
}

func TestP7_ClosingAfterALostSenderLooksFirst(t *testing.T) {
	onEveryStore(t, short, func(w *world) {
		w.starts(alice, "one").done("a")
		turn := w.starts(bob, "two")
		due, err := w.box.Due(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range due {
			if d.Kind == mailbox.DueSend {
				<-time.After(d.In + time.Millisecond)
			}
		}
		closing := turn.done("b")
		lease := closing.Send
		if lease == nil || !lease.Look {
			t.Fatalf("the lease of a closing that finds old parts: %+v", lease)
		}
		w.same("what is to be posted", []string{"a", "b"}, ids(closing.Parts))
	})
}

// A sender that ends gives up what is left: another replica goes on at once,
// and looks first.
func TestP7_AReleasedOutboxIsTakenOverAtOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		lease := *w.starts(alice, "one").done("a").Send
		if err := w.box.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		taken, parts, ok, err := w.other.ClaimSending(t.Context(), w.conv)
		if err != nil || !ok || !taken.Look || len(parts) != 1 {
			t.Fatalf("taken over: %+v %v %v %v", taken, parts, ok, err)
		}
		if _, err := w.box.Sent(t.Context(), lease); !errors.Is(err, mailbox.ErrStale) {
			t.Errorf("whoever gave it up still holds it: %v", err)
		}
	})
}
