package simulator_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reeve/slackapp/simulator"
)

// sent are the inner events of all envelopes so far, as maps.
func sent(t *testing.T, s *simulator.Server) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, e := range s.Envelopes() {
		out = append(out, frame{Payload: e.Payload}.event(t))
	}
	return out
}

// kinds are the types, and subtypes, of all events so far.
func kinds(t *testing.T, s *simulator.Server) string {
	t.Helper()
	var out []string
	for _, e := range sent(t, s) {
		kind := e["type"].(string)
		if sub, ok := e["subtype"]; ok {
			kind += "/" + sub.(string)
		}
		out = append(out, kind)
	}
	return strings.Join(out, " ")
}

func TestTwins(t *testing.T) {
	for name, c := range map[string]struct {
		channel, text string
		twin          simulator.Twin
		want          string
	}{
		"message first":  {simulator.General, "<@UBOT> hi", simulator.MessageFirst, "message app_mention"},
		"mention first":  {simulator.General, "<@UBOT> hi", simulator.MentionFirst, "app_mention message"},
		"message only":   {simulator.General, "<@UBOT> hi", simulator.MessageOnly, "message"},
		"mention only":   {simulator.General, "<@UBOT> hi", simulator.MentionOnly, "app_mention"},
		"labelled":       {simulator.Planning, "hi <@UBOT|reeve>", 0, "message app_mention"},
		"group DM":       {simulator.Trio, "<@UBOT> hi", 0, "message app_mention"},
		"direct message": {simulator.AliceDM, "<@UBOT> hi", 0, "message"},
		"no mention":     {simulator.General, "hi", 0, "message"},
		"in code":        {simulator.General, "`<@UBOT>` and ```<@UBOT>```", 0, "message"},
		"bot is absent":  {simulator.Random, "<@UBOT> hi", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulator.ForTest(t, simulator.Options{})
			ts := s.Say(simulator.Alice, c.channel, c.text, simulator.SayOptions{Twin: c.twin})
			if got := kinds(t, s); got != c.want {
				t.Errorf("events are %q, want %q", got, c.want)
			}
			for _, e := range sent(t, s) {
				if e["ts"] != ts || e["channel"] != c.channel || e["user"] != simulator.Alice {
					t.Errorf("event is %v", e)
				}
			}
		})
	}
}

func TestChannelTypes(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{BotEvents: []string{"message.channels", "message.groups", "message.mpim"}})
	for channel, want := range map[string]string{
		simulator.General: "channel", simulator.Planning: "group", simulator.Trio: "mpim",
	} {
		s.Say(simulator.Alice, channel, "<@UBOT> x")
		events := sent(t, s)
		if e := events[len(events)-1]; e["channel_type"] != want || e["type"] != "message" {
			t.Errorf("%s: %v", channel, e)
		}
	}
	s.Say(simulator.Alice, simulator.AliceDM, "not subscribed to")
	if n := len(s.Envelopes()); n != 3 {
		t.Errorf("%d envelopes", n)
	}
}

