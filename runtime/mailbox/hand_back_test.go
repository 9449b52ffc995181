package mailbox_test

import (
	"context"
	"errors"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// handsBack wants what becomes of a message that the turn's run hands back.
func (r *run) handsBack(ts chat.TS, key string, want mailbox.HandBackOutcome) mailbox.HandBackResult {
	r.t.Helper()
	got, err := r.box.HandBack(context.Background(), mailbox.HandBack{Ref: r.Ref, TS: ts, Key: key})
	if err != nil || got.Outcome != want {
		r.t.Fatalf("hand back %s: %+v %v, want %s", ts, got, err, want)
	}
	return got
}

func TestHandedBackMessageIsItsAuthorsFollowUpOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		steer := w.says(chat.SteerContext, bob, "two", forced)
		ts := at(w.clock)
		w.says(chat.Wait, bob, "three")
		turn.handsBack(ts, "call", mailbox.HandUnknown) // it has not been read
		turn.boundary("x")
		got := turn.handsBack(ts, "call", mailbox.HandedBack)
		if got.Author != bob || steer.Turn != turn.Turn {
			t.Errorf("handed back: %+v", got)
		}
		turn.handsBack(ts, "call", mailbox.HandedBack) // the same call, after a crash
		turn.handsBack(ts, "another call", mailbox.HandedAlready)
		if r := w.claim(w.other); r.Claimed != nil {
			t.Errorf("a turn runs beside: %+v", r.Claimed)
		}
		// At its place, in front of what its author said later, and in one batch.
		bobs := w.began(turn.done("a").Next, bob, "request two | request three")
		bobs.handsBack(ts, "his own", mailbox.HandOwn)
		if next := bobs.done("b").Next; next != nil {
			t.Errorf("one turn too many: %+v", next)
		}
		// Who has read it keeps it: the conflict remains.
		w.wantHistory("UALICE done | request one | entry x | steer_context two | entry a",
			"UBOB done | request two | request three | entry b")
	})
}

func TestHandedBackMessageIsNoFollowUpASecondTime(t *testing.T) {
	for _, outcome := range []mailbox.Outcome{mailbox.Failed, mailbox.Abandoned, mailbox.Stopped} {
		t.Run(string(outcome), func(t *testing.T) {
			onEveryStore(t, mailbox.Options{}, func(w *world) {
				turn := w.starts(alice, "one")
				w.says(chat.SteerContext, bob, "two", forced)
				ts := at(w.clock)
				w.says(chat.SteerContext, bob, "three", forced)
				turn.boundary("x")
				turn.answers("hand_back")
				w.says(chat.SteerContext, carol, "four", forced)
				turn.boundary("y")
				turn.handsBack(ts, "call", mailbox.HandedBack)
				turn.handsBack(at(w.clock), "call 2", mailbox.HandedBack)
				if outcome == mailbox.Stopped {
					w.says(chat.Stop, alice, "stop", stop)
				}
				bobs := w.began(turn.close(outcome, "").Next, bob, "request two")
				carols := w.began(bobs.done("b").Next, carol, "request four")
				if next := carols.done("c").Next; next != nil {
					t.Errorf("one turn too many: %+v", next)
				}
				w.same("the first turn", []string{"UALICE " + string(outcome), "request one", "entry x", "steer_context two",
					"steer_context three", "entry hand_back", "entry y", "steer_context four"}, w.history()[0])
			})
		})
	}
}

