package mailbox_test

import (
	"testing"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func TestP4_StopOfOnesOwnTurn(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		w.says(chat.SteerContext, bob, "three", forced)
		w.says(chat.Wait, bob, "four")
		stopped := w.says(chat.Stop, alice, "stop", stop)
		if stopped.Turn != turn.Turn {
			t.Errorf("stopped %q, want %q", stopped.Turn, turn.Turn)
		}
		w.says(chat.Wait, alice, "five") // takes no more steers
		w.says(chat.Wait, bob, "six", forced)
		if got := turn.commit(mailbox.Commit{Take: true}); got.Stop == nil || got.Stop.By != alice || len(got.Taken) != 0 {
			t.Errorf("a commit after the stop: %+v", got)
		}
		if pulse, err := turn.renew(); err != nil || pulse.Stop == nil {
			t.Errorf("a renewal after the stop: %+v %v", pulse, err)
		}
		// Her older steer went with the turn; Bob's words are not hers to stop.
		bobs := w.began(turn.close(mailbox.Stopped, "stopped").Next, bob, "request three | request four")
		alices := w.began(bobs.done("b").Next, alice, "request five")
		w.began(alices.done("c").Next, bob, "request six")
	})
}

func TestP4_StopByAnotherWithdrawsOnlyHisOwnOlderMessages(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, carol, "two")
		w.says(chat.Wait, bob, "three")
		w.says(chat.Wait, bob, "five", sentAt(90))
		w.says(chat.SteerContext, bob, "four", forced)
		r := w.says(chat.Stop, bob, "stop", stop, unaddressed, sentAt(50))
		if r.Turn != turn.Turn || len(r.Withdrawn) != 1 || r.Withdrawn[0] != w.id(at(4)) {
			t.Errorf("the stop: %+v, want turn %s and Bob's third message withdrawn", r, turn.Turn)
		}
		closing, err := turn.tryClose(mailbox.Done, "a", w.room())
		if err != nil || closing.Closed || closing.Stop == nil || closing.Stop.By != bob || closing.Stop.TS != at(50) {
			t.Fatalf("done after a stop: %+v %v", closing, err)
		}
		carols := w.began(turn.close(mailbox.Stopped, "").Next, carol, "request two")
		bobs := w.began(carols.done("b").Next, bob, "request five")
		bobs.done("c")
		w.wantHistory("UALICE stopped | request one", "UCAROL done | request two | entry b", "UBOB done | request five | entry c")
	})
}

func TestP4_WhatIsNewerThanALateStopBecomesAFollowUp(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "old", sentAt(10))
		w.says(chat.SteerOwn, alice, "read", sentAt(30))
		turn.boundary("x")
		w.says(chat.SteerOwn, alice, "unread", sentAt(40))
		w.says(chat.Stop, alice, "stop", stop, sentAt(20))
		next := turn.close(mailbox.Stopped, "").Next
		w.began(next, alice, "request read | request unread").done("b")
		w.wantHistory("UALICE stopped | request one | entry x | steer old | struck read",
			"UALICE done | request read | request unread | entry b")
	})
}

func TestP4_StopOlderThanTheTurnLeavesItAlone(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one", sentAt(50))
		w.says(chat.NothingRunning, bob, "stop", stop, sentAt(40))
		w.says(chat.AsContext, bob, "stop", stop, unaddressed, sentAt(41))
		turn.done("a")
	})
}

func TestP4_StopPolicyActorTouchesNothingOfOthers(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.policy.Stop = runtime.StopByActor
		turn := w.starts(alice, "one")
		w.says(chat.Refused, bob, "stop", stop)
		w.says(chat.AsContext, bob, "stop", stop, unaddressed)
		w.says(chat.Wait, bob, "two")
		if r := w.says(chat.WithdrawOwn, bob, "stop", stop); len(r.Withdrawn) != 1 {
			t.Errorf("withdrawn: %+v, want one", r.Withdrawn)
		}
		if next := turn.done("a").Next; next != nil {
			t.Errorf("a withdrawn message started %+v", next)
		}
		w.says(chat.NothingRunning, bob, "stop", stop)
	})
}

// The race of a stop and the end of its turn has two orders, and one script
// each decides.
func TestP5_StopAndDoneRaceInBothOrders(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Stop, alice, "stop", stop)
		if closing, err := turn.tryClose(mailbox.Done, "a", w.room()); err != nil || closing.Closed || closing.Send != nil {
			t.Fatalf("done after the stop: %+v %v", closing, err)
		}
		turn.n--
		turn.close(mailbox.Stopped, "stopped")

		turn = w.starts(alice, "two")
		turn.done("b")
		if r := w.says(chat.NothingRunning, alice, "stop", stop); r.Withdrawn != nil {
			t.Errorf("a stop after done withdrew %v", r.Withdrawn)
		}
		w.wantHistory("UALICE stopped | request one | entry stopped", "UALICE done | request two | entry b")
	})
}
