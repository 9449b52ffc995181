package slackapp_test

import (
	"encoding/json"
	"slices"
	"testing"

	"reeve/runtime/chat"
	"reeve/slackapp"
)

// FuzzAdmit: whatever comes, admission does not panic, and nobody may instruct
// on whom Slack has stamped an app, another organisation, or one of its own
// accounts. The event is read here a second time, in another way.
func FuzzAdmit(f *testing.F) {
	mention := said("<@UBOT> !! stop", object{"type": "app_mention"})
	for _, seed := range [][]byte{
		envelope(said("<@UBOT> hi")), envelope(mention), envelope(said("hi", object{"bot_id": "B1"})),
		envelope(said("hi", object{"app_id": "A1", "bot_profile": object{"app_id": "A1"}})),
		envelope(said("hi", object{"user_team": "T2", "source_team": "T2"}), object{"is_ext_shared_channel": true}),
		envelope(said("&gt; x\n```y", rich(section(bot)+","+quote(text("q"))))),
		envelope(said("hi", object{"files": []any{object{"id": "F1"}}, "attachments": []any{object{"is_share": true}}})),
		envelope(object{"type": "message", "subtype": "message_changed", "message": said("x", object{"edited": object{"ts": ts2}})}),
		envelope(object{"type": "reaction_added", "item": object{}}), []byte(`{}`), []byte(`[]`), []byte(`{"event":{"blocks":[[[]]]}}`),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		raw, err := slackapp.ParseRaw(payload)
		if err != nil {
			return
		}
		policy := slackapp.Admission{StopReaction: "octagonal_sign"}
		var outer struct {
			Event json.RawMessage
		}
		verdicts := []slackapp.Verdict{
			slackapp.Admit(raw, self, policy), slackapp.AdmitMention(raw, self, policy),
		}
		if json.Unmarshal(payload, &outer) == nil {
			slackapp.ReadMessage(outer.Event, chat.Conversation{Team: "T1", Channel: "C1", Root: ts1}, chat.Public, self, policy)
			slackapp.AdmitFetched(raw, outer.Event, self, policy)
		}
		for _, v := range verdicts {
			if v.Kind != slackapp.KindMessage || v.Message.Standing == chat.ContextOnly {
				continue
			}
			if why := mustNotInstruct(payload); why != "" {
				t.Fatalf("may instruct in spite of %s: %+v", why, v.Message)
			}
			if m := v.Message; m.Author.Team != "T1" || !m.Author.IsPerson() || m.Author.User == "UBOT" || m.Conversation.Team != "T1" {
				t.Fatalf("instructs as %+v", m.Author)
			}
		}
	})
}

// mustNotInstruct names what in an event speaks against its author.
func mustNotInstruct(payload []byte) string {
	var outer, event map[string]any
	if json.Unmarshal(payload, &outer) != nil {
		return "no object"
	}
	event, _ = outer["event"].(map[string]any)
	empty := func(v any) bool { return v == nil || v == "" || v == false }
	for _, stamp := range []string{"bot_id", "app_id", "bot_profile"} {
		if !empty(event[stamp]) {
			return stamp
		}
	}
	for _, team := range []string{"team", "user_team"} {
		if !empty(event[team]) && event[team] != "T1" {
			return team
		}
	}
	if !empty(outer["is_ext_shared_channel"]) {
		return "a shared channel"
	}
	if user, _ := event["user"].(string); slices.Contains([]string{"", "USLACK", "USLACKBOT", "UREVOKEDU", "UBOT"}, user) {
		return "user " + user
	}
	if sub := event["subtype"]; !empty(sub) && !slices.Contains([]any{"file_share", "me_message", "thread_broadcast"}, sub) {
		return "subtype"
	}
	return ""
}
