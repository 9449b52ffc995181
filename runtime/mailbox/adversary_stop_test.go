package mailbox_test

import (
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// posts are the texts that wait in the outbox for whoever sends.
func (w *world) posts() []string {
	w.t.Helper()
	_, parts, _, err := w.other.ClaimSending(w.t.Context(), w.conv)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range parts {
		if want := (chat.Destination{Channel: w.conv.Channel, Thread: w.conv.Root}); p.To != want {
			w.t.Errorf("part %s goes to %+v, want %+v", p.ID, p.To, want)
		}
	}
	return ids(parts)
}

const stoppedLog = `entry {"role":"assistant","origin":"answer","text":"Stopped.","provenance":{"authority":"context"},"posted":true}`

// A parked turn has no worker: its stop must not wait for another's turn to end.
func TestP4_StopOfAParkedTurnEndsItWhileAnothersRuns(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		parked := w.starts(alice, "one")
		parked.park(w.noRoom(), "calls")
		bobs := w.starts(bob, "two")
		w.says(chat.JoinParked, alice, "old", sentAt(10))
		w.says(chat.JoinParked, alice, "new", sentAt(30))
		if r := w.says(chat.Stop, alice, "stop", stop, sentAt(20)); r.Turn != parked.Turn || r.Claimed != nil {
			t.Errorf("the stop: %+v, want turn %s stopped and nothing claimed", r, parked.Turn)
		}
		w.wantHistory("UALICE stopped | request one | entry calls | " + stoppedLog)
		w.same("what is to be posted", []string{mailbox.StoppedText}, w.posts())
		if ended, _, err := parked.endWait(w.box, parked.wait(), w.room()); ended || err != nil {
			t.Errorf("the wait of a stopped turn ended: %v %v", ended, err)
		}
		// What is newer than the stop is a follow-up; what is older went with it.
		w.says(chat.Wait, alice, "five", sentAt(40))
		again := w.began(bobs.done("b").Next, alice, "request new | request five")
		if again.Turn == parked.Turn {
			t.Error("a stopped turn goes on")
		}
		again.done("c")
	})
}

// Between the end of its wait and its claim a turn has no worker, either.
func TestP4_StopOfATurnWhoseWaitHasEnded(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		parked := w.starts(alice, "one")
		parked.park(w.noRoom())
		bobs := w.starts(bob, "two")
		if ended, _, err := parked.endWait(w.box, parked.wait(), w.room()); !ended || err != nil {
			t.Fatal(ended, err)
		}
		w.says(chat.Stop, alice, "stop", stop)
		w.wantHistory("UALICE stopped | request one | " + stoppedLog)
		if next := bobs.done("b").Next; next != nil {
			t.Errorf("a stopped turn was claimed: %+v", next)
		}
	})
}

func TestP4_StopOfAParkedTurnStartsWhatIsNewer(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.starts(alice, "one").park(w.noRoom())
		w.says(chat.JoinParked, alice, "new", sentAt(30))
		r := w.says(chat.Stop, alice, "stop", stop, sentAt(20))
		w.began(r.Claimed, alice, "request new").done("b")
	})
}

// A stop covers its author's older messages however the turn comes to end: the
// failure may have been on its way when the stop came.
func TestP4_StopCoversWhatATurnLeavesThatFailsFirst(t *testing.T) {
	for _, outcome := range []mailbox.Outcome{mailbox.Failed, mailbox.Abandoned} {
		t.Run(string(outcome), func(t *testing.T) {
			onEveryStore(t, mailbox.Options{}, func(w *world) {
				turn := w.starts(alice, "one")
				w.says(chat.SteerOwn, alice, "two")
				turn.boundary("x")
				w.says(chat.SteerOwn, alice, "three")
				w.says(chat.Stop, alice, "stop", stop)
				if next := turn.close(outcome, "sorry").Next; next != nil {
					t.Errorf("what was stopped goes on: %+v", next)
				}
			})
		})
	}
}

// What is newer than a late stop is not lost because the model has seen it: only
// a posted answer has answered it.
func TestP4_WhatIsNewerThanALateStopAndUnansweredBecomesAFollowUp(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "answered", sentAt(25))
		turn.staysOpen("a", "steer answered")
		w.says(chat.SteerOwn, alice, "seen", sentAt(30))
		turn.staysOpen("b", "steer seen")
		turn.answers("calls")
		w.says(chat.Stop, alice, "stop", stop, sentAt(20))
		w.began(turn.close(mailbox.Stopped, "").Next, alice, "request seen").done("c")
		w.wantHistory("UALICE stopped | request one | entry a | steer answered | entry b | struck seen | entry calls",
			"UALICE done | request seen | entry c")
	})
}

// A run that only looks for steers, and is lost over what follows, must not be
// begun again for ever.
func TestP8_ALookForSteersIsNoProgress(t *testing.T) {
	onEveryStore(t, short, func(w *world) {
		turn := w.starts(alice, "one")
		for attempt := 2; attempt <= 2; attempt++ {
			turn.commit(mailbox.Commit{Take: true})
			turn = w.runs(w.claimLate(w.other).Claimed)
			if turn.claimed.Attempt != attempt {
				t.Fatalf("attempt %d, want %d", turn.claimed.Attempt, attempt)
			}
		}
		turn.commit(mailbox.Commit{Take: true})
		if r := w.claimLate(w.box); r.Exhausted == nil {
			t.Errorf("the third claim: %+v, want the turn exhausted", r)
		}
	})
}

// A turn that was handed over is on offer, not a lost worker's.
func TestP8_AHandedOverTurnIsOnOffer(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		if err := turn.box.HandOver(t.Context(), turn.Ref); err != nil {
			t.Fatal(err)
		}
		due, err := w.box.Due(t.Context())
		if err != nil || len(due) != 1 || due[0].Kind != mailbox.DueQueue || due[0].In > 0 {
			t.Fatalf("the index: %+v %v, want the conversation on offer", due, err)
		}
		next := w.runs(w.claim(w.other).Claimed)
		if next.claimed.Unread != 1 {
			t.Errorf("the claimer is told of %d steers, want 1", next.claimed.Unread)
		}
		if err := turn.box.HandOver(t.Context(), turn.Ref); err == nil {
			t.Error("a turn that is another's was handed over")
		}
		w.wantLog("steer two", next.boundary("x"))
		next.done("a")
		if due, err := w.box.Due(t.Context()); err != nil || len(due) != 1 || due[0].Kind != mailbox.DueSend {
			t.Errorf("the index at the end: %+v %v, want the outbox alone", due, err)
		}
	})
}
