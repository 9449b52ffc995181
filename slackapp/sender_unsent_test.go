package slackapp_test

import (
	"strings"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// wantUnsent wants one part given up, for a reason.
func (b *bench) wantUnsent(id, why string) {
	b.Helper()
	b.box.mu.Lock()
	defer b.box.mu.Unlock()
	for _, u := range b.box.unsent {
		if u.ID == id && strings.Contains(u.Unsent.Why, why) {
			return
		}
	}
	b.Errorf("given up: %+v, want %s for %q", b.box.unsent, id, why)
}

func (b *bench) counted(name string, want int) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got := b.counts[name]; got != want {
		b.Errorf("counted %d of %q, want %d; %v", got, name, want, b.counts)
	}
}

// TestP7_RefusedForGood: it is kept, counted and told to the actor by DM; what
// stands behind it goes on.
func TestP7_RefusedForGood(t *testing.T) {
	b := newBench(t, nil)
	gone := b.part(1, "lost")
	gone.To = chat.Destination{Channel: "CNOWHERE", Thread: "1.000001"}
	b.send(false, gone, b.part(2, "here"))
	b.expect(b.posted(simulator.General, b.root), "here")
	b.wantUnsent(gone.ID, "channel_not_found")
	b.counted("parts refused", 1)
	b.expect(b.posted(simulator.AliceDM, ""), slackapp.TextRefused(gone.Turn, "channel_not_found"))
}

// TestP7_ARefusedNoticeGoesNoFurther: a DM that Slack refuses is not told of by
// another DM.
func TestP7_ARefusedNoticeGoesNoFurther(t *testing.T) {
	b := newBench(t, nil)
	b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: "is_archived"})
	b.sim.Fail(simulator.Fault{Method: "conversations.open", Error: "user_disabled"})
	b.send(false, b.part(1, "lost"))
	b.wantUnsent(b.part(1, "").ID, "is_archived")
	b.wantUnsent(b.part(1, "").ID+".dm", "user_disabled")
	b.counted("parts refused", 2)
}

// TestP7_TooOld: a part is not posted a day late, and its actor is told so; a
// look comes first where it may be posted already.
func TestP7_TooOld(t *testing.T) {
	b := newBench(t, nil)
	old := b.part(1, "yesterday's")
	old.Written = chat.TSOf(time.Now().Add(-25 * time.Hour))
	young := b.part(2, "today's")
	young.Written = chat.TSOf(time.Now().Add(-23 * time.Hour))
	b.send(false, old, young)
	b.expect(b.posted(simulator.General, b.root), "today's")
	b.expect(b.posted(simulator.AliceDM, ""), slackapp.TextLate(old.Turn))
	b.wantUnsent(old.ID, "older than 24h")
	b.counted("parts late", 1)
}

func TestP7_TooOldAndPostedAlready(t *testing.T) {
	b := newBench(t, nil)
	old := b.part(1, "yesterday's")
	old.Written = chat.TSOf(time.Now().Add(-25 * time.Hour))
	b.postAs(old.ID, "yesterday's")
	b.send(true, old)
	b.expect(b.posted(simulator.General, b.root), "yesterday's")
	b.expect(b.posted(simulator.AliceDM, ""))
	b.counted("parts found", 1)
}

// TestP7_AgesDuringAnOutage: an outage delays a part until it is too old, and
// then the actor is told once the outage is over.
func TestP7_AgesDuringAnOutage(t *testing.T) {
	b := newBench(t, func(o *slackapp.SenderOptions) { o.MaxAge = 300 * time.Millisecond })
	p := b.part(1, "late")
	p.Written = chat.TSOf(time.Now())
	b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: "team_added_to_org", Times: -1})
	b.begin(false, p)
	if _, err := b.sim.WaitFor(b.ctx, func(e simulator.Event) bool {
		return e.Kind == simulator.Called && e.Call.Method == "conversations.open"
	}); err != nil {
		t.Fatal(err)
	}
	b.sim.Heal()
	b.wait(b.box.released)
	b.expect(b.posted(simulator.General, b.root))
	b.expect(b.posted(simulator.AliceDM, ""), slackapp.TextLate(p.Turn))
}

// TestTooLongInItsPlainestForm: the ladder ends in pieces, and never in a lost
// answer.
func TestTooLongInItsPlainestForm(t *testing.T) {
	words := strings.Repeat("some words and more ", 30)
	for name, faults := range map[string]int{"cut once": 3, "a half is cut again": 4} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: "msg_too_long", Times: faults})
			b.send(false, b.part(1, words), b.part(2, "the next"))
			got := b.posted(simulator.General, b.root)
			if n := len(got); n < faults || got[n-1] != "the next" {
				t.Fatalf("posted %q, want pieces and then the next part", got)
			}
			if whole := strings.Join(got[:len(got)-1], " "); whole != strings.TrimSpace(words) {
				t.Errorf("the pieces say %q", whole)
			}
			b.counted("parts refused", 0)
		})
	}
}

// TestP7_PiecesOnce: lost answers and a lost sender double no piece.
func TestP7_PiecesOnce(t *testing.T) {
	words := strings.Repeat("some words and more ", 30)
	whole := strings.TrimSpace(words)
	t.Run("answers lost", func(t *testing.T) {
		b := newBench(t, nil)
		b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: "msg_too_long", Times: 3})
		b.sim.Fail(simulator.Fault{Method: "chat.postMessage", LoseAnswer: true, Times: 2})
		b.send(false, b.part(1, words))
		b.expect([]string{strings.Join(b.posted(simulator.General, b.root), " ")}, whole)
	})
	t.Run("sender lost between them", func(t *testing.T) {
		b := newBench(t, nil)
		b.postAs(b.part(1, "").ID+"~0", strings.TrimSpace(words[:300]))
		b.send(true, b.part(1, words))
		b.expect([]string{strings.Join(b.posted(simulator.General, b.root), " ")}, whole)
	})
}

// TestHopelesslyTooLong: what Slack finds too long however small ends somewhere.
func TestHopelesslyTooLong(t *testing.T) {
	b := newBench(t, nil)
	b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: "msg_too_long", Times: 9})
	p := b.part(1, strings.Repeat("word ", 2_000))
	b.send(false, p)
	b.wantUnsent(p.ID, "msg_too_long")
	b.expect(b.posted(simulator.AliceDM, ""), slackapp.TextRefused(p.Turn, "msg_too_long"))
}
