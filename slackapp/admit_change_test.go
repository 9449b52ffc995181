package slackapp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/runtime/chat"
	"reeve/slackapp"
)

// An edit says who made it and whether it first addresses the bot; a stop sign
// counts from its own time, not from that of the message under it.
func TestChangesSayWhatTheDecisionNeeds(t *testing.T) {
	policy := slackapp.Admission{StopReaction: "octagonal_sign"}
	edited := func(user, text string, more ...object) object {
		return said(text, append(more, object{"edited": object{"user": user, "ts": ts2}})...)
	}
	for name, c := range map[string]struct {
		event object
		text  string
		want  chat.Change
	}{
		"by its author": {changed(edited("UALICE", "<@UBOT> b"), said("<@UBOT> a")), "b",
			chat.Change{Kind: chat.Edited, TS: ts2, ByAuthor: true, Differs: true}},
		"by somebody else": {changed(edited("UBOB", "<@UBOT> b"), said("<@UBOT> a")), "b",
			chat.Change{Kind: chat.Edited, TS: ts2, Differs: true}},
		"adds the mention": {changed(edited("UALICE", "<@UBOT> a"), said("a")), "a",
			chat.Change{Kind: chat.Edited, TS: ts2, ByAuthor: true, Differs: true, AddsMention: true}},
		"forces nothing": {changed(edited("UALICE", "<@UBOT> !! b"), said("<@UBOT> a")), "b",
			chat.Change{Kind: chat.Edited, TS: ts2, ByAuthor: true, Differs: true}},
		"of an app's post": {changed(edited("UALICE", "b", object{"bot_id": "BX", "app_id": "AX"}), said("a")), "b",
			chat.Change{Kind: chat.Edited, TS: ts2, ByAuthor: true, Differs: true, ByApp: true}},
		"what it was before is not told": {changed(edited("UALICE", "<@UBOT> a"), nil), "a",
			chat.Change{Kind: chat.Edited, TS: ts2, ByAuthor: true, Differs: true}},
		"deletion that leaves a tombstone": {changed(object{"subtype": "tombstone", "user": "USLACKBOT", "ts": ts1}, said("a")), "",
			chat.Change{Kind: chat.Deleted, TS: ts2}},
		"deletion": {object{"type": "message", "subtype": "message_deleted", "channel": "CGENERAL", "ts": ts2, "deleted_ts": ts1}, "",
			chat.Change{Kind: chat.Deleted, TS: ts2}},
		"reaction": {object{"type": "reaction_added", "user": "UALICE", "reaction": "octagonal_sign", "event_ts": ts2,
			"item": object{"type": "message", "channel": "CGENERAL", "ts": ts1}}, "",
			chat.Change{Kind: chat.StopSign, TS: ts2, On: ts1}},
		"reaction in another skin": {object{"type": "reaction_added", "user": "UALICE", "reaction": "octagonal_sign::skin-tone-3", "event_ts": ts2,
			"item": object{"type": "message", "channel": "CGENERAL", "ts": ts1}}, "",
			chat.Change{Kind: chat.StopSign, TS: ts2, On: ts1}},
		"stop button": {object{"type": "agent_session_stopped", "channel": "CGENERAL", "thread_ts": ts1, "user": "UALICE", "event_ts": ts2}, "",
			chat.Change{Kind: chat.StopSign, TS: ts2}},
	} {
		t.Run(name, func(t *testing.T) {
			m := admit(t, envelope(c.event), policy).Message
			if m.Change == nil {
				t.Fatal("it is no change")
			}
			if diff := cmp.Diff(c.want, *m.Change); diff != "" {
				t.Error(diff)
			}
			if m.Text != c.text || m.Forced {
				t.Errorf("text %q, forced %v", m.Text, m.Forced)
			}
			if c.want.Kind == chat.StopSign && (m.ID.TS != ts2 || !m.Stop) {
				t.Errorf("a stop of %s", m.ID.TS)
			}
		})
	}
}

func TestWhatLooksLikeAChangeAndIsNone(t *testing.T) {
	policy := slackapp.Admission{StopReaction: "octagonal_sign"}
	on := object{"type": "message", "channel": "CGENERAL", "ts": ts1}
	for name, event := range map[string]object{
		"an unfurl":                    changed(said("a", object{"attachments": []object{{"text": "a preview"}}}), said("a")),
		"an unfurl of what was edited": changed(said("a", object{"edited": object{"user": "UALICE", "ts": ts2}, "attachments": []object{{"text": "x"}}}), said("a")),
		"an edit without a time":       {"type": "message", "subtype": "message_changed", "channel": "CGENERAL", "message": said("b", object{"edited": object{"user": "UALICE"}}), "previous_message": said("a")},
		"an edit of the bot's post":    changed(said("b", object{"user": "UBOT", "bot_id": "BBOT", "edited": object{"user": "UBOT", "ts": ts2}}), said("a")),
		"another reaction":             {"type": "reaction_added", "user": "UALICE", "reaction": "eyes", "event_ts": ts2, "item": on},
		"the bot's own reaction":       {"type": "reaction_added", "user": "UBOT", "reaction": "octagonal_sign", "event_ts": ts2, "item": on},
		"a reaction to a file":         {"type": "reaction_added", "user": "UALICE", "reaction": "octagonal_sign", "event_ts": ts2, "item": object{"type": "file", "file": "F1"}},
		"a reaction that goes":         {"type": "reaction_removed", "user": "UALICE", "reaction": "octagonal_sign", "event_ts": ts2, "item": on},
		"a button without a thread":    {"type": "agent_session_stopped", "channel": "CGENERAL", "user": "UALICE", "event_ts": ts2},
		"a deletion of nothing":        {"type": "message", "subtype": "message_deleted", "channel": "CGENERAL", "ts": ts2},
	} {
		if v := admit(t, envelope(event), policy); v.Kind != slackapp.KindIgnored {
			t.Errorf("%s: %s %s", name, v.Kind, v.Rule)
		}
	}
}
