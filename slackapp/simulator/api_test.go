package simulator_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

// call makes a form call; without a token of its own it has the bot's.
func call(t *testing.T, s *simulator.Server, method string, args url.Values, into any) *http.Response {
	t.Helper()
	if !args.Has("token") {
		args.Set("token", s.BotToken())
	}
	return send(t, s, method, "application/x-www-form-urlencoded", args.Encode(), "", into)
}

func send(t *testing.T, s *simulator.Server, method, kind, body, bearer string, into any) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(within(t), http.MethodPost, s.APIURL()+method, strings.NewReader(body))
	check(t, err)
	r.Header.Set("Content-Type", kind)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	check(t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	check(t, err)
	if into != nil {
		check(t, json.Unmarshal(raw, into))
	}
	return answer
}

type result struct {
	OK       bool
	Error    string
	TS       string
	Needed   string
	Warning  string
	Messages []struct {
		TS       string
		Text     string
		Metadata json.RawMessage
	}
	HasMore bool `json:"has_more"`
	Meta    struct {
		Messages []string
		Cursor   string `json:"next_cursor"`
	} `json:"response_metadata"`
	Message struct {
		ThreadTS string `json:"thread_ts"`
		Text     string
	}
	URL string
}

func TestTokens(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{Scopes: []string{"users:read"}})
	for name, c := range map[string]struct{ method, token, want string }{
		"none":            {"auth.test", "", "not_authed"},
		"wrong":           {"auth.test", "xoxb-other", "invalid_auth"},
		"app's for a bot": {"auth.test", s.AppToken(), "not_allowed_token_type"},
		"bot's for a app": {"apps.connections.open", s.BotToken(), "not_allowed_token_type"},
		"scope":           {"chat.postMessage", s.BotToken(), "missing_scope"},
		"unknown method":  {"chat.shout", s.BotToken(), "unknown_method"},
	} {
		t.Run(name, func(t *testing.T) {
			var out result
			call(t, s, c.method, url.Values{"token": {c.token}}, &out)
			if out.OK || out.Error != c.want {
				t.Errorf("got %+v, want %s", out, c.want)
			}
		})
	}
}

func TestJSONBody(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	body := `{"channel":"CGENERAL","text":"hi","blocks":[{"type":"divider"}],"unfurl_links":false,"thread_ts":null}`
	var out result
	send(t, s, "chat.postMessage", "application/json; charset=utf-8", body, s.BotToken(), &out)
	m := s.Messages(simulator.General, "")
	if !out.OK || len(m) != 1 || m[0].Text != "hi" || m[0].UnfurlLinks == nil || *m[0].UnfurlLinks || m[0].UnfurlMedia != nil {
		t.Errorf("got %+v, %+v", out, m)
	}
	if calls := s.Calls("chat.postMessage"); len(calls) != 1 || calls[0].Args["text"] != "hi" || !calls[0].OK {
		t.Errorf("calls are %+v", calls)
	}
}

func TestContentLimits(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	many := "[" + strings.TrimSuffix(strings.Repeat(`{"type":"divider"},`, 51), ",") + "]"
	markdown := func(n int) string { return `[{"type":"markdown","text":"` + strings.Repeat("é", n) + `"}]` }
	for name, c := range map[string]struct {
		args url.Values
		want string // "" when it is taken
	}{
		"nothing":           {url.Values{}, "no_text"},
		"51 blocks":         {url.Values{"blocks": {many}}, "invalid_blocks"},
		"no list":           {url.Values{"blocks": {"{}"}}, "invalid_blocks_format"},
		"unknown block":     {url.Values{"blocks": {`[{"type":"marquee"}]`}}, "invalid_blocks"},
		"long section":      {url.Values{"blocks": {`[{"type":"section","text":{"type":"mrkdwn","text":"` + strings.Repeat("x", 3001) + `"}}]`}}, "invalid_blocks"},
		"12000 of markdown": {url.Values{"blocks": {markdown(12000)}}, ""},
		"12001 of markdown": {url.Values{"blocks": {markdown(12001)}}, "msg_blocks_too_long"},
		"large blocks":      {url.Values{"blocks": {`[{"type":"rich_text","elements":["` + strings.Repeat("x", 13200) + `"]}]`}}, "msg_blocks_too_long"},
		"markdown argument": {url.Values{"markdown_text": {strings.Repeat("x", 12001)}}, "msg_too_long"},
		"markdown and text": {url.Values{"markdown_text": {"x"}, "text": {"y"}}, "markdown_text_conflict"},
		"metadata":          {url.Values{"text": {"x"}, "metadata": {`{"event_type":"t"}`}}, "invalid_metadata_schema"},
		"no such thread":    {url.Values{"text": {"x"}, "thread_ts": {"1.000001"}}, "thread_not_found"},
		"long button":       {url.Values{"blocks": {`[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"` + strings.Repeat("x", 76) + `"}}]}]`}}, "invalid_blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			c.args.Set("channel", simulator.General)
			var out result
			call(t, s, "chat.postMessage", c.args, &out)
			if out.Error != c.want || out.OK != (c.want == "") {
				t.Errorf("got %+v", out)
			}
		})
	}
}

