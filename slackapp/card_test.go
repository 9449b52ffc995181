package slackapp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reeve/cmd/app/apptest/golden"
	"reeve/runtime/chat"
	"reeve/slackapp/simulator"
)

var (
	cardAlice = chat.Person("T1", "UALICE")
	cardBob   = chat.Person("T1", "UBOB")
	cardTime  = time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)
)

// consentCard asks Alice about two calls, in a conflict.
func consentCard() chat.Card {
	return chat.Card{
		Kind: chat.ConsentCard, Conversation: chat.Conversation{Team: "T1", Channel: simulator.General, Root: ts1},
		Turn: "t_01hzzzzzzzzzzzzzzzzzz12345", Wait: "w.3", Visibility: chat.Public, Until: cardTime,
		Contributors: []chat.Actor{cardBob, chat.Person("T1", "UCAROL"), cardBob},
		Asking: &chat.Asking{Questions: []chat.Question{
			{Call: "call_1", Tool: "github_create_issue", Rule: "conflict_writes", Provider: "github", Account: "alice-gh", Host: "api.github.com", Sends: true, Write: true,
				Arguments: "{\n  \"repo\": \"acme/site\",\n  \"title\": \"The <!channel> door & *bell*\"\n}"},
			{Call: "call_2", Tool: "web_fetch", Rule: "conflict_sends", Sends: true, Host: "example.com", Arguments: "{\n  \"url\": \"https://example.com/\"\n}"},
		}},
	}
}

func ending(how chat.How, allowed ...string) *chat.Ending {
	e := &chat.Ending{How: how, Time: cardTime, Allowed: allowed}
	if how == chat.ByAnswer || how == chat.ByRefusal || how == chat.ByAccount {
		e.By = &cardAlice
	}
	return e
}

func connectCard() chat.Card {
	c := consentCard()
	c.Kind, c.Visibility, c.Contributors, c.Flow = chat.ConnectCard, chat.DM, nil, "f_1"
	c.Asking = &chat.Asking{Provider: "github", Scopes: []string{"repo", "read:user"}, Lacking: []string{"repo"}}
	c.URL = "https://bot.example.com/connect/f_1"
	return c
}

// cards are all that there are, by the name of their golden file.
func cards() map[string]chat.Card {
	out := map[string]chat.Card{"consent": consentCard(), "connect": connectCard()}
	for name, e := range map[string]*chat.Ending{
		"answered": ending(chat.ByAnswer, "call_2"), "expired": ending(chat.ByTime), "overtaken": ending(chat.ByMessage), "stopped": ending(chat.ByStop),
		"abandoned": ending(chat.ByAbandoned), "undelivered": ending(chat.ByNoCard), "resumed": ending(chat.ByOperator),
	} {
		c := consentCard()
		c.Ending = e
		out["consent_"+name] = c
	}
	for name, e := range map[string]*chat.Ending{
		"connected": ending(chat.ByAccount), "refused": ending(chat.ByRefusal), "refused_there": {How: chat.ByRefusal, Time: cardTime}, "expired": ending(chat.ByTime),
	} {
		c := connectCard()
		c.Ending = e
		out["connect_"+name] = c
	}
	device := connectCard()
	device.URL, device.Code = "https://github.com/login/device", "ABCD-1234"
	out["connect_device"] = device
	offer := chat.Card{
		Kind: chat.OfferCard, Conversation: consentCard().Conversation, Turn: consentCard().Turn, Visibility: chat.Public,
		Messages: []chat.TS{ts1, ts2}, Runs: cardAlice,
	}
	out["offer"] = offer
	offer.Ending = &chat.Ending{How: chat.ByAnswer, By: &cardBob, Time: cardTime}
	out["offer_taken"] = offer
	offer.Ending = &chat.Ending{}
	out["offer_gone"] = offer
	offer.Ending = &chat.Ending{How: chat.ByHandBack, Time: cardTime}
	out["offer_handed_back"] = offer
	connected := chat.Card{Kind: chat.ConnectedCard, Provider: "github", Account: "alice-gh"}
	out["connected"] = connected
	connected.Ending = ending(chat.ByRefusal)
	out["connected_ended"] = connected
	return out
}

// cardPart is a card on its way to Alice.
func (b *bench) cardPart(n int, c chat.Card) chat.Part {
	p := b.part(n, "a card")
	p.To, p.Card = chat.Destination{DM: simulator.Alice}, &c
	return p
}

// inDM are the bot's posts in Alice's DM.
func (b *bench) inDM() (out []simulator.Message) {
	for _, m := range b.sim.Messages(simulator.AliceDM, "") {
		if m.BotID != "" {
			out = append(out, m)
		}
	}
	return out
}

func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "\t") != nil {
		return string(raw)
	}
	return out.String() + "\n"
}

func TestCardsAreShownAsWritten(t *testing.T) {
	b := newBench(t, nil)
	all := cards()
	var parts []chat.Part
	var names []string
	for name := range all {
		names = append(names, name)
	}
	for i, name := range names {
		parts = append(parts, b.cardPart(i, all[name]))
	}
	b.send(false, parts...)
	posts := b.inDM()
	if len(posts) != len(names) {
		t.Fatalf("%d posts of %d cards", len(posts), len(names))
	}
	for i, m := range posts {
		t.Run(names[i], func(t *testing.T) {
			golden.Holds(t, filepath.Join("testdata", "cards", names[i]+".json"), "text: "+m.Text+"\n"+indented(m.Blocks))
			if m.UnfurlLinks == nil || *m.UnfurlLinks || m.UnfurlMedia == nil || *m.UnfurlMedia {
				t.Error("its links may be unfurled")
			}
		})
	}
}

