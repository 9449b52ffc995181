package slackapp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/slackapp"
)

var self = slackapp.Identity{Team: "T1", User: "UBOT", Bot: "BBOT"}

const (
	ts1 = "1700000000.000100"
	ts2 = "1700000000.000200"
)

type object = map[string]any

// envelope is an events_api payload around an inner event; changes are laid
// over the outer object.
func envelope(event object, changes ...object) []byte {
	outer := object{
		"type": "event_callback", "team_id": "T1", "api_app_id": "ABOT", "event_id": "Ev1",
		"authorizations":        []any{object{"team_id": "T1", "user_id": "UBOT"}},
		"is_ext_shared_channel": false, "event": event,
	}
	for _, c := range changes {
		for k, v := range c {
			outer[k] = v
		}
	}
	b, err := json.Marshal(outer)
	if err != nil {
		panic(err)
	}
	return b
}

// said is Alice's message in a public channel, with changes laid over it.
func said(text string, changes ...object) object {
	ev := object{
		"type": "message", "channel": "CGENERAL", "channel_type": "channel", "user": "UALICE", "team": "T1",
		"ts": ts1, "text": text, "client_msg_id": "c-1",
	}
	for _, c := range changes {
		for k, v := range c {
			ev[k] = v
		}
	}
	return ev
}

func admit(t *testing.T, payload []byte, policy slackapp.Admission) slackapp.Verdict {
	t.Helper()
	raw, err := slackapp.ParseRaw(payload)
	if err != nil {
		t.Fatal(err)
	}
	return slackapp.Admit(raw, self, policy)
}