func TestLongTextIsCut(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	var out result
	call(t, s, "chat.postMessage", url.Values{"channel": {simulator.General}, "text": {strings.Repeat("x", 40_001)}}, &out)
	if !out.OK || out.Warning != "message_truncated" || len(out.Message.Text) != 40_000 {
		t.Errorf("got ok %v, warning %q, %d characters", out.OK, out.Warning, len(out.Message.Text))
	}
	var update result
	call(t, s, "chat.update", url.Values{"channel": {simulator.General}, "ts": {out.TS}, "text": {strings.Repeat("x", 4_001)}}, &update)
	if update.Error != "msg_too_long" {
		t.Errorf("update got %+v", update)
	}
}

func TestUpdateWithTextTakesBlocksAway(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	var out result
	call(t, s, "chat.postMessage", url.Values{"channel": {simulator.General}, "text": {"x"}, "blocks": {`[{"type":"divider"}]`}}, &out)
	call(t, s, "chat.update", url.Values{"channel": {simulator.General}, "ts": {out.TS}, "blocks": {`[{"type":"divider"},{"type":"divider"}]`}, "text": {"y"}}, &out)
	if m := s.Messages(simulator.General, "")[0]; m.Edited != nil || len(m.Blocks) == 0 {
		t.Errorf("message is %+v", m)
	}
	call(t, s, "chat.update", url.Values{"channel": {simulator.General}, "ts": {out.TS}, "text": {"z"}}, &out)
	if m := s.Messages(simulator.General, "")[0]; m.Edited == nil || m.Blocks != nil || m.Text != "z" {
		t.Errorf("message is %+v", m)
	}
}

func TestWhereABotMayPost(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	s.SetChannel(simulator.Channel{ID: "CSECRET", Kind: simulator.PrivateChannel, Members: []string{simulator.Alice}})
	s.SetChannel(simulator.Channel{ID: "COLD", Members: []string{"UBOT"}, Archived: true})
	s.SetUser(simulator.User{ID: "UGONE", Deleted: true})
	for channel, want := range map[string]string{
		"CNOWHERE": "channel_not_found", "CSECRET": "channel_not_found", "COLD": "is_archived",
		simulator.Random: "not_in_channel", simulator.Deploybot: "cannot_dm_bot", "UGONE": "user_disabled",
		simulator.Carol: "",
	} {
		var out result
		call(t, s, "chat.postMessage", url.Values{"channel": {channel}, "text": {"x"}}, &out)
		if out.Error != want {
			t.Errorf("%s: got %q, want %q", channel, out.Error, want)
		}
	}
	if m := s.Messages(simulator.CarolDM, ""); len(m) != 1 {
		t.Errorf("Carol's DM holds %+v", m)
	}
	theirs := s.Say(simulator.Alice, simulator.General, "mine")
	for method, want := range map[string]string{"chat.update": "cant_update_message", "chat.delete": "cant_delete_message"} {
		var out result
		call(t, s, method, url.Values{"channel": {simulator.General}, "ts": {theirs}, "text": {"x"}}, &out)
		if out.Error != want {
			t.Errorf("%s: got %q", method, out.Error)
		}
	}
}

