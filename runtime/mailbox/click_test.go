package mailbox_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// One step takes the answer, changes the card and lets the turn go on; it takes
// the answer of the turn's actor alone, to this very wait.
func TestP5_AClickIsTheActorsToTheWaitOnTheCard(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		lease := turn.asks(time.Hour).Send
		if end := turn.clicks(w.other, bob, w.room()); !end.NotYours || end.Ended || end.Claimed != nil || end.Send != nil {
			t.Fatalf("somebody else's click: %+v", end)
		}
		other := turn.click(alice, w.room())
		other.Wait = "99"
		if end, err := w.box.EndWait(t.Context(), other); err != nil || end.Ended || end.NotYours {
			t.Fatalf("a click in a wait that there is not: %+v %v", end, err)
		}
		gone := turn.click(alice, w.room())
		gone.Turn = "t_99"
		if end, err := w.box.EndWait(t.Context(), gone); err != nil || end.Ended || end.NotYours {
			t.Fatalf("a click in a turn that there is not: %+v %v", end, err)
		}
		w.wantOutbox("card")
		if _, err := w.box.Sent(t.Context(), *lease, mailbox.Posted{ID: turn.card()}); err != nil {
			t.Fatal(err)
		}
		end := turn.clicks(w.other, alice, w.room())
		if !end.Ended || end.NotYours || end.Send == nil || len(end.Parts) != 1 || end.Parts[0].ID != turn.card()+".a" {
			t.Fatalf("his click: %+v", end)
		}
		w.wantOutbox("card.a answered")
		again := w.began(end.Claimed, alice, "request one")
		w.same("what it waited for", &mailbox.Waited{ID: turn.wait(), For: []byte("consent"), Ended: turn.click(alice, mailbox.Next{}).Ending}, again.claimed.Waited)
		w.same("the waits", []string{"consent answered UALICE"}, again.waits())
		if end := turn.clicks(w.box, alice, w.room()); end.Ended || end.NotYours {
			t.Errorf("he clicks twice: %+v", end)
		}
		if end := turn.clicks(w.box, bob, w.room()); !end.NotYours {
			t.Errorf("somebody else's click that comes late: %+v", end)
		}
		// The answer has been taken up: a stop is about the run now.
		w.says(chat.Stop, alice, "stop", stop)
		again.close(mailbox.Stopped, "")
		w.wantOutbox("card.a answered")
		if _, err := w.box.Sent(t.Context(), *end.Send, mailbox.Posted{ID: turn.card() + ".a"}); err != nil {
			t.Errorf("its lease as a sender: %v", err)
		}
	})
}

// Nothing has been done yet that was allowed: what ends the turn before a
// worker has it undoes the answer, and the card says so last.
func TestP5_AnAnswerThatNoWorkerHasTakenUpIsUndone(t *testing.T) {
	for name, c := range map[string]struct {
		outbox []string
		ends   func(*run)
	}{
		"by a stop": {[]string{"s", "card.v stopped"}, func(r *run) { r.w.says(chat.Stop, alice, "stop", stop) }},
		"by an operator": {[]string{"card.v abandoned", "o"}, func(r *run) {
			err := r.box.Abandon(context.Background(), r.Conversation, r.Turn)
			if err != nil && !errors.Is(err, mailbox.ErrNotOpen) {
				r.t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, mailbox.Options{}, func(w *world) {
				turn := w.starts(alice, "one")
				w.says(chat.Wait, bob, "two")
				turn.asks(time.Hour)
				if end := turn.clicks(w.other, alice, w.room()); !end.Ended || end.Claimed != nil || end.Send != nil {
					t.Fatalf("a click while another's turn runs and another sender works: %+v", end)
				}
				c.ends(turn)
				w.wantOutbox(append([]string{"card", "card.a answered"}, c.outbox...)...)
				w.same("the waits", []string{"consent answered UALICE"}, turn.waits())
			})
		})
	}
}

