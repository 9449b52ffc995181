package mailbox_test

import (
	"context"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Signs in these tests are late, or leases over, after a moment or never: the
// store's clock need not be waited for.
const (
	moment = time.Millisecond
	never  = time.Hour
)

func (w *world) sign(box *mailbox.Box, s mailbox.Sign) *mailbox.Gap {
	w.t.Helper()
	gap, err := box.Stamp(context.Background(), s)
	if err != nil {
		w.t.Fatal(err)
	}
	return gap
}

// late waits until a sign is late, and gives it.
func (w *world) late(box *mailbox.Box, lease time.Duration) *mailbox.Gap {
	w.t.Helper()
	<-time.After(5 * moment)
	return w.sign(box, mailbox.Sign{GapAfter: moment, Lease: lease})
}

func (w *world) noGap(what string, gap *mailbox.Gap) {
	w.t.Helper()
	if gap != nil {
		w.t.Fatalf("%s: %+v, want no gap", what, *gap)
	}
}

func TestP11_OnlyALateSignOpensAGap(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.noGap("the first start ever", w.sign(w.box, mailbox.Sign{GapAfter: 10 * time.Second, Lease: never}))
		w.noGap("a sign in time", w.sign(w.box, mailbox.Sign{GapAfter: never, Lease: never}))
		before := time.Now()
		gap := w.late(w.other, never)
		if gap == nil || !gap.Mine {
			w.t.Fatalf("after a late sign there is %+v, want a gap for whoever gave it", gap)
		}
		if d := before.Sub(gap.From); d < -time.Second || d > 10*time.Second {
			w.t.Errorf("it begins %v before the last sign in time", d)
		}
	})
}

// A socket on which nothing came for long was dead all that time, whatever was
// signed meanwhile.
func TestP11_ADeafSocketIsAGapFromWhenItWasLastHeard(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.noGap("the first sign", w.sign(w.box, mailbox.Sign{Silent: time.Minute, GapAfter: never, Lease: never}))
		w.noGap("an old socket", w.sign(w.box, mailbox.Sign{Silent: time.Minute, GapAfter: never, DeafAfter: 20 * time.Second, Lease: never}))
		gap := w.sign(w.box, mailbox.Sign{NewSocket: true, GapAfter: never, DeafAfter: 20 * time.Second, Lease: never})
		if gap == nil || !gap.Opened {
			w.t.Fatalf("after a new socket there is %+v, want a gap", gap)
		}
		if d := time.Since(gap.From); d < 50*time.Second || d > 2*time.Minute {
			w.t.Errorf("it begins %v ago, want a minute", d)
		}
		// Another replica has heard Slack all the while.
		w.noGap("closed", w.closes(w.box, gap, true))
		gap = w.sign(w.other, mailbox.Sign{Silent: time.Minute, NewSocket: true, GapAfter: never, DeafAfter: 20 * time.Second, Lease: never})
		w.noGap("heard by another", gap)
	})
}

func TestP11_OneReplicaReadsAndAnotherTakesOver(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.sign(w.box, mailbox.Sign{GapAfter: never, Lease: never})
		gap := w.late(w.box, never)
		if gap == nil || !gap.Opened || !gap.Mine {
			w.t.Fatalf("the opener has %+v", gap)
		}
		if w.other == w.box {
			return // the embedded store has one replica
		}
		other := w.sign(w.other, mailbox.Sign{GapAfter: never, Lease: moment})
		if other == nil || other.Mine || other.Opened || other.Number != gap.Number {
			w.t.Fatalf("while one reads, the other has %+v", other)
		}
		if closed, err := w.other.CloseGap(context.Background(), *other); err != nil || closed {
			w.t.Fatalf("one that does not read closes it: %v, %v", closed, err)
		}
		// The reader's last sign gives it the right for a moment only.
		w.sign(w.box, mailbox.Sign{GapAfter: never, Lease: moment})
		<-time.After(5 * moment)
		if other = w.sign(w.other, mailbox.Sign{GapAfter: never, Lease: never}); other == nil || !other.Mine {
			w.t.Fatalf("after the reader's death the other has %+v", other)
		}
		w.closes(w.box, gap, false)
		w.closes(w.other, other, true)
	})
}

