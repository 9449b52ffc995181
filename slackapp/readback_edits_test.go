package slackapp_test

import (
	"errors"
	"testing"

	"reeve/runtime/chat"
	"reeve/slackapp"
)

// An edit that was read back goes the way of one that Slack delivers. Two
// messages that were edited in one second are two edits, and one that is read
// twice is one.
func TestP11_ReadBackEditsAreDelivered(t *testing.T) {
	s := &stage{t: t, fail: map[string]error{}}
	into := slackapp.EditsInto{Inbox: s, Notices: s}
	message := func(ts chat.TS, text string) chat.Message {
		return chat.Message{ID: chat.MessageID{Team: "T1", Channel: "C1", TS: ts}, Text: text, Addressed: true, Forced: true, Edited: "1700000100.000000"}
	}
	for _, m := range []chat.Message{message(ts1, "one"), message(ts1, "one"), message(ts2, "two")} {
		if err := into.Edited(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	s.wantDelivered("one", "one", "two")
	var changes []chat.Change
	for _, o := range s.told {
		if o.Message.Forced || o.Message.Change == nil {
			t.Fatalf("told of %+v", o.Message)
		}
		changes = append(changes, *o.Message.Change)
	}
	if changes[0] != changes[1] || changes[0].TS == changes[2].TS {
		t.Errorf("edits %+v", changes)
	}
	if c := changes[0]; c.Kind != chat.Edited || !c.ByAuthor || !c.Differs || c.ByApp || len(c.TS) != len(ts1) {
		t.Errorf("an edit of %+v", c)
	}

	s.fail["three"] = errAway
	if err := into.Edited(t.Context(), message(ts1, "three")); !errors.Is(err, errAway) {
		t.Errorf("a store that is away: %v", err)
	}
}