func TestAdmissionByAuthor(t *testing.T) {
	ext := object{"is_ext_shared_channel": true}
	external := slackapp.Admission{AllowExternal: true}
	alice, eve := chat.Person("T1", "UALICE"), chat.Person("T2", "UEVE")
	guests := slackapp.Admission{Known: func(a chat.Actor) (runtime.Facts, bool) {
		switch a {
		case alice:
			return runtime.Facts{Name: "Alice", Standing: chat.MayInstruct}, true
		case chat.Person("T1", "UGUEST"):
			return runtime.Facts{Name: "Gwen", Standing: chat.ContextOnly, Why: "a guest account"}, true
		}
		return runtime.Facts{}, false
	}}
	for name, c := range map[string]struct {
		event     object
		outer     object
		policy    slackapp.Admission
		author    chat.Actor // zero: ignored
		standing  chat.Standing
		addressed bool
		rule      string
	}{
		"a member":         {event: said("<@UBOT> hi"), author: alice, standing: chat.Unchecked, addressed: true},
		"a member by file": {event: said("<@UBOT> hi", object{"subtype": "file_share"}), author: alice, standing: chat.Unchecked, addressed: true},
		"a member by /me":  {event: said("<@UBOT> hi", object{"subtype": "me_message"}), author: alice, standing: chat.Unchecked, addressed: true},
		"a broadcast":      {event: said("<@UBOT> hi", object{"subtype": "thread_broadcast", "thread_ts": ts1}), author: alice, standing: chat.Unchecked, addressed: true},
		"without a team":   {event: said("<@UBOT> hi", object{"team": nil}), author: alice, standing: chat.Unchecked, addressed: true},
		"a known member":   {event: said("<@UBOT> hi"), policy: guests, author: alice, standing: chat.MayInstruct, addressed: true},
		"a known guest":    {event: said("<@UBOT> hi", object{"user": "UGUEST"}), policy: guests, author: chat.Person("T1", "UGUEST"), standing: chat.ContextOnly, addressed: true, rule: "a guest account"},
		"W ids":            {event: said("<@UBOT> hi", object{"user": "W12"}), author: chat.Person("T1", "W12"), standing: chat.Unchecked, addressed: true},

		"a bot":                   {event: said("<@UBOT> hi", object{"user": "UDEPLOY", "bot_id": "BDEPLOY", "app_id": "ADEPLOY", "bot_profile": object{"app_id": "ADEPLOY"}}), author: chat.SystemActor("app-BDEPLOY"), standing: chat.ContextOnly, rule: "app"},
		"a classic bot":           {event: said("<@UBOT> stop", object{"user": nil, "subtype": "bot_message", "bot_id": "BHOOK", "username": "Alice"}), author: chat.SystemActor("app-BHOOK"), standing: chat.ContextOnly, rule: "app"},
		"a workflow":              {event: said("<@UBOT> hi", object{"user": nil, "bot_id": "BWORK", "workflow_id": "Wf1"}), author: chat.SystemActor("app-BWORK"), standing: chat.ContextOnly, rule: "app"},
		"an app with a token":     {event: said("<@UBOT> hi", object{"app_id": "AZAP"}), author: chat.SystemActor("app-AZAP"), standing: chat.ContextOnly, rule: "app"},
		"an app, profile":         {event: said("<@UBOT> hi", object{"bot_profile": object{"name": "Alice"}}), author: chat.SystemActor("app"), standing: chat.ContextOnly, rule: "app"},
		"a stamp of another type": {event: said("<@UBOT> hi", object{"bot_id": []any{}}), author: chat.SystemActor("app"), standing: chat.ContextOnly, rule: "app"},

		"our post":               {event: said("hi", object{"user": "UBOT", "bot_id": "BBOT", "app_id": "ABOT"}), rule: "own_post"},
		"our bot id":             {event: said("hi", object{"user": nil, "bot_id": "BBOT"}), rule: "own_post"},
		"our app for a person":   {event: said("<@UBOT> hi", object{"bot_id": "BOTHER", "app_id": "ABOT"}), rule: "own_post"},
		"our app in the profile": {event: said("<@UBOT> hi", object{"bot_profile": object{"app_id": "ABOT"}}), rule: "own_post"},

		"Slack":       {event: said("<@UBOT> hi", object{"user": "USLACK"}), rule: "system_author"},
		"Slackbot":    {event: said("<@UBOT> hi", object{"user": "USLACKBOT"}), rule: "system_author"},
		"revoked":     {event: said("<@UBOT> hi", object{"user": "UREVOKEDU"}), rule: "system_author"},
		"nobody":      {event: said("<@UBOT> hi", object{"user": nil}), rule: "no_author"},
		"odd id":      {event: said("<@UBOT> hi", object{"user": "U:1"}), rule: "no_author"},
		"a number":    {event: said("<@UBOT> hi", object{"user": 12}), rule: "no_author"},
		"joined":      {event: said("hi", object{"subtype": "channel_join"}), rule: "subtype"},
		"odd subtype": {event: said("hi", object{"subtype": 1}), rule: "subtype"},

		"external, elsewhere":   {event: said("<@UBOT> hi", object{"user": "UEVE", "team": "T2"}), author: eve, standing: chat.ContextOnly, addressed: true, rule: "external_author"},
		"external by user_team": {event: said("<@UBOT> hi", object{"user": "UEVE", "user_team": "T2"}), author: eve, standing: chat.ContextOnly, addressed: true, rule: "external_author"},
		"external source only":  {event: said("<@UBOT> hi", object{"source_team": "T2"}), author: alice, standing: chat.Unchecked, addressed: true},
		"odd team":              {event: said("<@UBOT> hi", object{"team": 3.5}), rule: "no_author"},
		"shared channel":        {event: said("<@UBOT> hi"), outer: ext, author: alice, standing: chat.ContextOnly, addressed: true, rule: "external_channel"},
		"shared, odd flag":      {event: said("<@UBOT> hi"), outer: object{"is_ext_shared_channel": "yes"}, author: alice, standing: chat.ContextOnly, addressed: true, rule: "external_channel"},
		"shared, allowed":       {event: said("<@UBOT> hi"), outer: ext, policy: external, author: alice, standing: chat.Unchecked, addressed: true},
		"external, allowed":     {event: said("<@UBOT> hi", object{"user": "UEVE", "team": "T2"}), outer: ext, policy: external, author: eve, standing: chat.Unchecked, addressed: true},
		"shared, whose unsaid":  {event: said("<@UBOT> hi", object{"team": nil}), outer: ext, policy: external, author: alice, standing: chat.ContextOnly, addressed: true, rule: "unknown_organisation"},

		"not among users":    {event: said("<@UBOT> hi"), policy: slackapp.Admission{Users: map[chat.UserID]bool{"UBOB": true}}, author: alice, standing: chat.ContextOnly, addressed: true, rule: "user_not_allowed"},
		"among users":        {event: said("<@UBOT> hi"), policy: slackapp.Admission{Users: map[chat.UserID]bool{"UALICE": true}}, author: alice, standing: chat.Unchecked, addressed: true},
		"not among channels": {event: said("<@UBOT> hi"), policy: slackapp.Admission{Channels: map[chat.ChannelID]bool{"CX": true}}, rule: "channel_not_allowed"},
		"among channels":     {event: said("<@UBOT> hi"), policy: slackapp.Admission{Channels: map[chat.ChannelID]bool{"CGENERAL": true}}, author: alice, standing: chat.Unchecked, addressed: true},
		"DM beside channels": {event: said("hi", object{"channel": "DALICE", "channel_type": "im"}), policy: slackapp.Admission{Channels: map[chat.ChannelID]bool{"CX": true}}, author: alice, standing: chat.Unchecked, addressed: true},

		"another workspace":     {event: said("<@UBOT> hi"), outer: object{"authorizations": []any{object{"team_id": "T2"}}}, rule: "other_workspace"},
		"by the authorization":  {event: said("<@UBOT> hi"), outer: object{"team_id": "T2"}, author: alice, standing: chat.Unchecked, addressed: true},
		"no callback":           {event: said("<@UBOT> hi"), outer: object{"type": "app_rate_limited"}, rule: "not_an_event_callback"},
		"a channel of no form":  {event: said("<@UBOT> hi", object{"channel": "C:1"}), rule: "malformed"},
		"a ts of another form":  {event: said("<@UBOT> hi", object{"ts": "17.1"}), rule: "malformed"},
		"a root of no form":     {event: said("<@UBOT> hi", object{"thread_ts": "x"}), rule: "malformed"},
		"an event of no use":    {event: object{"type": "pin_added"}, rule: "event_type"},
		"no event":              {outer: object{"event": "text"}, rule: "event_type"},
		"a stop by an app":      {event: said("stop", object{"app_id": "AZAP"}), author: chat.SystemActor("app-AZAP"), standing: chat.ContextOnly, rule: "app"},
		"a stop by an outsider": {event: said("!! stop", object{"user": "UEVE", "team": "T2"}), author: eve, standing: chat.ContextOnly, rule: "external_author"},
	} {
		t.Run(name, func(t *testing.T) {
			outer := c.outer
			if outer == nil {
				outer = object{}
			}
			v := admit(t, envelope(c.event, outer), c.policy)
			if v.Rule != c.rule {
				t.Errorf("rule %q, want %q", v.Rule, c.rule)
			}
			if c.author.IsZero() {
				if v.Kind != slackapp.KindIgnored {
					t.Fatalf("admitted as %s: %+v", v.Kind, v.Message)
				}
				return
			}
			if v.Kind != slackapp.KindMessage {
				t.Fatalf("not admitted: %+v", v)
			}
			m := v.Message
			if m.Author != c.author || m.Standing != c.standing || m.Addressed != c.addressed {
				t.Errorf("author %q standing %s addressed %v, want %q %s %v",
					m.Author.Key(), m.Standing, m.Addressed, c.author.Key(), c.standing, c.addressed)
			}
			if m.Standing == chat.ContextOnly && (m.Forced || m.Stop) {
				t.Errorf("context with control: %+v", m)
			}
		})
	}
}