func (w *world) closes(box *mailbox.Box, gap *mailbox.Gap, want bool) *mailbox.Gap {
	w.t.Helper()
	closed, err := box.CloseGap(context.Background(), *gap)
	if err != nil || closed != want {
		w.t.Fatalf("gap %d closes: %v (%v), want %v", gap.Number, closed, err, want)
	}
	return w.sign(box, mailbox.Sign{GapAfter: never, Lease: never})
}

// A gap that is prolonged while it is read stays open from where it was
// prolonged; one that is prolonged before somebody reads is one.
func TestP11_AGapThatIsProlongedIsReadAgain(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.sign(w.box, mailbox.Sign{GapAfter: never, Lease: never})
		first := w.late(w.box, never)
		second := w.late(w.box, never)
		if first == nil || second == nil || second.Number == first.Number || !second.From.Equal(first.From) {
			w.t.Fatalf("prolonged: %+v, then %+v", first, second)
		}
		left := w.closes(w.box, first, false)
		if left == nil || !left.From.After(first.From) || left.Number != second.Number {
			w.t.Fatalf("what is left of it is %+v, want one from later on", left)
		}
		w.noGap("read to the end", w.closes(w.box, left, true))
		third, fourth := w.late(w.box, never), w.late(w.box, never)
		if third == nil || fourth == nil {
			w.t.Fatal("no new gap")
		}
		w.noGap("read as one", w.closes(w.box, fourth, true))
	})
}

// Reading back goes no further than messages are known, or what was answered
// would be answered again.
func TestP11_ALongGapIsReadFromSevenDaysAgo(t *testing.T) {
	w := onServer(t, mailbox.Options{})
	w.sign(w.box, mailbox.Sign{Silent: 30 * 24 * time.Hour, GapAfter: never, Lease: never})
	gap := w.late(w.box, never)
	if gap == nil {
		t.Fatal("no gap")
	}
	if d := time.Since(gap.From); d < mailbox.MaxGap-time.Minute || d > mailbox.MaxGap+time.Minute {
		t.Errorf("it is read from %v ago", d)
	}
}

func TestP11_WhereToReadIsKnown(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		touched := func() (all []string) {
			list, err := w.box.Touched(context.Background(), time.Now())
			if err != nil {
				w.t.Fatal(err)
			}
			for _, c := range list {
				all = append(all, string(c.Root))
			}
			return all
		}
		w.same("before anything", []string(nil), touched())
		w.says(chat.Ignored, bob, "to somebody else", unaddressed, func(m *chat.Message) { m.Conversation.Root = at(600) })
		w.starts(alice, "hello").done("a")
		w.same("a first message", []string{string(at(1))}, touched())
		<-time.After(2 * moment)
		// A DM's message that joins an earlier conversation can be replied to.
		w.says(chat.Start, bob, "in private", sentAt(700), dm(at(700)))
		<-time.After(2 * moment)
		w.says(chat.SteerOwn, bob, "and more", sentAt(701), dm(at(701)))
		if got := touched(); len(got) != 3 || got[2] != string(at(1)) {
			w.t.Errorf("touched: %q, want the DM's two threads and then the channel's", got)
		}
		<-time.After(2 * moment)
		w.says(chat.AsContext, carol, "by the way", unaddressed)
		if got := touched(); len(got) != 3 || got[0] != string(at(1)) {
			w.t.Errorf("touched: %q, want the thread of last first", got)
		}
	})
}

// The figure of doc.go, "Round trips".
func TestP11_ASignIsOneRoundTrip(t *testing.T) {
	w := onServer(t, mailbox.Options{})
	w.sign(w.box, mailbox.Sign{GapAfter: never, Lease: never}) // the server learns the scripts
	before := w.box.Trips()
	w.sign(w.box, mailbox.Sign{GapAfter: never, Lease: never})
	if n := w.box.Trips() - before; n != 1 {
		t.Errorf("a sign is %d round trips", n)
	}
}
