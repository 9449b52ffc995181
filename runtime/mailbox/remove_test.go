package mailbox_test

import (
	"strings"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// deletes wants what becomes of a deletion, the first time and again.
func (w *world) deletes(want chat.Disposition, sent int) mailbox.PutResult {
	w.t.Helper()
	w.clock++
	m := chat.Message{ID: w.id(at(sent)), Conversation: w.conv, Change: &chat.Change{Kind: chat.Deleted, TS: at(w.clock)}}
	first, again := w.change(want, m), w.change(want, m)
	if first.Turn != again.Turn || first.Author != again.Author {
		w.t.Fatalf("the deletion again: %+v, first %+v", again, first)
	}
	return first
}

func TestP4_DeletionThatComesBeforeItsMessage(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		w.deletes(chat.ClaimKey, 50)
		w.says(chat.Duplicate, alice, "one", sentAt(50))
		w.says(chat.Duplicate, alice, "one", sentAt(50), unaddressed)
		w.edits(chat.Ignored, alice, 50, "one, edited", addsMention)
		w.began(w.says(chat.Start, alice, "two").Claimed, alice, "request two")
	})
}

func TestP4_DeletionOfWhatWaitsWithdrawsIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two", sentAt(10))
		w.says(chat.SteerOwn, alice, "three", sentAt(11))
		if r := w.deletes(chat.Withdraw, 10); r.Author != bob {
			t.Errorf("the deletion: %+v, want Bob's message", r)
		}
		w.deletes(chat.Withdraw, 11)
		w.says(chat.Duplicate, bob, "two", sentAt(10))
		if next := turn.done("a").Next; next != nil {
			t.Errorf("a deleted message started %+v", next)
		}
		w.wantHistory("UALICE done | request one | entry a")
	})
}

func TestP4_DeletionOfWhatBeganATurnStopsIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one", sentAt(10))
		w.says(chat.SteerOwn, alice, "two", sentAt(11))
		w.says(chat.Wait, bob, "three", sentAt(12))
		if r := w.deletes(chat.Stop, 10); r.Turn != turn.Turn || r.Author != alice {
			t.Errorf("the deletion: %+v, want turn %s stopped", r, turn.Turn)
		}
		w.says(chat.Wait, alice, "four")
		if got := turn.commit(mailbox.Commit{Take: true}); got.Stop == nil || got.Stop.By != mailbox.Deletion {
			t.Errorf("a commit after it: %+v", got)
		}
		closing := turn.close(mailbox.Stopped, "stopped")
		w.same("taken back", []chat.MessageID{w.id(at(11))}, closing.Withdrawn)
		bobs := w.began(closing.Next, bob, "request three")
		w.began(bobs.done("b").Next, alice, "request four").done("c")
		w.wantHistory("UALICE stopped | deleted request | entry stopped", "UBOB done | request three | entry b",
			"UALICE done | request four | entry c")
	})
}

func TestP4_DeletionOfWhatBeganAParkedTurnEndsIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		parked := w.starts(alice, "one", sentAt(10))
		parked.park(w.noRoom(), "calls")
		bobs := w.starts(bob, "two")
		w.deletes(chat.Stop, 10)
		w.same("what is to be posted", []string{mailbox.DeletedText}, w.posts())
		w.wantHistory("UALICE stopped | deleted request | entry calls | " + strings.Replace(stoppedLog, "Stopped.", mailbox.DeletedText, 1))
		bobs.done("b")
	})
}

// What comes back to its lane when a turn ends must not come back deleted.
func TestP4_DeletionOfWhatATurnHasReadBlanksIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two", sentAt(10))
		w.says(chat.SteerContext, bob, "three", sentAt(11), forced)
		w.says(chat.SteerContext, bob, "four", sentAt(12), forced)
		turn.boundary("x")
		w.deletes(chat.Blank, 10)
		w.deletes(chat.Blank, 11)
		bobs := w.began(turn.close(mailbox.Failed, "gave up").Next, bob, "request four")
		w.deletes(chat.Stop, 12) // it began his turn since
		bobs.close(mailbox.Stopped, "")
		w.wantHistory("UALICE failed | request one | entry x | deleted steer | deleted steer_context | struck four | entry gave up",
			"UBOB stopped | deleted request")
	})
}

func TestP4_DeletionOfWhatWasSaid(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		w.starts(alice, "one", sentAt(10)).done("a")
		w.says(chat.AsContext, bob, "two", unaddressed, sentAt(11))
		w.says(chat.AsContext, bob, "three", unaddressed, sentAt(12))
		w.says(chat.AsContext, bob, "four", unaddressed, sentAt(13))
		w.deletes(chat.Blank, 10)
		w.deletes(chat.Blank, 11)
		turn := w.began(w.says(chat.Start, alice, "five").Claimed, alice, "thread three | thread four | request five")
		w.deletes(chat.Blank, 12)
		turn.done("b")
		w.wantHistory("UALICE done | deleted request | entry a", "UALICE done | deleted thread | thread four | request five | entry b")
	})
}

// The new text of an edited message goes with the message, wherever it stands.
func TestP4_DeletionTakesTheCorrectionAlong(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two", sentAt(10))
		w.says(chat.SteerOwn, alice, "three", sentAt(11))
		turn.boundary("x")
		w.edits(chat.SteerOwn, alice, 10, "two, edited")
		turn.boundary("y")
		w.edits(chat.SteerOwn, alice, 11, "three, edited")
		w.deletes(chat.Blank, 10)
		w.deletes(chat.Blank, 11)
		if next := turn.close(mailbox.Failed, "").Next; next != nil {
			t.Errorf("what was deleted started %+v", next)
		}
		w.wantHistory("UALICE failed | request one | entry x | deleted steer | deleted steer | entry y | deleted steer")

		turn = w.starts(alice, "four", sentAt(50))
		w.edits(chat.SteerOwn, alice, 50, "four, edited")
		next := w.began(turn.close(mailbox.Failed, "").Next, alice, "request four, edited")
		if r := w.deletes(chat.Stop, 50); r.Turn != next.Turn {
			t.Errorf("the deletion stopped %s, want %s", r.Turn, next.Turn)
		}
		next.close(mailbox.Stopped, "")
	})
}

// Wherever else a message may be, a change of it is answered and harms nothing.
func TestP4_ChangesOfWhatIsInNoLane(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one", sentAt(10))
		w.says(chat.Wait, bob, "settled", sentAt(11))
		w.says(chat.Wait, carol, "withdrawn", sentAt(12))
		if err := w.box.Settle(t.Context(), w.conv, at(11), bob); err != nil {
			t.Fatal(err)
		}
		w.says(chat.Stop, carol, "stop", stop, sentAt(13))
		closing := turn.close(mailbox.Stopped, "a")
		if _, err := w.box.Sent(t.Context(), *closing.Send, mailbox.Posted{ID: string(turn.Turn) + "/a", TS: at(14)}); err != nil {
			t.Fatal(err)
		}
		for _, sent := range []int{10, 11, 12, 13, 14} {
			for _, author := range []chat.Actor{alice, bob, carol} {
				w.edits(chat.Ignored, author, sent, "another text", addsMention)
			}
			w.deletes(chat.Blank, sent)
			w.signs(chat.Ignored, alice, sent)
			w.says(chat.Duplicate, bob, "again", sentAt(sent))
		}
		next := w.began(w.says(chat.Start, bob, "two").Claimed, bob, "request two")
		next.done("b")
		w.wantHistory("UALICE stopped | deleted request | entry a", "UBOB done | request two | entry b")
	})
}
