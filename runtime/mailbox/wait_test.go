package mailbox_test

import (
	"slices"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

var clicked = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A click that comes late, or twice, belongs to the wait that it was made for,
// whatever the turn waits for now.
func TestP4_AnOldEndEndsNoLaterWait(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.park(w.room(), "calls")
		first := turn.wait()
		ends := func(want bool, wait mailbox.WaitID, allowed string) *mailbox.Claimed {
			w.t.Helper()
			end, err := w.other.EndWait(w.t.Context(), mailbox.EndingWait{
				Conversation: w.conv, Turn: turn.Turn, Wait: wait, Next: w.room(), By: alice,
				Ending: chat.Ending{How: chat.ByAnswer, By: &alice, Time: clicked, Allowed: []string{allowed}},
			})
			if err != nil || end.Ended != want || end.NotYours {
				w.t.Fatalf("the end of wait %s: %+v %v, want %v", wait, end, err, want)
			}
			return end.Claimed
		}
		ends(false, "99", "of no wait")
		again := w.runs(ends(true, first, "yes"))
		w.same("the wait", &mailbox.Waited{ID: first, For: []byte("consent"), Ended: chat.Ending{
			How: chat.ByAnswer, By: &alice, Time: clicked, Allowed: []string{"yes"},
		}}, again.claimed.Waited)
		again.boundary("results")
		again.park(w.room(), "more calls")
		if again.wait() == first {
			w.t.Fatalf("two waits of a turn are both named %s", first)
		}
		ends(false, first, "yes, once more")
		if s, err := w.box.Story(w.t.Context(), w.conv, turn.Turn); err != nil || s.State != "parked" || s.WaitID != again.wait() {
			w.t.Errorf("the turn is %s in wait %s (%v), want it parked in %s", s.State, s.WaitID, err, again.wait())
		}
		w.runs(ends(true, again.wait(), "no")).done("a")
		ends(false, again.wait(), "late")
		if _, _, err := again.endWait(w.box, "", w.room()); err == nil {
			w.t.Error("a wait was ended that nobody named")
		}
	})
}

// What the turn asks somebody stands in the outbox when it is parked.
func TestP5_WhatAWaitAsksIsPostedWithIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		if got := turn.parks(mailbox.Park{Parts: []chat.Part{turn.part("too early")}}); got.Parked || got.Send != nil {
			w.t.Fatalf("parked over a steer: %+v", got)
		}
		turn.n--
		turn.boundary("x")
		got := turn.parks(mailbox.Park{Parts: []chat.Part{turn.part("may I?")}, Next: w.room()})
		if !got.Parked || got.Send == nil || len(got.Parts) != 1 || got.Parts[0].Markdown != "may I?" {
			w.t.Fatalf("what is to be posted: %+v", got)
		}
		unsent, _, err := w.box.Unsent(w.t.Context())
		if err != nil || len(unsent) != 1 || unsent[0].ID != got.Parts[0].ID {
			w.t.Errorf("the outbox holds %+v %v", unsent, err)
		}
		if _, err := w.box.Sent(w.t.Context(), *got.Send, mailbox.Posted{ID: got.Parts[0].ID}); err != nil {
			w.t.Error(err)
		}
	})
}

// A wait has its time, by the store's clock: nobody has to remember it.
func TestP4_AWaitEndsWhenItsTimeIsOver(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		expires := func(want bool) *mailbox.Claimed {
			w.t.Helper()
			ended, got, err := w.other.ExpireWait(w.t.Context(), w.conv, turn.Turn, w.room())
			if err != nil || ended != want {
				w.t.Fatalf("the time is over: %v %v, want %v", ended, err, want)
			}
			return got
		}
		due := func() []mailbox.Due {
			w.t.Helper()
			all, err := w.box.Due(w.t.Context())
			if err != nil {
				w.t.Fatal(err)
			}
			return slices.DeleteFunc(all, func(d mailbox.Due) bool { return d.Kind != mailbox.DueWait })
		}
		expires(false) // it runs
		turn.parks(mailbox.Park{Within: time.Hour})
		expires(false)
		if d := due(); len(d) != 1 || d[0].Turn != turn.Turn || d[0].In > time.Hour || d[0].In < 50*time.Minute {
			w.t.Fatalf("the index: %+v, want the turn within the hour", d)
		}
		_, got, err := turn.endWait(w.box, turn.wait(), w.room())
		if err != nil {
			w.t.Fatal(err)
		}
		if d := due(); len(d) != 0 {
			w.t.Errorf("the time of a wait that has ended is still to be watched: %+v", d)
		}
		turn = w.runs(got)
		turn.parks(mailbox.Park{Within: 20 * time.Millisecond})
		<-time.After(due()[0].In + time.Millisecond)
		// An answer counts until then, whether or not anybody has looked at the clock.
		late := mailbox.EndingWait{Conversation: w.conv, Turn: turn.Turn, Wait: turn.wait(), By: alice, Next: w.room(),
			Ending: chat.Ending{How: chat.ByAnswer, By: &alice, Allowed: []string{"yes"}}}
		if end, err := w.other.EndWait(w.t.Context(), late); err != nil || end.Ended || end.NotYours {
			w.t.Fatalf("an answer after the time: %+v %v", end, err)
		}
		turn = w.runs(expires(true))
		if e := turn.claimed.Waited.Ended; e.How != chat.ByTime || time.Since(e.Time).Abs() > time.Hour {
			w.t.Errorf("the wait ended as %+v", e)
		}
		expires(false)
		turn.parks(mailbox.Park{Within: time.Hour})
		w.says(chat.Stop, alice, "stop", stop)
		if d := due(); len(d) != 0 {
			w.t.Errorf("the time of a turn that was stopped is still to be watched: %+v", d)
		}
	})
}