func TestAdmissionFailsClosedWithoutIdentity(t *testing.T) {
	raw, err := slackapp.ParseRaw(envelope(said("<@UBOT> hi")))
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range []slackapp.Identity{{}, {Team: "T1", User: "UBOT"}, {Team: "T1", Bot: "BBOT"}, {User: "UBOT", Bot: "BBOT"}} {
		if v := slackapp.Admit(raw, half, slackapp.Admission{}); v.Kind != slackapp.KindIgnored {
			t.Errorf("with %+v admitted: %+v", half, v)
		}
	}
}

func TestAdmissionByPlace(t *testing.T) {
	for name, c := range map[string]struct {
		change    object
		addressed bool
		see       chat.Visibility
		root      chat.TS
	}{
		"public":      {object{}, false, chat.Public, ts1},
		"reply":       {object{"ts": ts2, "thread_ts": ts1}, false, chat.Public, ts1},
		"root itself": {object{"thread_ts": ts1}, false, chat.Public, ts1},
		"private":     {object{"channel_type": "group"}, false, chat.Private, ts1},
		"group DM":    {object{"channel": "GTRIO", "channel_type": "mpim"}, false, chat.Private, ts1},
		"DM":          {object{"channel": "DALICE", "channel_type": "im"}, true, chat.DM, ts1},
		"DM reply":    {object{"channel": "DALICE", "channel_type": "im", "ts": ts2, "thread_ts": ts1}, true, chat.DM, ts1},
		"DM by id":    {object{"channel": "DALICE", "channel_type": nil}, true, chat.DM, ts1},
		"unsaid":      {object{"channel_type": nil}, false, "", ts1},
	} {
		t.Run(name, func(t *testing.T) {
			m := admit(t, envelope(said("hello", c.change)), slackapp.Admission{}).Message
			if m.Addressed != c.addressed || m.Visibility != c.see || m.Conversation.Root != c.root {
				t.Errorf("got addressed %v, %q, root %s", m.Addressed, m.Visibility, m.Conversation.Root)
			}
		})
	}
}

