package mailbox_test

import (
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// The figures of doc.go, "Round trips".
func TestP5_RoundTripsFromMentionToReply(t *testing.T) {
	t.Parallel()
	w := onServer(t, mailbox.Options{})
	counted := func(what string, want int64, step func()) {
		t.Helper()
		before := w.box.Trips()
		step()
		if got := w.box.Trips() - before; got != want {
			t.Errorf("%s: %d round trips, want %d", what, got, want)
		}
	}
	if err := w.box.Teach(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.starts(alice, "the connection stands").done("")

	var turn *run
	counted("put", 1, func() { turn = w.starts(alice, "one") })
	var closing mailbox.Closing
	counted("close", 1, func() { closing = turn.done("a") })
	counted("sent", 1, func() {
		if _, err := w.box.Sent(t.Context(), *closing.Send, mailbox.Posted{ID: string(turn.Turn) + "/a"}); err != nil {
			t.Error(err)
		}
	})
	counted("messages that arrive together", 1, func() {
		w.put(w.asPut(w.message(alice, "two"), true), w.asPut(w.message(alice, "three"), true), w.asPut(w.message(bob, "four"), true))
	})
	turn = w.starts(carol, "five", sentAt(900), func(m *chat.Message) { m.Conversation.Root = at(900) })
	counted("commit at a boundary", 1, func() { turn.boundary("x") })
	counted("park", 1, func() { turn.park(w.room()) })
	counted("end_wait", 1, func() {
		turn = w.runs(turn.endsWait(w.box, w.room()))
	})
	counted("park on a card", 1, func() { turn.send = turn.asks(time.Hour).Send })
	counted("sent, of a card", 1, func() {
		w.sent(turn.send, mailbox.Posted{ID: turn.card(), Channel: "D1", TS: at(901), Card: true, DM: true})
	})
	counted("end_wait by a click", 1, func() { turn = w.runs(turn.clicks(w.box, carol, w.room()).Claimed) })
	counted("renew", 1, func() {
		if _, err := turn.renew(); err != nil {
			t.Error(err)
		}
	})
}