func TestAuthorsAreStampedAsSlackDoes(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{BotEvents: []string{"message.channels"}})
	zapier := simulator.App{AppID: "AZAP", BotID: "BZAP"}
	has := func(e map[string]any, want string) {
		t.Helper()
		for _, field := range []string{"user", "bot_id", "app_id", "bot_profile", "client_msg_id", "user_team", "blocks"} {
			_, there := e[field]
			if there != strings.Contains(" "+want+" ", " "+field+" ") {
				t.Errorf("%s: there is %v in %v", field, there, e)
			}
		}
	}
	s.Say(simulator.Alice, simulator.General, "typed")
	s.Say(simulator.Alice, simulator.General, "by an app", simulator.SayOptions{Author: simulator.AsAppFor(zapier)})
	s.Say("", simulator.General, "by a workflow", simulator.SayOptions{Author: simulator.AsWorkflow("Standup")})
	s.Say(simulator.Deploybot, simulator.General, "by a bot")
	s.Say(simulator.Eve, simulator.Partners, "from elsewhere")
	call(t, s, "chat.postMessage", url.Values{"channel": {simulator.General}, "text": {"by ourselves"}}, nil)
	events := sent(t, s)
	has(events[0], "user client_msg_id blocks")
	has(events[1], "user bot_id app_id")
	has(events[2], "bot_id app_id")
	has(events[3], "user bot_id app_id bot_profile")
	has(events[4], "user client_msg_id user_team blocks")
	has(events[5], "user bot_id app_id bot_profile")
	if events[2]["subtype"] != "bot_message" || events[1]["user"] != simulator.Alice || events[4]["team"] != simulator.ForeignTeam {
		t.Errorf("events are %v", events)
	}
	var outer struct {
		Shared         bool `json:"is_ext_shared_channel"`
		Authorizations []struct {
			TeamID string `json:"team_id"`
			UserID string `json:"user_id"`
		}
	}
	check(t, json.Unmarshal(s.Envelopes()[4].Payload, &outer))
	if !outer.Shared || outer.Authorizations[0].UserID != "UBOT" || outer.Authorizations[0].TeamID != simulator.HomeTeam {
		t.Errorf("payload says %+v", outer)
	}
}

func TestThreadsAndBroadcasts(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	root := s.Say(simulator.Alice, simulator.General, "root")
	s.Say(simulator.Bob, simulator.General, "reply", simulator.SayOptions{Thread: root, Broadcast: true})
	e := sent(t, s)[1]
	if e["subtype"] != "thread_broadcast" || e["thread_ts"] != root || e["parent_user_id"] != simulator.Alice || e["root"] == nil {
		t.Errorf("event is %v", e)
	}
	if top, thread := s.Messages(simulator.General, ""), s.Messages(simulator.General, root); len(top) != 1 || len(thread) != 2 {
		t.Errorf("top level %+v, thread %+v", top, thread)
	}
	for _, bad := range []simulator.SayOptions{{Thread: "1.000000"}} {
		if _, err := s.TrySay(simulator.Bob, simulator.General, "x", bad); err == nil {
			t.Error("a reply to nothing was taken")
		}
	}
	if _, err := s.TrySay(simulator.Carol, simulator.Planning, "x"); err == nil {
		t.Error("somebody spoke where she is no member")
	}
}

func TestEdits(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	ts := s.Say(simulator.Alice, simulator.General, "hi")
	s.Edit(simulator.Alice, simulator.General, ts, "<@UBOT> hi")
	if got := kinds(t, s); got != "message message/message_changed app_mention" {
		t.Fatalf("events are %s", got)
	}
	changed, mention := sent(t, s)[1], sent(t, s)[2]
	now, before := changed["message"].(map[string]any), changed["previous_message"].(map[string]any)
	edited, _ := now["edited"].(map[string]any)
	if changed["user"] != nil || changed["ts"] == ts || now["ts"] != ts || before["text"] != "hi" || edited["user"] != simulator.Alice {
		t.Errorf("change is %v", changed)
	}
	if mention["ts"] != ts || mention["edited"] == nil {
		t.Errorf("mention is %v", mention)
	}
}

func TestUnfurlChangesNoText(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	ts := s.Say(simulator.Alice, simulator.General, "<https://example.com>")
	s.Unfurl(simulator.General, ts, `[{"from_url":"https://example.com","text":"a page"}]`)
	s.Touch(simulator.General, ts)
	for _, e := range sent(t, s)[1:] {
		now, before := e["message"].(map[string]any), e["previous_message"].(map[string]any)
		if now["text"] != before["text"] || now["edited"] != nil {
			t.Errorf("event is %v", e)
		}
	}
}

