package mailbox_test

import (
	"context"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func TestP4_HistoryEndsWhereTheTurnBegan(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		for range 10 { // more than one page
			w.starts(alice, "one").done("a")
		}
		turn := w.starts(bob, "two")
		turn.park(w.room())
		w.starts(alice, "later").done("b")
		if turn.claimed.History != 10 {
			t.Errorf("history ends at %d, want 10", turn.claimed.History)
		}
		seen := int64(0)
		missing, err := w.box.History(t.Context(), w.conv, turn.claimed.History, func(c mailbox.ClosedTurn) bool {
			seen++
			if c.Number != 11-seen {
				t.Errorf("turn %d is number %d", seen, c.Number)
			}
			return true
		})
		if err != nil || missing || seen != 10 {
			t.Errorf("%d turns, missing %v, %v; want all 10", seen, missing, err)
		}
		missing, err = w.box.History(t.Context(), w.conv, 10, func(mailbox.ClosedTurn) bool { return false })
		if err != nil || !missing {
			t.Errorf("a reader who wants no more is told missing=%v, %v", missing, err)
		}
	})
}

func TestP4_FactsAndOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		if raw, err := w.box.Fact(t.Context(), alice); raw != nil || err != nil {
			t.Errorf("an unknown fact: %q %v", raw, err)
		}
		if err := w.box.KeepFact(t.Context(), alice, []byte("zone"), time.Hour); err != nil {
			t.Fatal(err)
		}
		if raw, err := w.box.Fact(t.Context(), alice); string(raw) != "zone" || err != nil {
			t.Errorf("a kept fact: %q %v", raw, err)
		}
		for i, want := range []bool{true, false} {
			if first, err := w.box.Once(t.Context(), "notice", time.Hour); first != want || err != nil {
				t.Errorf("asked %d times: %v %v", i+1, first, err)
			}
		}
		if err := w.box.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestP8_SignalsReachTheHolderAndWhoHasRoom(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		signals, ended := make(chan mailbox.Signal, 64), make(chan error, 1)
		go func() { ended <- w.box.Signals(ctx, func(s mailbox.Signal) { signals <- s }) }()
		patience := time.After(20 * time.Second)
		await := func(want func(mailbox.Signal) bool, again func()) {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case s := <-signals:
					if want(s) {
						return
					}
				case <-tick.C:
					again()
				case <-patience:
					t.Fatal("a signal never came")
				}
			}
		}
		turn := w.starts(alice, "one")
		// What is published before the subscription stands is lost: say more.
		await(func(s mailbox.Signal) bool { return s.Steer == turn.Turn }, func() { w.says(chat.SteerOwn, alice, "two") })
		w.says(chat.Stop, bob, "stop", stop)
		await(func(s mailbox.Signal) bool { return s.Stop == turn.Turn }, func() {})
		w.says(chat.Wait, bob, "three")
		if _, err := turn.tryClose(mailbox.Stopped, "", w.noRoom()); err != nil {
			t.Fatal(err)
		}
		await(func(s mailbox.Signal) bool { return s.Work != nil && *s.Work == w.conv }, func() {})
		cancel()
		if err := <-ended; err == nil {
			t.Error("Signals ended without a reason")
		}
	})
}

// However much is on offer, the end of a lease is seen.
func TestP8_BacklogHidesNoLease(t *testing.T) {
	t.Parallel()
	w := onServer(t, mailbox.Options{})
	var puts []mailbox.Put
	for range 100 { // all in one channel, and so in one shard
		m := w.message(bob, "waits")
		m.Conversation.Root = m.ID.TS
		puts = append(puts, w.asPut(m, false))
	}
	w.put(puts...)
	turn := w.starts(alice, "one")
	kinds := map[mailbox.DueKind]int{}
	due, err := w.box.Due(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range due {
		kinds[d.Kind]++
		if d.Kind == mailbox.DueQueue && d.In > 0 {
			t.Fatalf("on offer, and due only in %s", d.In)
		}
	}
	if kinds[mailbox.DueTurn] != 1 || kinds[mailbox.DueQueue] == 0 {
		t.Errorf("the index shows %v, want turn %s and some on offer", kinds, turn.Turn)
	}
}
