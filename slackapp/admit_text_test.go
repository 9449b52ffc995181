package slackapp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/runtime/chat"
	"reeve/slackapp"
)

// rich is a rich_text block of the given elements, in JSON.
func rich(elements string) object {
	return object{"blocks": json.RawMessage(`[{"type":"rich_text","elements":[` + elements + `]}]`)}
}

const (
	bot     = `{"type":"user","user_id":"UBOT"}`
	codeBot = `{"type":"user","user_id":"UBOT","style":{"code":true}}`
)

func text(s string) string {
	b, _ := json.Marshal(object{"type": "text", "text": s})
	return string(b)
}

func section(inner string) string { return `{"type":"rich_text_section","elements":[` + inner + `]}` }
func quote(inner string) string   { return `{"type":"rich_text_quote","elements":[` + inner + `]}` }

// TestTextAndBlocksAgree reads each message by its text alone and by its
// blocks: both must say the same.
func TestTextAndBlocksAgree(t *testing.T) {
	for name, c := range map[string]struct {
		text, blocks string
		addressed    bool
		want         string
		quotes       []string
	}{
		"plain":          {"hello", section(text("hello")), false, "hello", nil},
		"mention":        {"<@UBOT> hello", section(bot + "," + text(" hello")), true, "hello", nil},
		"mention inside": {"hello <@UBOT>", section(text("hello ") + "," + bot), true, "hello <@UBOT>", nil},
		"inline code":    {"try `<@UBOT>` it", section(text("try ") + "," + codeBot + "," + text(" it")), false, "try `<@UBOT>` it", nil},
		"fence": {"look:\n```<@UBOT> &lt;b&gt;\n&gt; x```", section(text("look:\n")) +
			`,{"type":"rich_text_preformatted","elements":[` + bot + `,` + text(" <b>\n> x") + `]}`, false, "look:\n```<@UBOT> <b>\n> x```", nil},
		"quote": {"&gt; <@UBOT> stop\nwell", quote(bot+","+text(" stop")) + "," + section(text("well")), false, "well", []string{"<@UBOT> stop"}},
		"quote and mention": {"&gt; one\n&gt; two\n<@UBOT> what of this", quote(text("one\ntwo")) + "," + section(bot+","+text(" what of this")),
			true, "what of this", []string{"one\ntwo"}},
		"two quotes": {"&gt; one\nand\n&gt; two", quote(text("one")) + "," + section(text("and\n")) + "," + quote(text("two")),
			false, "and", []string{"one", "two"}},
		"list in a quote": {"&gt; • <@UBOT>\nsee", `{"type":"rich_text_list","style":"bullet","border":1,"elements":[` + section(bot) + `]},` + section(text("see")),
			false, "see", []string{"• <@UBOT>"}},
		"list":         {"• one\n• <@UBOT>", `{"type":"rich_text_list","style":"bullet","elements":[` + section(text("one")) + "," + section(bot) + `]}`, true, "• one\n• <@UBOT>", nil},
		"escapes":      {"a &lt; b &amp;amp; c &lt;@UBOT&gt;", section(text("a < b &amp; c <@UBOT>")), false, "a < b &amp; c <@UBOT>", nil},
		"link":         {"see <https://a.example/x?a=1&amp;b=2|the page>", section(text("see ") + `,{"type":"link","url":"https://a.example/x?a=1&b=2","text":"the page"}`), false, "see the page (https://a.example/x?a=1&b=2)", nil},
		"bare link":    {"<https://a.example>", section(`{"type":"link","url":"https://a.example"}`), false, "https://a.example", nil},
		"same label":   {"<http://a.example|a.example>", section(`{"type":"link","url":"http://a.example","text":"a.example"}`), false, "http://a.example", nil},
		"mail":         {"<mailto:a@b.example|a@b.example>", section(`{"type":"link","url":"mailto:a@b.example","text":"a@b.example"}`), false, "a@b.example", nil},
		"channel":      {"in <#C9|random>", section(text("in ") + `,{"type":"channel","channel_id":"C9"}`), false, "in #random", nil},
		"group":        {"<!subteam^S1> hi", section(`{"type":"usergroup","usergroup_id":"S1"},` + text(" hi")), false, "@S1 hi", nil},
		"broadcast":    {"<!here> hi", section(`{"type":"broadcast","range":"here"},` + text(" hi")), false, "@here hi", nil},
		"styles":       {"*b* _i_ ~s~", section(`{"type":"text","text":"b","style":{"bold":true}},` + text(" ") + `,{"type":"text","text":"i","style":{"italic":true}},` + text(" ") + `,{"type":"text","text":"s","style":{"strike":true}}`), false, "*b* _i_ ~s~", nil},
		"emoji":        {":tada: <@UBOT>", section(`{"type":"emoji","name":"tada"},` + text(" ") + "," + bot), true, ":tada: <@UBOT>", nil},
		"other person": {"<@UALICE|alice> hi", section(`{"type":"user","user_id":"UALICE"},` + text(" hi")), false, "<@UALICE> hi", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for form, event := range map[string]object{
				"text": said(c.text), "blocks": said(c.text, rich(c.blocks)),
			} {
				m := admit(t, envelope(event), slackapp.Admission{}).Message
				var quotes []string
				for _, a := range m.Attached {
					if a.Author != nil || a.Origin != chat.Quoted {
						t.Errorf("%s: a typed quote is %+v", form, a)
					}
					quotes = append(quotes, a.Text)
				}
				if m.Text != c.want || m.Addressed != c.addressed || !cmp.Equal(quotes, c.quotes) {
					t.Errorf("%s: %q addressed %v quotes %q,\nwant %q %v %q", form, m.Text, m.Addressed, quotes, c.want, c.addressed, c.quotes)
				}
			}
		})
	}
}

