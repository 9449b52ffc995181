package mailbox_test

import (
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// change puts a change and wants what becomes of it.
func (w *world) change(want chat.Disposition, m chat.Message) mailbox.PutResult {
	w.t.Helper()
	return w.putOne(want, mailbox.Put{
		Message: m, Row: runtime.RowOf(m, w.policy, at(1).Time().Add(30*time.Minute)), Turn: w.turnID(), Claim: true,
	})
}

// edited is the message sent at a time with another text; the edit is the
// conversation's next event.
func (w *world) edited(author chat.Actor, sent int, text string, hows ...how) chat.Message {
	m := w.message(author, text)
	edit := m.ID.TS
	m.ID.TS, m.Edited = at(sent), edit
	m.Change = &chat.Change{Kind: chat.Edited, TS: edit, ByAuthor: true, Differs: true}
	for _, h := range hows {
		h(&m)
	}
	return m
}

func old(m *chat.Message)         { m.ID.TS = "1600000000.000001" }
func addsMention(m *chat.Message) { m.Change.AddsMention = true }
func bySomebody(m *chat.Message)  { m.Change.ByAuthor = false }

// edits wants what becomes of an edit, the first time and again.
func (w *world) edits(want chat.Disposition, author chat.Actor, sent int, text string, hows ...how) {
	w.t.Helper()
	m := w.edited(author, sent, text, hows...)
	first, again := w.change(want, m), w.change(want, m)
	if first.Turn != again.Turn || first.Conversation != again.Conversation {
		w.t.Fatalf("the edit again: %+v, first %+v", again, first)
	}
}

// enters wants an edit by which its message is put, and puts it, twice.
func (w *world) enters(want chat.Disposition, m chat.Message) mailbox.PutResult {
	w.t.Helper()
	w.change(chat.Enter, m)
	w.change(chat.Enter, m)
	edit := m
	m.Change = nil
	r := w.putOne(want, w.asPut(m, true))
	w.putOne(chat.Duplicate, w.asPut(m, true))
	w.change(chat.Ignored, edit)
	return r
}

func TestP4_EditOfAnUnknownMessageEntersItOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.runs(w.enters(chat.Start, w.edited(alice, 50, "young")).Claimed)
		w.wantLog("request young", turn.claimed.Log)
		w.edits(chat.Ignored, bob, 51, "too old", old)
		w.edits(chat.Ignored, bob, 51, "somebody else's", bySomebody)
		w.enters(chat.Wait, w.edited(bob, 51, "old, and now addressed", old, addsMention))
		w.putOne(chat.Duplicate, w.asPut(w.message(alice, "its first copy, late", sentAt(50)), true))
	})
}

func TestP4_EditThatAddsTheMentionToAPassiveMessage(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one")
		w.says(chat.AsContext, bob, "two", unaddressed, sentAt(10))
		w.says(chat.AsContext, bob, "three", unaddressed, sentAt(11))
		w.edits(chat.Ignored, bob, 10, "another text", unaddressed)
		w.edits(chat.Ignored, carol, 10, "not hers", addsMention)
		w.enters(chat.Wait, w.edited(bob, 10, "two, to the bot", addsMention))
		w.began(turn.done("a").Next, bob, "request two, to the bot").done("b")
		w.began(w.says(chat.Start, bob, "four").Claimed, bob, "thread three | request four")
	})
}

func TestP4_EditOfAWaitingMessageReplacesItsText(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two", sentAt(10))
		w.says(chat.Wait, carol, "three", sentAt(11))
		late := w.edited(bob, 10, "two, first edit")
		w.edits(chat.ReplaceText, bob, 10, "two, second edit", forced)
		w.change(chat.Ignored, late) // it comes after a newer one
		w.edits(chat.Ignored, bob, 10, "by an app", func(m *chat.Message) { m.Change.ByApp = true })
		w.edits(chat.Ignored, carol, 10, "not hers")
		bobs := w.began(turn.done("a").Next, bob, "request two, second edit")
		w.began(bobs.done("b").Next, carol, "request three")
	})
}

