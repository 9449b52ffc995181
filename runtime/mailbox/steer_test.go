package mailbox_test

import (
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func TestP5_SteerIsTakenOnceInTheCommitThatWritesIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		w.says(chat.SteerContext, bob, "three", forced)
		if got := turn.commit(mailbox.Commit{Entries: entries("x")}); got.Unread != 2 || len(got.Taken) != 0 {
			t.Errorf("a commit that takes nothing: %+v", got)
		}
		c := mailbox.Commit{Entries: entries("y"), Take: true}
		w.wantLog("steer two | steer_context three", turn.commit(c).Taken)
		// The same number again changes nothing and is answered alike.
		w.says(chat.SteerOwn, alice, "four")
		turn.n--
		w.wantLog("steer two | steer_context three", turn.commit(c).Taken)
		w.wantLog("steer four", turn.boundary("z"))
		w.wantLog("", turn.boundary("z2"))
		turn.done("a")
		w.wantHistory("UALICE done | request one | entry x | entry y | steer two | steer_context three | entry z | steer four | entry z2 | entry a")
	})
}

func TestP5_DoneWaitsForEverySteerAndKeepsItsAnswer(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		open := turn.staysOpen("a", "steer two")
		if open.Send == nil {
			t.Fatal("a finished answer has nobody to post it")
		}
		// The same closing again, its answer lost: alike, and written once.
		turn.n--
		again, err := turn.tryClose(mailbox.Done, "a", w.room())
		if err != nil || again.Closed || again.Send == nil || again.Send.Token != open.Send.Token {
			t.Fatalf("a repeated closing: %+v %v", again, err)
		}
		w.wantLog("steer two", again.Taken)
		turn.done("b")
		left, err := w.box.Sent(t.Context(), *open.Send)
		if err != nil || len(left) != 2 || left[0].Markdown != "a" || left[1].Markdown != "b" {
			t.Errorf("outbox: %+v %v, want parts a and b", left, err)
		}
		w.wantHistory("UALICE done | request one | entry a | steer two | entry b")
	})
}

func TestP5_UncheckedSteerIsNamedAndNotOvertaken(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerContext, bob, "two", forced, unchecked)
		w.says(chat.SteerContext, bob, "three", forced)
		w.says(chat.SteerContext, carol, "four", forced)
		got := turn.commit(mailbox.Commit{Take: true})
		w.wantLog("steer_context four", got.Taken)
		if len(got.Unchecked) != 2 || got.Unchecked[0].Author != bob {
			t.Fatalf("unchecked: %+v, want bob's two", got.Unchecked)
		}
		turn.staysOpen("a", "")
		got = turn.commit(mailbox.Commit{Take: true, Allowed: []chat.Actor{bob}})
		w.wantLog("steer_context two | steer_context three", got.Taken)
		turn.done("b")
	})
}

func TestP4_FailedTurnGivesBackWhatItDidNotCarry(t *testing.T) {
	for _, outcome := range []mailbox.Outcome{mailbox.Failed, mailbox.Abandoned} {
		t.Run(string(outcome), func(t *testing.T) {
			onEveryStore(t, mailbox.Options{}, func(w *world) {
				turn := w.starts(alice, "one")
				w.says(chat.SteerContext, bob, "two", forced)
				turn.boundary("x")
				turn.answers("calls") // two is carried
				w.says(chat.SteerContext, bob, "three", forced)
				w.says(chat.SteerOwn, alice, "four")
				turn.boundary("y")
				w.says(chat.SteerContext, carol, "five", forced) // never read
				w.says(chat.Wait, carol, "six")
				next := turn.close(outcome, "").Next
				bobs := w.began(next, bob, "request three")
				alices := w.began(bobs.done("b").Next, alice, "request four")
				carols := w.began(alices.done("c").Next, carol, "request five | request six")
				if next := carols.done("d").Next; next != nil {
					t.Errorf("one turn too many: %+v", next)
				}
				w.same("the failed turn", []string{"UALICE " + string(outcome), "request one", "entry x",
					"steer_context two", "entry calls", "entry y", "struck three", "struck four"}, w.history()[0])
			})
		})
	}
}

func TestP4_NextTurnIsClaimedInTheClosingOrOffered(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		got, err := turn.tryClose(mailbox.Done, "", w.noRoom())
		if err != nil || !got.Closed || got.Next != nil {
			t.Fatalf("a closing without room: %+v %v", got, err)
		}
		due, err := w.box.Due(t.Context())
		if err != nil || len(due) != 1 || due[0].Kind != mailbox.DueQueue || due[0].Conversation != w.conv || due[0].In > 0 {
			t.Fatalf("the index: %+v %v, want the conversation, due now", due, err)
		}
		w.saysNoRoom(chat.Wait, carol, "three")
		bobs := w.began(w.claim(w.other).Claimed, bob, "request two")
		w.began(bobs.done("b").Next, carol, "request three").done("c")
		if r := w.claim(w.box); r.Claimed != nil || r.Exhausted != nil || r.Later != 0 {
			t.Errorf("a claim where nothing waits: %+v", r)
		}
	})
}