func TestReplyBelowADeletedMessageStandsAlone(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	root := s.Say(simulator.Alice, simulator.General, "x")
	s.Delete(simulator.General, root)
	var out result
	call(t, s, "chat.postMessage", url.Values{"channel": {simulator.General}, "text": {"y"}, "thread_ts": {root}}, &out)
	if !out.OK || out.Message.ThreadTS != "" {
		t.Errorf("got %+v", out)
	}
}

func TestPagesKeepTheirPlace(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	root := s.Say(simulator.Alice, simulator.General, "root")
	var replies []string
	for range 3 {
		replies = append(replies, s.Say(simulator.Bob, simulator.General, "r", simulator.SayOptions{Thread: root}))
	}
	args := url.Values{"channel": {simulator.General}, "ts": {root}, "limit": {"2"}}
	var page result
	call(t, s, "conversations.replies", args, &page)
	s.Delete(simulator.General, replies[0])
	args.Set("cursor", page.Meta.Cursor)
	var next result
	call(t, s, "conversations.replies", args, &next)
	if page.Messages[1].TS != replies[0] || next.Messages[1].TS != replies[1] || !next.HasMore {
		t.Errorf("pages are %+v and %+v", page, next)
	}
	var span result
	call(t, s, "conversations.replies", url.Values{"channel": {simulator.General}, "ts": {root}, "oldest": {replies[1]}, "latest": {replies[2]}, "inclusive": {"true"}}, &span)
	if len(span.Messages) != 3 || span.Messages[0].TS != root {
		t.Errorf("span is %+v", span)
	}
	var bad result
	call(t, s, "conversations.replies", url.Values{"channel": {simulator.General}, "ts": {root}, "cursor": {"nonsense"}}, &bad)
	if bad.Error != "invalid_cursor" {
		t.Errorf("got %+v", bad)
	}
	var history result
	call(t, s, "conversations.history", url.Values{"channel": {simulator.Random}}, &history)
	if history.Error != "not_in_channel" {
		t.Errorf("got %+v", history)
	}
}

func TestStreamEndsByItselfOrByTheUser(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{StreamLifetime: time.Millisecond})
	root := s.Say(simulator.Alice, simulator.General, "x")
	start := url.Values{"channel": {simulator.General}, "thread_ts": {root}, "recipient_user_id": {simulator.Alice}, "recipient_team_id": {simulator.HomeTeam}, "markdown_text": {"a"}}
	var out, appended result
	call(t, s, "chat.startStream", start, &out)
	_, err := s.WaitMessage(within(t), func(m simulator.Message) bool { return m.Stream == "expired" })
	check(t, err)
	call(t, s, "chat.appendStream", url.Values{"channel": {simulator.General}, "ts": {out.TS}, "markdown_text": {"b"}}, &appended)
	if appended.Error != "message_not_in_streaming_state" {
		t.Errorf("got %+v", appended)
	}

	s2 := simulator.ForTest(t, simulator.Options{})
	root = s2.Say(simulator.Alice, simulator.General, "x")
	start.Set("thread_ts", root)
	start.Set("token", s2.BotToken())
	call(t, s2, "chat.startStream", start, &out)
	if s2.Sessions(simulator.General)[root].Status != "processing" {
		t.Error("no session is shown")
	}
	var busy result
	call(t, s2, "chat.update", url.Values{"channel": {simulator.General}, "ts": {out.TS}, "text": {"b"}}, &busy)
	s2.StopSession(simulator.Bob, simulator.General, root)
	call(t, s2, "chat.appendStream", url.Values{"channel": {simulator.General}, "ts": {out.TS}, "markdown_text": {"b"}}, &appended)
	if busy.Error != "streaming_state_conflict" || appended.Error != "stopped_by_user" {
		t.Errorf("got %+v and %+v", busy, appended)
	}
	start.Del("recipient_user_id")
	call(t, s2, "chat.startStream", start, &out)
	if out.Error != "missing_recipient_user_id" {
		t.Errorf("got %+v", out)
	}
}