// Nor is it undone by what comes after a worker has taken it up, or by a forced
// message: that is read by the run that has the answer.
func TestP5_AnAnswerStandsOverAForcedMessage(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		bobs := w.runs(turn.asks(time.Hour).Next)
		turn.clicks(w.other, alice, w.room())
		w.says(chat.EndWait, alice, "three", forced)
		w.wantOutbox("card", "card.a answered")
		again := w.runs(bobs.done("").Next)
		if e := again.claimed.Waited.Ended; again.Turn != turn.Turn || e.How != chat.ByAnswer {
			t.Errorf("turn %s goes on, its wait ended %+v", again.Turn, e)
		}
		w.wantLog("steer three", again.boundary("x"))
		// A wait without a card, after one that had one.
		again.park(w.room())
		w.says(chat.EndWait, alice, "four", forced)
		w.wantOutbox("card", "card.a answered")
		w.same("the waits", []string{"consent answered UALICE", "consent overtaken UALICE"}, again.waits())
	})
}

// An answer counts until the time is over, and no longer, whether or not anybody has
// noticed that it is: one of them counts, and the card says which.
func TestP5_AClickAndTheEndOfItsTime(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		for _, first := range []string{"the click", "the end", "the end, unnoticed"} {
			turn := w.starts(alice, first)
			within := time.Millisecond
			if first == "the click" {
				within = time.Hour
			}
			turn.asks(within)
			before := len(w.outbox())
			var again *run
			if first == "the end" {
				again = turn.expires()
			}
			if first == "the end, unnoticed" {
				<-time.After(within + time.Millisecond)
			}
			end := turn.clicks(w.other, alice, w.room())
			if first == "the end, unnoticed" && !end.Ended {
				again = turn.expires()
			}
			ended, got, err := w.box.ExpireWait(t.Context(), w.conv, turn.Turn, w.room())
			if err != nil || ended || got != nil || end.Ended != (first == "the click") {
				t.Fatalf("%s came first: the click %+v, the end of the time %v %v", first, end, ended, err)
			}
			said := w.outbox()[before:]
			want := []string{"card.v expired"}
			if first == "the click" {
				want = []string{"card.a answered"}
			}
			w.same("what is said", want, said)
			if again == nil {
				again = w.runs(end.Claimed)
			}
			again.done("")
		}
	})
}

// Any number of clicks at a time, on two replicas: one ends the wait.
func TestP5_ManyClicksAtOnceAreOne(t *testing.T) {
	w := onServer(t, mailbox.Options{})
	for range 5 {
		turn := w.starts(alice, "one")
		turn.asks(time.Hour)
		before := len(w.outbox())
		var group sync.WaitGroup
		var mu sync.Mutex
		var claimed []*mailbox.Claimed
		ended, notYours := 0, 0
		for i := range 12 {
			box, who, next := w.box, alice, w.room()
			if i%2 == 1 {
				box = w.other
			}
			if i%3 == 2 {
				who = bob
			}
			group.Go(func() {
				end, err := box.EndWait(t.Context(), turn.click(who, next))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if end.Ended {
					ended++
				}
				if end.NotYours {
					notYours++
				}
				if end.Claimed != nil {
					claimed = append(claimed, end.Claimed)
				}
			})
		}
		group.Wait()
		if ended != 1 || notYours != 4 || len(claimed) != 1 {
			t.Fatalf("%d ended the wait, %d were told that it is not theirs, %d claimed the turn", ended, notYours, len(claimed))
		}
		w.same("what is said", []string{"card.a answered"}, w.outbox()[before:])
		w.runs(claimed[0]).done("")
	}
}

// What nobody has acted on for a day is parked anew: an answer of then counts
// no more, and its card says so.
func TestAnAnswerThatNobodyActsOnForLongIsVoid(t *testing.T) {
	onEveryStore(t, mailbox.Options{Untouched: 700 * time.Millisecond}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.asks(time.Hour)
		turn.clicks(w.box, alice, w.noRoom())
		w.wantOutbox("card", "card.a answered")
		<-time.After(750 * time.Millisecond)
		if r := w.claim(w.other); r.Claimed != nil {
			t.Fatalf("claimed: %+v", r.Claimed)
		}
		w.wantOutbox("card", "card.a answered", "card.v expired", "u")
		if err := w.box.Resume(t.Context(), w.conv, turn.Turn); err != nil && !errors.Is(err, mailbox.ErrNotUntouched) {
			t.Fatal(err)
		}
		again := w.runs(w.claim(w.other).Claimed)
		w.same("how it goes on", chat.ByOperator, again.claimed.Waited.Ended.How)
		w.same("the waits", []string{"consent answered UALICE", "untouched resumed"}, again.waits())
		w.wantOutbox("card", "card.a answered", "card.v expired", "u")
	})
}