func TestHandBackRefusesWhatIsNotItsTo(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		first := at(w.clock)
		w.says(chat.SteerOwn, alice, "two")
		own := at(w.clock)
		w.says(chat.Wait, bob, "three")
		waits := at(w.clock)
		w.says(chat.AsContext, carol, "four", unaddressed)
		passive := at(w.clock)
		w.says(chat.SteerContext, carol, "five", forced)
		deleted := w.clock
		w.says(chat.SteerContext, carol, "six", forced)
		taken := at(w.clock)
		turn.boundary("x")
		w.deletes(chat.Blank, deleted)
		turn.handsBack(first, "a", mailbox.HandOwn)
		turn.handsBack(own, "b", mailbox.HandOwn)
		turn.handsBack(waits, "c", mailbox.HandUnknown)
		turn.handsBack(passive, "d", mailbox.HandUnknown)
		turn.handsBack(at(deleted), "e", mailbox.HandDeleted)
		turn.handsBack(at(900), "f", mailbox.HandUnknown)
		turn.handsBack("nonsense", "g", mailbox.HandUnknown)
		stale := turn.Ref
		turn.done("a")
		_, err := w.box.HandBack(t.Context(), mailbox.HandBack{Ref: stale, TS: taken, Key: "late"})
		if !errors.Is(err, mailbox.ErrStale) {
			t.Errorf("a lost run hands back: %v", err)
		}
		if _, err := w.box.HandBack(t.Context(), mailbox.HandBack{Ref: mailbox.Ref{Conversation: w.conv, Turn: turn.Turn}, TS: taken}); err == nil {
			t.Error("nobody may hand back, under no token")
		}
	})
}

func TestAuthorHandsHisOwnMessageBackWhateverBecameOfTheTurn(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerContext, bob, "two", forced)
		ts := at(w.clock)
		turn.boundary("x")
		turn.park(w.room(), "calls")
		click := mailbox.HandBack{Ref: mailbox.Ref{Conversation: w.conv, Turn: turn.Turn}, Author: carol, TS: ts, Key: "click", Next: w.room()}
		got, err := w.box.HandBack(t.Context(), click)
		if err != nil || got.Outcome != mailbox.HandNotYours || got.Claimed != nil {
			t.Fatalf("somebody else's click: %+v %v", got, err)
		}
		click.Author = bob
		got, err = w.box.HandBack(t.Context(), click)
		if err != nil || got.Outcome != mailbox.HandedBack {
			t.Fatalf("his click: %+v %v", got, err)
		}
		bobs := w.began(got.Claimed, bob, "request two") // nobody runs: it starts at once
		click.Key, click.Next = "another click", w.room()
		if got, err := w.other.HandBack(t.Context(), click); err != nil || got.Outcome != mailbox.HandedAlready || got.Claimed != nil {
			t.Fatalf("a second click: %+v %v", got, err)
		}
		bobs.done("b")
	})
}

func TestDeletionOfAHandedBackMessageBlanksBothLogs(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerContext, bob, "two", forced)
		gone := w.clock
		w.says(chat.SteerContext, bob, "three", forced)
		goes := w.clock
		turn.boundary("x")
		turn.handsBack(at(gone), "a", mailbox.HandedBack)
		turn.handsBack(at(goes), "b", mailbox.HandedBack)
		w.deletes(chat.Withdraw, gone)
		turn.handsBack(at(gone), "c", mailbox.HandedAlready)
		bobs := w.began(turn.done("a").Next, bob, "request three")
		bobs.done("b")
		w.deletes(chat.Blank, goes)
		w.wantHistory("UALICE done | request one | entry x | deleted steer_context | deleted steer_context | entry a",
			"UBOB done | deleted request | entry b")
	})
}

func TestEditOfAHandedBackMessageIsWhatItsTurnReads(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerContext, bob, "two", forced)
		sent := w.clock
		turn.boundary("x")
		turn.handsBack(at(sent), "a", mailbox.HandedBack)
		w.edits(chat.ReplaceText, bob, sent, "two, better")
		w.began(turn.done("a").Next, bob, "request two, better").done("b")
	})
}

func TestStopOfItsAuthorCoversAHandedBackMessage(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerContext, bob, "two", forced)
		ts := at(w.clock)
		turn.boundary("x")
		turn.handsBack(ts, "a", mailbox.HandedBack)
		w.policy.Stop = "actor"
		w.says(chat.WithdrawOwn, bob, "stop", stop)
		if next := turn.done("a").Next; next != nil {
			t.Errorf("a withdrawn message began a turn: %+v", next)
		}
	})
}