func TestP4_EditThatLeavesAStopWordOrNothingWithdraws(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two", sentAt(10))
		w.says(chat.Wait, carol, "three", sentAt(11))
		w.says(chat.SteerOwn, alice, "four", sentAt(12))
		w.edits(chat.Withdraw, bob, 10, "stop", stop)
		w.edits(chat.Withdraw, carol, 11, "")
		w.edits(chat.Withdraw, alice, 12, "cancel", stop)
		w.wantLog("", turn.boundary("x"))
		if next := turn.done("a").Next; next != nil {
			t.Errorf("what was withdrawn started %+v", next)
		}
		w.edits(chat.Ignored, bob, 10, "and back again")
		w.wantHistory("UALICE done | request one | entry x | entry a")
	})
}

func TestP4_EditOfAnUnreadSteerReplacesItsText(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two", sentAt(10))
		w.says(chat.SteerContext, bob, "three", sentAt(11), forced)
		w.edits(chat.ReplaceText, alice, 10, "two, edited")
		w.edits(chat.ReplaceText, bob, 11, "three, edited")
		w.wantLog("steer two, edited | steer_context three, edited", turn.boundary("x"))
	})
}

func TestP4_EditOfWhatWasReadJoinsOnceAsACorrection(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one", sentAt(10))
		w.says(chat.SteerOwn, alice, "two", sentAt(11))
		w.says(chat.SteerContext, bob, "three", sentAt(12), forced)
		turn.boundary("x")
		w.edits(chat.SteerOwn, alice, 10, "one, edited")
		w.edits(chat.SteerOwn, alice, 11, "two, edited")
		w.edits(chat.Ignored, bob, 12, "another's turn has read it")
		w.edits(chat.Ignored, alice, 10, "one, edited again")
		w.edits(chat.Ignored, alice, 11, "stop", stop)
		w.wantLog("steer one, edited | steer two, edited", turn.boundary("y"))
		w.edits(chat.Ignored, alice, 10, "one, edited once more")
		w.wantLog("", turn.boundary("z"))
		turn.done("a")
		w.edits(chat.Ignored, alice, 10, "after its end")
	})
}

func TestP4_StopWordOverWhatIsWorkedOnIsNoStop(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one", sentAt(10))
		w.edits(chat.Ignored, alice, 10, "stop", stop)
		w.wantLog("", turn.boundary("x"))
		turn.done("a")
	})
}

func TestP4_CorrectionOfAParkedTurnIsReadWhenItGoesOn(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one", sentAt(10))
		turn.park(w.noRoom(), "calls")
		w.edits(chat.SteerOwn, alice, 10, "one, edited")
		_, next, err := turn.endWait(w.box, turn.wait(), w.room())
		if err != nil {
			t.Fatal(err)
		}
		again := w.began(next, alice, "request one | entry calls")
		w.wantLog("steer one, edited", again.boundary("results"))
	})
}

func TestP4_CorrectionThatItsTurnDoesNotCarryIsAFollowUp(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one", sentAt(10))
		w.edits(chat.SteerOwn, alice, 10, "one, edited")
		next := turn.close(mailbox.Failed, "gave up").Next
		w.began(next, alice, "request one, edited").done("a")

		stopping := w.starts(alice, "two", sentAt(60))
		w.says(chat.Stop, alice, "stop", stop)
		w.edits(chat.Ignored, alice, 60, "two, edited") // it went with its turn
		if next := stopping.close(mailbox.Stopped, "").Next; next != nil {
			t.Errorf("an edit after the stop started %+v", next)
		}
	})
}

// What Slack gave of a thread is known from the first commit on.
func TestP4_WhatWasReadOfAThreadCanBeEditedAndDeleted(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "one", sentAt(20))
		said := func(author chat.Actor, ts int, text string) mailbox.Item {
			return mailbox.Item{TS: at(ts), Author: author, Body: []byte(`{"text":"` + text + `"}`)}
		}
		turn.commit(mailbox.Commit{Thread: []mailbox.Item{said(bob, 10, "a"), said(carol, 11, "b")}})
		turn.boundary("x")
		w.deletes(chat.Blank, 10)
		w.edits(chat.Ignored, carol, 11, "another text", unaddressed)
		w.enters(chat.Wait, w.edited(carol, 11, "now addressed", addsMention))
		w.began(turn.done("y").Next, carol, "request now addressed")
		w.wantHistory("UALICE done | request one | deleted thread | thread b | entry x | entry y")
	})
}