// TestTextAlone are forms that only old clients and APIs send, without blocks.
func TestTextAlone(t *testing.T) {
	for in, want := range map[string]struct {
		addressed bool
		text      string
	}{
		"```open <@UBOT>":              {true, "```open <@UBOT>"},
		"a ` b <@UBOT>\n`":             {true, "a ` b <@UBOT>\n`"},
		"&gt;&gt;&gt; all\n<@UBOT> hi": {false, ""},
		"x\n&gt; <@UBOT>\n&gt; ```\ny": {false, "x\ny"},
		"say &gt; <@UBOT>":             {true, "say > <@UBOT>"},
		"`a` <@UBOT|reeve> `b`":        {true, "`a` <@UBOT> `b`"},
		"<@UBOT":                       {false, "<@UBOT"},
		"`` <@UBOT>":                   {true, "`` <@UBOT>"},
	} {
		m := admit(t, envelope(said(in)), slackapp.Admission{}).Message
		if m.Addressed != want.addressed || m.Text != want.text {
			t.Errorf("%q: addressed %v %q, want %v %q", in, m.Addressed, m.Text, want.addressed, want.text)
		}
	}
}

func TestUnknownBlocksFallBackToTheText(t *testing.T) {
	for name, blocks := range map[string]object{
		"element":   rich(section(bot + `,{"type":"hologram"}`)),
		"container": rich(`{"type":"rich_text_carousel","elements":[` + bot + `]}`),
		"sections":  {"blocks": json.RawMessage(`[{"type":"section","text":{"type":"mrkdwn","text":"<@UBOT>"}}]`)},
		"nonsense":  {"blocks": json.RawMessage(`[1,null,{"type":"rich_text","elements":7}]`)},
		"no list":   {"blocks": "x"},
	} {
		m := admit(t, envelope(said("hello", blocks)), slackapp.Admission{}).Message
		if name == "nonsense" {
			continue // an empty rich text says nothing; it only must not fail
		}
		if m.Text != "hello" || m.Addressed {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestPastedTableIsTyped(t *testing.T) {
	event := said("<@UBOT> look", object{"blocks": json.RawMessage(`[
		{"type":"rich_text","elements":[` + section(bot+","+text(" look")) + `]},
		{"type":"table","rows":[[{"type":"raw_text","text":"a"},{"type":"rich_text","elements":[` + section(text("<b>")) + `]}]]}]`)})
	m := admit(t, envelope(event), slackapp.Admission{}).Message
	if m.Text != "look\na\t<b>" {
		t.Errorf("got %q", m.Text)
	}
}

func TestWhatIsNotTypedIsAttached(t *testing.T) {
	event := said("<@UBOT> look at this", object{
		"subtype": "file_share",
		"files": []any{
			object{"id": "F1", "name": "plan.pdf", "mimetype": "application/pdf", "size": 12, "user": "UALICE"},
			object{"id": "F2", "name": "odd", "size": "big"},
			object{"name": "without an id"}, 7,
		},
		"attachments": []any{
			object{"is_share": true, "author_id": "UBOB", "author_name": "Carol", "text": "<@UBOT> stop", "from_url": "https://x.example/p1",
				"files": []any{object{"id": "F3", "name": "inner.txt"}}},
			object{"is_msg_unfurl": true, "author_id": "UEVE", "author_team_id": "T2", "text": "&lt;hi&gt;"},
			object{"is_share": true, "author_id": "UBOB", "bot_id": "BX", "text": "by an app"},
			object{"title": "A page", "fallback": "about it", "author_id": "UBOB"},
			object{}, "odd",
		},
	})
	v := admit(t, envelope(event), slackapp.Admission{})
	alice, bob, eve := chat.Person("T1", "UALICE"), chat.Person("T1", "UBOB"), chat.Person("T2", "UEVE")
	want := []chat.Attached{
		{Origin: chat.Quoted, Author: &bob, Text: "<@UBOT> stop\nhttps://x.example/p1"},
		{Origin: chat.FileOrigin, Author: &bob, File: &chat.File{ID: "F3", Name: "inner.txt"}},
		{Origin: chat.Quoted, Author: &eve, Text: "<hi>"},
		{Origin: chat.Quoted, Text: "by an app"},
		{Origin: chat.Quoted, Text: "A page\nabout it"},
		{Origin: chat.FileOrigin, Author: &alice, File: &chat.File{ID: "F1", Name: "plan.pdf", Mime: "application/pdf", Size: 12}},
		{Origin: chat.FileOrigin, File: &chat.File{ID: "F2", Name: "odd"}},
	}
	if v.Message.Text != "look at this" || v.Message.Stop {
		t.Errorf("typed: %+v", v.Message)
	}
	if diff := cmp.Diff(want, v.Message.Attached); diff != "" {
		t.Error(diff)
	}
}

func TestReadMessageOfAThread(t *testing.T) {
	in := chat.Conversation{Team: "T1", Channel: "CGENERAL", Root: ts1}
	read := func(ev object) (chat.Message, bool) {
		b, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		return slackapp.ReadMessage(b, in, chat.Private, self, slackapp.Admission{})
	}
	// Slack's answer names neither the channel nor its kind.
	m, ok := read(object{"type": "message", "user": "UBOB", "team": "T1", "ts": ts2, "thread_ts": ts1, "text": "hello <@UBOT>"})
	if !ok || m.Author != chat.Person("T1", "UBOB") || m.Conversation != in || m.Visibility != chat.Private || m.ID.TS != ts2 {
		t.Errorf("got %+v, %v", m, ok)
	}
	if m, ok := read(object{"type": "message", "user": "UBOB", "app_id": "AZAP", "ts": ts2, "text": "hi"}); !ok || m.Standing != chat.ContextOnly {
		t.Errorf("an app's: %+v, %v", m, ok)
	}
	if m, ok := read(object{"type": "message", "user": "UBOT", "bot_id": "BBOT", "ts": ts2, "text": "hi"}); ok {
		t.Errorf("our own: %+v", m)
	}
}
