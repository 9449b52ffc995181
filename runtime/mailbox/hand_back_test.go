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

// His click counts whatever became of the turn that has read his messages, once,
// on whichever replica; what that turn gave back by itself needs none.
func TestAuthorHandsBackFromATurnInEachState(t *testing.T) {
	for name, c := range map[string]struct {
		becomes func(*run) *mailbox.Claimed // of a turn in which two messages of Bob's are carried, and a third is not
		third   mailbox.HandBackOutcome
		waits   bool // another turn runs
	}{
		"running": {func(r *run) *mailbox.Claimed { return nil }, mailbox.HandedBack, true},
		"parked":  {func(r *run) *mailbox.Claimed { return r.park(r.w.noRoom()).Next }, mailbox.HandedBack, false},
		"queued": {func(r *run) *mailbox.Claimed {
			r.park(r.w.noRoom())
			_, got, err := r.endWait(r.box, r.wait(), r.w.noRoom())
			if err != nil {
				r.t.Fatal(err)
			}
			return got
		}, mailbox.HandedBack, true},
		"done":      {func(r *run) *mailbox.Claimed { return r.endsAs(mailbox.Done) }, mailbox.HandedBack, false},
		"failed":    {func(r *run) *mailbox.Claimed { return r.endsAs(mailbox.Failed) }, mailbox.HandedAlready, false},
		"abandoned": {func(r *run) *mailbox.Claimed { return r.endsAs(mailbox.Abandoned) }, mailbox.HandedAlready, false},
		"stopped": {func(r *run) *mailbox.Claimed {
			r.w.says(chat.Stop, alice, "stop", stop)
			return r.endsAs(mailbox.Stopped)
		}, mailbox.HandedAlready, false},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, mailbox.Options{}, func(w *world) {
				turn := w.starts(alice, "one")
				var sent []chat.TS
				steer := func(text string) {
					w.says(chat.SteerContext, bob, text, forced)
					sent = append(sent, at(w.clock))
				}
				steer("two")
				steer("three")
				turn.boundary("x")
				turn.answers("y")
				steer("four")
				turn.boundary("z")
				c.becomes(turn)
				clicks := func(key string, box *mailbox.Box, want ...mailbox.HandBackOutcome) (claimed *mailbox.Claimed) {
					w.t.Helper()
					for i, ts := range sent {
						next := w.noRoom()
						if i == len(sent)-1 {
							next = w.room() // all are his before his turn begins
						}
						got, err := box.HandBack(t.Context(), mailbox.HandBack{
							Ref: mailbox.Ref{Conversation: w.conv, Turn: turn.Turn}, Author: bob, TS: ts, Key: key, Next: next,
						})
						if err != nil || got.Outcome != want[i] {
							w.t.Fatalf("message %d by click %s: %+v %v, want %s", i, key, got, err, want[i])
						}
						if got.Claimed != nil {
							claimed = got.Claimed
						}
					}
					return claimed
				}
				claimed := clicks("1", w.box, mailbox.HandedBack, mailbox.HandedBack, c.third)
				if claimed == nil && !c.waits {
					claimed = w.claim(w.other).Claimed
				}
				clicks("2", w.other, mailbox.HandedAlready, mailbox.HandedAlready, mailbox.HandedAlready)
				switch name {
				case "running":
					claimed = turn.done("").Next
				case "queued":
					// Its wait has ended, and so it goes on first.
					claimed = w.runs(claimed).done("").Next
				}
				w.began(claimed, bob, "request two | request three | request four").done("b")
				clicks("3", w.box, mailbox.HandedAlready, mailbox.HandedAlready, mailbox.HandedAlready)
				if r := w.claim(w.other); r.Claimed != nil {
					t.Errorf("one turn too many: %+v", r.Claimed)
				}
			})
		})
	}
}

// endsAs ends the turn and leaves what comes next to any.
func (r *run) endsAs(outcome mailbox.Outcome) *mailbox.Claimed {
	r.t.Helper()
	got, err := r.tryClose(outcome, "", r.w.noRoom())
	if err != nil || !got.Closed {
		r.t.Fatalf("turn %s as %s: %+v %v", r.Turn, outcome, got, err)
	}
	return got.Next
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