func TestAdmissionOfOtherEvents(t *testing.T) {
	policy := slackapp.Admission{StopReaction: "octagonal_sign"}
	id := chat.MessageID{Team: "T1", Channel: "CGENERAL", TS: ts1}
	mention := func(changes ...object) object {
		return said("<@UBOT> hi", append([]object{{"type": "app_mention", "channel_type": nil}}, changes...)...)
	}
	changed := func(now, before object) object {
		return object{"type": "message", "subtype": "message_changed", "channel": "CGENERAL", "ts": ts2, "message": now, "previous_message": before}
	}
	for name, c := range map[string]struct {
		event object
		want  slackapp.Verdict
	}{
		"mention":              {mention(), slackapp.Verdict{Kind: slackapp.KindMention, About: id, Thread: ts1}},
		"mention in a reply":   {mention(object{"thread_ts": ts2}), slackapp.Verdict{Kind: slackapp.KindMention, About: id, Thread: ts2}},
		"mention by an edit":   {mention(object{"edited": object{"user": "UALICE", "ts": ts2}}), slackapp.Verdict{Kind: slackapp.KindIgnored, Rule: "mention_by_edit"}},
		"mention in a DM":      {mention(object{"channel": "DALICE"}), slackapp.Verdict{Kind: slackapp.KindIgnored, Rule: "mention_in_dm"}},
		"mention in a group":   {mention(object{"channel_type": "mpim"}), slackapp.Verdict{Kind: slackapp.KindIgnored, Rule: "mention_in_dm"}},
		"mention by a bot":     {mention(object{"user": nil, "bot_id": "BX"}), slackapp.Verdict{Kind: slackapp.KindMention, Rule: "app", About: id, Thread: ts1}},
		"mention by ourselves": {mention(object{"bot_id": "BBOT"}), slackapp.Verdict{Kind: slackapp.KindIgnored, Rule: "own_post"}},
		"edit": {changed(said("b", object{"edited": object{"user": "UALICE", "ts": ts2}}), said("a")),
			slackapp.Verdict{Kind: slackapp.KindEdit, Rule: "edit", About: id, Thread: ts1}},
		"unfurl":  {changed(said("a"), said("a")), slackapp.Verdict{Kind: slackapp.KindIgnored, Rule: "changed_without_edit"}},
		"no diff": {changed(said("a", object{"edited": object{"ts": ts2}}), said("a")), slackapp.Verdict{Kind: slackapp.KindIgnored, Rule: "changed_without_edit"}},
		"tombstone": {changed(said("gone", object{"subtype": "tombstone"}), said("a")),
			slackapp.Verdict{Kind: slackapp.KindDeletion, Rule: "deletion", About: id, Thread: ts1}},
		"deletion": {object{"type": "message", "subtype": "message_deleted", "channel": "CGENERAL", "ts": ts2, "deleted_ts": ts1},
			slackapp.Verdict{Kind: slackapp.KindDeletion, Rule: "deletion", About: id, Thread: ts1}},
		"native stop": {object{"type": "agent_session_stopped", "channel": "CGENERAL", "thread_ts": ts1, "user": "UALICE", "event_ts": ts2},
			slackapp.Verdict{Kind: slackapp.KindStopClick, Rule: "stop_click", About: id, Thread: ts1}},
		"stop reaction": {object{"type": "reaction_added", "user": "UALICE", "reaction": "octagonal_sign", "event_ts": ts2, "item": object{"type": "message", "channel": "CGENERAL", "ts": ts1}},
			slackapp.Verdict{Kind: slackapp.KindStopReaction, Rule: "stop_reaction", About: id, Thread: ts1}},
		"other reaction": {object{"type": "reaction_added", "user": "UALICE", "reaction": "eyes", "item": object{"channel": "CGENERAL", "ts": ts1}},
			slackapp.Verdict{Kind: slackapp.KindIgnored, Rule: "reaction"}},
		"our own reaction": {object{"type": "reaction_added", "user": "UBOT", "reaction": "octagonal_sign", "event_ts": ts2, "item": object{"channel": "CGENERAL", "ts": ts1}},
			slackapp.Verdict{Kind: slackapp.KindIgnored, Rule: "no_author"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, admit(t, envelope(c.event), policy), cmpopts.IgnoreFields(slackapp.Verdict{}, "Message")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongMessageIsCutInTheMiddle(t *testing.T) {
	long := "<@UBOT> begin" + strings.Repeat("é", 80<<10) + "end"
	m := admit(t, envelope(said(long)), slackapp.Admission{}).Message
	if len(m.Text) > 64<<10 || !strings.HasPrefix(m.Text, "begin") || !strings.HasSuffix(m.Text, "end") ||
		!strings.Contains(m.Text, "left out here") || strings.ContainsRune(m.Text, '\ufffd') {
		t.Errorf("cut badly: %d bytes, %q … %q", len(m.Text), m.Text[:20], m.Text[len(m.Text)-20:])
	}
}