// literals are the texts of blocks that Slack reads nothing in, and marked those
// in which it does.
func literals(t *testing.T, raw json.RawMessage) (literal, marked string) {
	t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			text, _ := v["text"].(string)
			switch v["type"] {
			case "text", "plain_text":
				literal += text
			case "mrkdwn", "markdown":
				marked += text
			case "link", "user", "channel", "broadcast", "usergroup", "emoji":
				t.Errorf("an element of the type %v", v["type"])
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	var blocks any
	if err := json.Unmarshal(raw, &blocks); err != nil {
		t.Fatal(err)
	}
	walk(blocks)
	return literal, marked
}

// hostile texts, of which none may be read as markup or vanish.
var hostile = map[string]string{
	"backticks": "{\n  \"a\": \"```\\n*Allow ticked* <https://evil.example|ok>\"\n}",
	"markup":    `{"a": "<!channel> <@UBOB> :tada: *b* _i_ ~s~ [x](https://evil.example)"}`,
	"unseen":    "{\"a\": \"pay\u200bpal\u202egnp\u2066\ufeff\u00ad\u3164\U000e0041\"}",
	"letters":   "{\"a\": \"שלום עולם مرحبا\"}",
	"controls":  "{\"a\": \"\x00\x1b[31m\r\b\"}",
}

func TestNothingOnACardIsReadAsMarkupOrGoesUnseen(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			c := consentCard()
			q := &c.Asking.Questions[0]
			q.Arguments, q.Account, q.Host, q.Tool = text, text, text, text
			b.send(false, b.cardPart(1, c))
			posts := b.inDM()
			literal, marked := literals(t, posts[0].Blocks)
			seen := text
			for _, r := range text {
				if !strings.ContainsRune(literal, r) {
					escape := fmt.Sprintf(`\u%04x`, r)
					if !strings.Contains(literal, escape) {
						t.Errorf("%q is not on the card, nor %s", r, escape)
					}
					seen = strings.ReplaceAll(seen, string(r), escape)
				}
			}
			if !strings.Contains(literal, seen) {
				t.Errorf("the arguments are not on the card, which says %q", literal)
			}
			for _, r := range "\u200b\u202e\u2066\ufeff\u00ad\u3164\U000e0041\x00\x1b\r\b" {
				if strings.ContainsRune(literal, r) {
					t.Errorf("%U is on the card", r)
				}
			}
			for _, bad := range []string{"evil", "<!channel>", "pay", "tada"} {
				if strings.Contains(marked+posts[0].Text, bad) {
					t.Errorf("%q can be read as markup in %q", bad, marked)
				}
			}
		})
	}
}

// tenCalls have arguments of 8,000 characters together.
func tenCalls(fill string) chat.Card {
	c := consentCard()
	c.Asking.Questions = nil
	for i := range 10 {
		c.Asking.Questions = append(c.Asking.Questions, chat.Question{
			Call: fmt.Sprint("call_", i), Tool: strings.Repeat("long_name_", 6), Rule: "foreign_writes", Provider: "provider", Account: strings.Repeat("<a>", 40),
			Host: "host.example.com", Sends: true, Write: true,
			Arguments: strings.Repeat(fill, 800/utf8.RuneCountInString(fill)) + fmt.Sprint(" end of ", i),
		})
	}
	return c
}

// TestAFullCard: all arguments stand in the DM before there is a button, in the
// order of the calls, with a box for each.
func TestAFullCard(t *testing.T) {
	for name, fill := range map[string]string{"letters": "x", "quotes": `"`, "brackets": "<", "wide": "字", "lines": "ab\n", "large": "🙂"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			c := tenCalls(fill)
			b.send(false, b.cardPart(1, c))
			posts := b.inDM()
			b.box.mu.Lock()
			unsent := b.box.unsent
			b.box.mu.Unlock()
			if len(unsent) != 0 {
				t.Fatalf("not sent: %+v", unsent)
			}
			all, last := "", posts[len(posts)-1]
			for i, m := range posts {
				literal, _ := literals(t, m.Blocks)
				all += literal
				if strings.Contains(string(m.Blocks), `"actions"`) != (i == len(posts)-1) {
					t.Errorf("post %d of %d has buttons, or the last has none", i+1, len(posts))
				}
				// Those of another turn's card may stand between them.
				if !strings.Contains(string(m.Blocks), "turn "+c.Turn.Short()) {
					t.Errorf("post %d of %d does not say of which turn it is: %s", i+1, len(posts), m.Blocks)
				}
			}
			for i, q := range c.Asking.Questions {
				if !strings.Contains(all, q.Arguments) {
					t.Errorf("call %d stands there without its arguments", i+1)
				}
				if !strings.Contains(string(last.Blocks), `"value":"`+q.Call+`"`) {
					t.Errorf("call %d has no box", i+1)
				}
			}
		})
	}
}

// TestAVeryLongArgument is cut into pieces that together are all of it.
func TestAVeryLongArgument(t *testing.T) {
	b := newBench(t, nil)
	c := consentCard()
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "%d\"<", i)
	}
	c.Asking.Questions[0].Arguments = text.String()
	b.send(false, b.cardPart(1, c))
	all := ""
	for _, m := range b.inDM() {
		var blocks []struct {
			Elements []struct {
				Type     string
				Elements []struct{ Text string }
			}
		}
		if err := json.Unmarshal(m.Blocks, &blocks); err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks {
			for _, e := range block.Elements {
				for _, text := range e.Elements {
					if e.Type == "rich_text_preformatted" {
						all += text.Text
					}
				}
			}
		}
	}
	if !strings.Contains(all, text.String()) {
		t.Error("something of it is missing, or stands elsewhere")
	}
}
