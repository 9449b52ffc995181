package mailbox_test

import (
	"errors"
	"slices"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func due(m *chat.Message) { m.Due = &chat.Due{Key: "schedule/r1", CreatedBy: bob} }

// A turn of the scheduler's has nobody's DM: whoever asked for it is told.
func TestP7_WhoAskedIsToldOfADueTurn(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(chat.Scheduler, "tea", due)
		turn.n++
		closing, err := w.box.Close(t.Context(), mailbox.Close{Ref: turn.Ref, Number: turn.n, Outcome: mailbox.Done, Parts: []chat.Part{turn.part("1")}})
		if err != nil {
			t.Fatal(err)
		}
		left, err := w.box.Sent(t.Context(), *closing.Send, mailbox.Posted{ID: string(turn.Turn) + "/1", Unsent: &mailbox.Unsent{Why: "is_archived", Tell: "not posted"}})
		if err != nil {
			t.Fatal(err)
		}
		w.same("what is told", []string{"not posted"}, ids(left))
		w.same("whom", chat.Destination{DM: bob.User}, left[0].To)
	})
}

func TestP7_WhoAskedIsToldThatAnOperatorEndedIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(chat.Scheduler, "tea", due)
		if err := w.box.Abandon(t.Context(), w.conv, turn.Turn); err != nil && !errors.Is(err, mailbox.ErrNotOpen) { // asked again for want of an answer
			t.Fatal(err)
		}
		_, parts, ok, err := w.box.ClaimSending(t.Context(), w.conv)
		if err != nil || !ok || !slices.ContainsFunc(parts, func(p chat.Part) bool { return p.To.DM == bob.User }) {
			t.Errorf("told: %+v, %v", parts, err)
		}
	})
}

// Put twice with the same time, it is one; with its id it sorts among Slack's.
func TestP3_WhatIsDueEntersOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		m := w.message(chat.Scheduler, "tea")
		m.ID.TS = chat.DueTS("schedule/r1", m.ID.TS.Time())
		m.Due = &chat.Due{Key: "schedule/r1", CreatedBy: bob}
		w.putOne(chat.Start, w.asPut(m, true))
		w.putOne(chat.Duplicate, w.asPut(m, true))
		known, err := w.box.Known(t.Context(), m.ID)
		if err != nil || !known {
			t.Errorf("known: %v, %v", known, err)
		}
	})
}
