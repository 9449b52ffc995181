package mailbox_test

import (
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// short leases end soon enough to be waited for; a lease that nobody claims
// goes on, so that a slow machine spoils nothing.
var short = mailbox.Options{LeaseTTL: 150 * time.Millisecond}

func TestP5_LostWorkerIsRefusedAndWritesNothing(t *testing.T) {
	onEveryStore(t, short, func(w *world) {
		lost := w.starts(alice, "one")
		lost.boundary("x")
		w.says(chat.SteerOwn, alice, "two")
		again := w.began(w.claimLate(w.other).Claimed, alice, "request one | entry x")
		if again.Turn != lost.Turn || again.Token == lost.Token || again.claimed.Commits != 1 || again.claimed.Fresh {
			t.Errorf("claimed %+v after %+v", again.claimed, lost.Ref)
		}
		lost.isLost()
		w.wantLog("steer two", again.boundary("y"))
		again.done("a")
		again.n = 99
		lost.isLost()
		w.wantHistory("UALICE done | request one | entry x | entry y | steer two | entry a")
	})
}

func TestP8_RenewalKeepsALeaseAndRevivesAnUnclaimedOne(t *testing.T) {
	onEveryStore(t, short, func(w *world) {
		turn := w.starts(alice, "one")
		due, err := w.box.Due(t.Context())
		if err != nil || len(due) != 1 || due[0].Kind != mailbox.DueTurn || due[0].Turn != turn.Turn || due[0].In > short.LeaseTTL {
			t.Fatalf("the index: %+v %v, want the turn within its lease", due, err)
		}
		<-time.After(due[0].In + time.Millisecond)
		if pulse, err := turn.renew(); err != nil || pulse.Stop != nil {
			t.Fatalf("an ended, unclaimed lease: %+v %v, want it renewed", pulse, err)
		}
		w.says(chat.SteerOwn, alice, "two")
		if pulse, err := turn.renew(); err != nil || pulse.Unread != 1 {
			t.Errorf("a renewal while a steer waits: %+v %v", pulse, err)
		}
		w.runs(w.claimLate(w.other).Claimed)
		turn.isLost()
	})
}

func TestP8_AttemptsCountOnlyLossesWithoutProgress(t *testing.T) {
	onEveryStore(t, short, func(w *world) {
		w.starts(alice, "one")
		second := w.runs(w.claimLate(w.other).Claimed)
		if second.claimed.Attempt != 2 || !second.claimed.Fresh || string(second.claimed.Setup) != "setup" {
			t.Errorf("the second claim: %+v", second.claimed)
		}
		second.boundary("x") // progress
		third := w.runs(w.claimLate(w.box).Claimed)
		if third.claimed.Attempt != 1 || third.claimed.Ran < 2*short.LeaseTTL {
			t.Errorf("the claim after progress: %+v", third.claimed)
		}
		if r := w.claimLate(w.box); r.Claimed == nil || r.Claimed.Attempt != 2 {
			t.Errorf("the claim after no progress: %+v", r)
		}
	})
}

func TestP8_ExhaustedTurnIsAbandonedUnderANewToken(t *testing.T) {
	onEveryStore(t, short, func(w *world) {
		w.starts(alice, "one")
		lost := w.runs(w.claimLate(w.other).Claimed) // the second of two
		lost.n = lost.claimed.Commits
		w.says(chat.Wait, bob, "two")
		w.says(chat.SteerContext, carol, "three", forced)
		r := w.claimLate(w.box)
		if r.Exhausted == nil || r.Exhausted.Turn != lost.Turn || r.Exhausted.Actor != alice {
			t.Fatalf("the third claim: %+v, want the turn exhausted", r)
		}
		if r := w.claim(w.other); r.Later == 0 {
			t.Errorf("another replica may abandon it, too: %+v", r)
		}
		lost.isLost()
		closing, err := w.box.Close(t.Context(), mailbox.Close{
			Ref: r.Exhausted.Ref, Number: r.Exhausted.Commits + 1, Outcome: mailbox.Abandoned,
			Parts: []chat.Part{{ID: "notice", Turn: lost.Turn}}, Next: w.room(),
		})
		if err != nil || !closing.Closed || closing.Send == nil {
			t.Fatalf("abandoned: %+v %v", closing, err)
		}
		w.began(w.began(closing.Next, bob, "request two").done("b").Next, carol, "request three")
	})
}

func TestP8_HandOverIsClaimableAtOnceAndNeverCounts(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		for range 5 {
			if r := w.claim(w.other); r.Later == 0 || r.Claimed != nil {
				t.Fatalf("a held turn was claimed: %+v", r)
			}
			if err := turn.box.HandOver(t.Context(), turn.Ref); err != nil {
				t.Fatal(err)
			}
			turn.isLost() // a renewal under way takes nothing back
			next := w.began(w.claim(w.other).Claimed, alice, "request one")
			if next.claimed.Attempt != 1 {
				t.Fatalf("attempt %d after a hand-over, want 1", next.claimed.Attempt)
			}
			turn = next
		}
		turn.done("a")
	})
}
