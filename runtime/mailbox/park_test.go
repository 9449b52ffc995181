package mailbox_test

import (
	"errors"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func TestP4_ParkedTurnHoldsNobodyAndGoesOnFirst(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		parking := turn.park(w.room(), "calls")
		if !parking.Parked {
			t.Fatalf("not parked: %+v", parking)
		}
		if _, err := turn.renew(); !errors.Is(err, mailbox.ErrStale) {
			t.Errorf("a parked turn's lease was renewed: %v", err)
		}
		bobs := w.began(parking.Next, bob, "request two")
		w.says(chat.Wait, carol, "three")
		w.says(chat.JoinParked, alice, "four")
		ended, got, err := turn.endWait(w.box, turn.wait(), w.room())
		if err != nil || !ended || got != nil {
			t.Fatalf("the end of the wait: %v %v %v, want it queued behind Bob's", ended, got, err)
		}
		if ended, _, err := turn.endWait(w.box, turn.wait(), w.room()); ended || err != nil {
			t.Fatalf("the wait ended twice: %v %v", ended, err)
		}
		w.says(chat.JoinParked, alice, "five") // between wait and claim, too
		again := w.began(bobs.done("b").Next, alice, "request one | entry calls")
		if again.Turn != turn.Turn || again.claimed.Attempt != 1 {
			t.Errorf("claimed %+v, want turn %s at its first attempt", again.claimed, turn.Turn)
		}
		w.wantLog("steer four | steer five", again.boundary("results"))
		w.began(again.done("a").Next, carol, "request three")
	})
}

func TestP4_EndOfAWaitIsClaimedWhereNoneRuns(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.park(w.room())
		ended, got, err := turn.endWait(w.other, turn.wait(), w.room())
		if err != nil || !ended {
			t.Fatal(ended, err)
		}
		w.began(got, alice, "request one").done("a")
	})
}

func TestP4_ForcedMessageEndsTheWait(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.park(w.room())
		r := w.says(chat.EndWait, alice, "two", forced)
		again := w.began(r.Claimed, alice, "request one")
		if again.Turn != turn.Turn || r.Turn != turn.Turn {
			t.Errorf("claimed %s for %s, want %s", again.Turn, r.Turn, turn.Turn)
		}
		w.wantLog("steer two", again.boundary("not approved"))
		if ended, _, _ := turn.endWait(w.box, turn.wait(), w.room()); ended {
			t.Error("a running turn's wait ended")
		}
		again.done("a")
	})
}

func TestP4_SteerIsReadBeforeTheTurnParks(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		if p := turn.park(w.room(), "calls"); p.Parked || p.Stop != nil {
			t.Fatalf("parked over a steer: %+v", p)
		}
		turn.n--
		w.wantLog("steer two", turn.boundary("x"))
		w.says(chat.Stop, bob, "stop", stop)
		if p := turn.park(w.room(), "calls"); p.Parked || p.Stop == nil {
			t.Fatalf("parked over a stop: %+v", p)
		}
		turn.close(mailbox.Stopped, "")
		w.wantHistory("UALICE stopped | request one | entry x | steer two")
	})
}

func TestP4_BatchOfAParkedTurnsAuthorJoinsIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.policy.SameActor = "follow_up"
		turn := w.starts(alice, "one")
		w.says(chat.Wait, alice, "two")
		w.says(chat.Wait, alice, "three")
		w.says(chat.Wait, bob, "four")
		bobs := w.began(turn.park(w.room()).Next, bob, "request four")
		bobs.done("b")
		ended, got, err := turn.endWait(w.box, turn.wait(), w.room())
		if err != nil || !ended {
			t.Fatal(ended, err)
		}
		again := w.began(got, alice, "request one")
		w.wantLog("steer two | steer three", again.boundary("results"))
		again.done("a")
	})
}

func TestP4_MessageBehindOneThatWaitsDoesNotOvertakeItIntoTheParkedTurn(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.policy.SameActor = "follow_up"
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		w.says(chat.Wait, alice, "three")
		bobs := w.began(turn.park(w.room()).Next, bob, "request two")
		w.says(chat.Wait, alice, "four")
		if next := bobs.done("b").Next; next != nil {
			t.Fatalf("a second turn of Alice's: %+v", next)
		}
		w.says(chat.JoinParked, alice, "five")
		w.says(chat.EndWait, alice, "six", forced)
	})
}

// A steer whose author is not looked up yet is named. Where that cannot be found
// out the turn waits without it, and it becomes its author's own request.
func TestP4_TurnParksWithoutTheSteersOfWhomNobodyKnows(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerContext, bob, "two", forced, unchecked)
		w.says(chat.SteerContext, bob, "three", forced)
		w.says(chat.SteerContext, carol, "four", forced, unchecked)
		p := turn.park(w.room(), "calls")
		if p.Parked || p.Unread || len(p.Unchecked) != 3 || p.Unchecked[0].Author != bob || p.Unchecked[2].Author != carol {
			t.Fatalf("parked over steers that nobody has looked up: %+v", p)
		}
		if p := turn.parks(mailbox.Park{Next: w.room(), Leave: []chat.Actor{carol}}); p.Parked || p.Unread || len(p.Unchecked) != 2 {
			t.Fatalf("without Carol's alone: %+v", p)
		}
		w.says(chat.SteerOwn, alice, "five")
		both := []chat.Actor{bob, carol}
		if p := turn.parks(mailbox.Park{Next: w.room(), Leave: both}); p.Parked || !p.Unread {
			t.Fatalf("parked over a steer that may be read: %+v", p)
		}
		turn.n--
		w.wantLog("steer five", turn.boundary("x"))
		p = turn.parks(mailbox.Park{Next: w.room(), Leave: both, Entries: entries("calls")})
		if !p.Parked {
			t.Fatalf("not parked without the steers of whom nobody knows: %+v", p)
		}
		bobs := w.began(p.Next, bob, "request two | request three")
		w.began(bobs.done("b").Next, carol, "request four").done("c")
		again := w.began(turn.endsWait(w.box, w.room()), alice, "request one | entry x | steer five | entry calls")
		again.done("a")
	})
}