func TestDeletions(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{BotEvents: []string{"message.channels"}})
	alone := s.Say(simulator.Alice, simulator.General, "alone")
	root := s.Say(simulator.Alice, simulator.General, "root")
	s.Say(simulator.Bob, simulator.General, "reply", simulator.SayOptions{Thread: root})
	if !s.Delete(simulator.General, alone) || !s.Delete(simulator.General, root) || s.Delete(simulator.General, root) {
		t.Error("what was deleted is told wrongly")
	}
	events := sent(t, s)[3:]
	if events[0]["subtype"] != "message_deleted" || events[0]["deleted_ts"] != alone {
		t.Errorf("first deletion is %v", events[0])
	}
	stone, _ := events[1]["message"].(map[string]any)
	if events[1]["subtype"] != "message_changed" || stone["subtype"] != "tombstone" || stone["ts"] != root || stone["user"] != "USLACKBOT" {
		t.Errorf("second deletion is %v", events[1])
	}
	if m := s.Messages(simulator.General, root); len(m) != 2 || m[0].Text == "root" {
		t.Errorf("thread is %+v", m)
	}
}

func TestReactions(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	ts := s.Say(simulator.Alice, simulator.General, "x")
	if !s.React(simulator.Bob, simulator.General, ts, "octagonal_sign") || s.React(simulator.Bob, simulator.General, ts, "octagonal_sign") {
		t.Error("reactions are counted wrongly")
	}
	e := sent(t, s)[1]
	item := e["item"].(map[string]any)
	if e["type"] != "reaction_added" || e["user"] != simulator.Bob || e["item_user"] != simulator.Alice || item["ts"] != ts {
		t.Errorf("event is %v", e)
	}
	if !s.Unreact(simulator.Bob, simulator.General, ts, "octagonal_sign") || len(s.Messages(simulator.General, "")[0].Reactions) != 0 {
		t.Error("the reaction stays")
	}
}

func TestAgentAndHomeEvents(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	root := s.Say(simulator.Alice, simulator.General, "x", simulator.SayOptions{Quiet: true})
	s.StopSession(simulator.Bob, simulator.General, root)
	s.OpenHome(simulator.Bob, "messages")
	e := sent(t, s)
	if e[0]["type"] != "agent_session_stopped" || e[0]["user"] != simulator.Bob || e[0]["thread_ts"] != root {
		t.Errorf("stop is %v", e[0])
	}
	if e[1]["type"] != "app_home_opened" || e[1]["tab"] != "messages" || e[1]["channel"] != simulator.BobDM {
		t.Errorf("home is %v", e[1])
	}
}

func TestTyped(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	for in, want := range map[string]string{
		"@reeve ask @Bob.":      "<@UBOT> ask <@UBOB>.",
		"a < b && c":            "a &lt; b &amp;&amp; c",
		"mail@reeve":            "mail<@UBOT>",
		"`@reeve` @nobody":      "`@reeve` @nobody",
		"x ```@reeve``` @ALICE": "x ```@reeve``` <@UALICE>",
		"<@UBOT>":               "&lt;@UBOT&gt;",
	} {
		if got := s.Typed(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestRichText(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	s.Say(simulator.Alice, simulator.AliceDM, "*so* <@UBOT> `a &lt; b` <https://x.y|here> :eyes:\n&gt; said\n```code```")
	raw := string(s.Messages(simulator.AliceDM, "")[0].Blocks)
	for _, want := range []string{
		`{"style":{"bold":true},"text":"so","type":"text"}`, `{"type":"user","user_id":"UBOT"}`,
		`{"style":{"code":true},"text":"a \u003c b","type":"text"}`, `{"text":"here","type":"link","url":"https://x.y"}`,
		`{"name":"eyes","type":"emoji"}`, `"type":"rich_text_quote"`, `"type":"rich_text_preformatted"`,
	} {
		if !strings.Contains(raw, want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
}

func TestTimestampsRise(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	var all []string
	for i := range 100 {
		all = append(all, s.Say(simulator.Alice, simulator.AliceDM, fmt.Sprint(i)))
	}
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != 100 {
		t.Errorf("timestamps are %v", all)
	}
}
