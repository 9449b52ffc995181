package mailbox_test

import (
	"context"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// routed wants a change of mind about the message of ts to be done, or not.
func (w *world) routed(turn *run, author chat.Actor, ts chat.TS, demote, want bool) {
	w.t.Helper()
	r := mailbox.Route{Conversation: w.conv, Turn: turn.Turn, TS: ts, Author: author, Demote: demote}
	if moved, err := w.other.Route(context.Background(), r); err != nil || moved != want {
		w.t.Fatalf("route %s of %s: %v %v, want %v", ts, author.User, moved, err, want)
	}
}

func TestPromotedMessageIsReadAsContext(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		two := at(w.clock)
		w.says(chat.Wait, bob, "three")
		three := at(w.clock)
		w.routed(turn, bob, three, false, false) // it would overtake his older one
		w.routed(turn, carol, two, false, false) // it is not hers
		w.routed(turn, bob, two, true, false)    // it is no steer
		w.routed(turn, bob, two, false, true)
		w.routed(turn, bob, two, false, false) // it does not wait any more
		w.routed(turn, bob, three, false, true)
		w.wantLog("steer_context two | steer_context three", turn.boundary("x"))
		w.routed(turn, bob, two, true, false) // it was read
		if next := turn.done("a").Next; next != nil {
			t.Errorf("what was read as context began a turn: %+v", next)
		}
	})
}

func TestDemotedSteerWaitsForATurnOfItsOwn(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		two := at(w.clock)
		w.says(chat.SteerOwn, alice, "three")
		three := at(w.clock)
		w.routed(turn, alice, two, true, false) // a newer one of hers is about to be read
		w.routed(turn, bob, three, true, false)
		w.routed(turn, alice, three, false, false)
		w.routed(turn, alice, three, true, true)
		w.routed(turn, alice, three, false, false) // her own is never context
		w.says(chat.Wait, alice, "four")           // it does not overtake what waits
		w.wantLog("steer two", turn.boundary("x"))
		w.routed(turn, alice, two, true, false)
		next := w.began(turn.done("a").Next, alice, "request three | request four")
		next.done("b")
	})
}

func TestRouteChangesNothingWhenAnythingHasChanged(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		edited := w.clock
		w.edits(chat.ReplaceText, bob, edited, "two, better")
		w.routed(turn, bob, at(edited), false, false)
		w.says(chat.Wait, carol, "three")
		gone := w.clock
		w.deletes(chat.Withdraw, gone)
		w.routed(turn, carol, at(gone), false, false)
		w.says(chat.Wait, carol, "four")
		late := at(w.clock)
		// The turn has ended, and another runs: the change was not thought of for it.
		bobs := w.began(turn.done("a").Next, bob, "request two, better")
		w.routed(turn, carol, late, false, false)
		// A turn that is being stopped takes no more steers.
		w.says(chat.Stop, bob, "stop", stop)
		w.routed(bobs, carol, late, false, false)
		bobs.close(mailbox.Stopped, "")
	})
}

func TestRouteGoesByTheVersionThatWasAsked(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		sent := w.clock
		w.edits(chat.ReplaceText, bob, sent, "two, better")
		w.edits(chat.ReplaceText, bob, sent, "two, best")
		r := mailbox.Route{Conversation: w.conv, Turn: turn.Turn, TS: at(sent), Author: bob, Edited: at(w.clock - 1)}
		if moved, err := w.box.Route(t.Context(), r); err != nil || moved {
			t.Errorf("an older version: %v %v", moved, err)
		}
		r.Edited = at(w.clock)
		if moved, err := w.box.Route(t.Context(), r); err != nil || !moved {
			t.Errorf("the newest version: %v %v", moved, err)
		}
		w.wantLog("steer_context two, best", turn.boundary("x"))
	})
}

func TestHandedBackMessageIsNotPromotedAgain(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerContext, bob, "two", forced)
		ts := at(w.clock)
		turn.boundary("x")
		turn.handsBack(ts, "call", mailbox.HandedBack)
		w.routed(turn, bob, ts, false, false)
		w.began(turn.done("a").Next, bob, "request two").done("b")
	})
}
