package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"reeve/slackapp/simulator"
	"reeve/slackapp/simulator/page/pagetest"
)

const card = `[
	{"type":"section","text":{"type":"mrkdwn","text":"*I need your word.* <@UBOB> wrote; until <!date^1796072400^{time}|21:00 UTC>."}},
	{"type":"rich_text","elements":[
		{"type":"rich_text_section","elements":[{"type":"text","text":"1. create_issue","style":{"bold":true}},{"type":"text","text":"\n<b>Account</b>: *alice* & co"}]},
		{"type":"rich_text_preformatted","elements":[{"type":"text","text":"{\"a\": \"<img src=x>"},{"type":"text","text":" <!channel>\"}"}]}]},
	{"type":"actions","elements":[{"type":"checkboxes","action_id":"tick:1","options":[{"text":{"type":"plain_text","text":"Allow 1"},"value":"c1"}]}]},
	{"type":"actions","elements":[{"type":"checkboxes","action_id":"tick:2","options":[{"text":{"type":"plain_text","text":"Allow 2"},"value":"c2"}]}]},
	{"type":"actions","elements":[
		{"type":"button","action_id":"allow","style":"primary","text":{"type":"plain_text","text":"Allow ticked"}},
		{"type":"button","action_id":"open","url":"https://example.com/connect","text":{"type":"plain_text","text":"Connect"}},
		{"type":"button","action_id":"bad","url":"javascript:alert(1)","text":{"type":"plain_text","text":"Lead"}}]}]`

// answersForms answers what people hand in with what the test says, and acknowledges the
// rest.
func (b *bot) answersForms(answer func(code string) any) {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	api := slack.New(b.slack.BotToken(), slack.OptionAppLevelToken(b.slack.AppToken()), slack.OptionAPIURL(b.slack.APIURL()))
	client := socketmode.New(api)
	ended := make(chan struct{})
	go func() { _ = client.RunContext(ctx) }()
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-client.Events:
				if e.Type != socketmode.EventTypeInteractive {
					continue
				}
				var said any
				if call := e.Data.(slack.InteractionCallback); call.Type == slack.InteractionTypeViewSubmission {
					said = answer(call.View.State.Values["code"]["code"].Value)
				}
				_ = client.Ack(*e.Request, said)
			}
		}
	}()
	b.t.Cleanup(func() {
		stop()
		<-ended
	})
	b.check(b.slack.WaitConnected(b.within(), 1))
}

// postsCard posts a card into a person's direct messages.
func (b *bot) postsCard(dm string) (ts string) {
	b.t.Helper()
	var blocks slack.Blocks
	b.check(json.Unmarshal([]byte(card), &blocks))
	_, ts, err := b.api.PostMessageContext(b.within(), dm, slack.MsgOptionText("a card", false), slack.MsgOptionBlocks(blocks.BlockSet...))
	b.check(err)
	return ts
}

func (b *bot) clicked(action string) simulator.ClickMade {
	b.t.Helper()
	e, err := b.slack.WaitFor(b.within(), func(e simulator.Event) bool { return e.Kind == simulator.Clicked && e.Click.ActionID == action })
	b.check(err)
	return *e.Click
}

func text(p *pagetest.Page, text string) {
	p.Wait(text+" is shown", fmt.Sprintf(`document.body.textContent.includes(%q)`, text))
}

// A card in the direct messages is shown, ticked, answered, and becomes a record.
func TestACardIsAnswered(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	b.answersForms(func(string) any { return nil })
	ts := b.postsCard(simulator.AliceDM)
	p.Wait("it is told of", `document.querySelector("#places .fresh")?.textContent === "1 new"`)
	p.Click(`[data-place="DALICE"]`)
	shown := fmt.Sprintf(`#roots [data-ts=%q] .text`, ts)
	p.Wait("the card is shown", fmt.Sprintf(`document.querySelector(%q)`, shown))
	for part, want := range map[string]string{
		"p": "I need your word. @Bob wrote; until 21:00 UTC.", "pre": `{"a": "<img src=x> <!channel>"}`, "strong": "I need your word.",
		"a.button": "Connect (example.com)", "span.link": "Lead",
	} {
		if got := pagetest.Value[string](p, fmt.Sprintf(`document.querySelector(%q).textContent`, shown+" "+part)); got != want {
			t.Errorf("%s: %q, want %q", part, got, want)
		}
	}
	if got := p.Text(shown); !strings.Contains(got, "<b>Account</b>: *alice* & co") {
		t.Errorf("the card says %q", got)
	}
	p.Click(shown + ` input[data-tick="c2"]`)
	if c := b.clicked("tick:2"); !slices.Equal(c.Ticked, []string{"c2"}) {
		t.Errorf("ticked: %+v", c)
	}
	p.Click(shown + ` .primary`)
	if c := b.clicked("allow"); c.User != simulator.Alice || !slices.Equal(c.Ticked, []string{"c2"}) {
		t.Errorf("clicked: %+v", c)
	}
	_, _, _, err := b.api.UpdateMessageContext(b.within(), simulator.AliceDM, ts, slack.MsgOptionText("Allowed.", false))
	b.check(err)
	p.Wait("it is a record", fmt.Sprintf(`document.querySelector(%q).textContent === "Allowed."`, shown))
}

// A window is filled in, refused, and goes when the bot says so; and another
// person does not see it.
func TestAWindowAsksForACode(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	b.answersForms(func(code string) any {
		if code == "RIGHT" {
			return nil
		}
		return slack.NewErrorsViewSubmissionResponse(map[string]string{"code": "That is not it."})
	})
	ts := b.postsCard(simulator.AliceDM)
	_, err := b.slack.Click(simulator.Alice, simulator.AliceDM, ts, "allow")
	b.check(err)
	all := b.slack.Envelopes()
	var payload struct {
		Trigger string `json:"trigger_id"`
	}
	b.check(json.Unmarshal(all[len(all)-1].Payload, &payload))
	label := func(s string) *slack.TextBlockObject { return slack.NewTextBlockObject("plain_text", s, false, false) }
	_, err = b.api.OpenViewContext(b.within(), payload.Trigger, slack.ModalViewRequest{
		Type: slack.VTModal, Title: label("Enter the code"), Submit: label("Confirm"), Close: label("Close"), CallbackID: "code:f",
		Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewInputBlock("code", label("The code"), nil, slack.NewPlainTextInputBlockElement(nil, "code"))}},
	})
	b.check(err)
	p.Wait("the window is open", `document.querySelector("#window").open`)
	p.Press("WRONG")
	p.Enter()
	text(p, "That is not it.")
	if kept := pagetest.Value[string](p, `document.querySelector("#window input").value`); kept != "WRONG" {
		t.Errorf("what was typed is %q", kept)
	}
	p.Run(`document.querySelector("#window input").value = ""`)
	p.Run(`document.querySelector("#window input").focus()`)
	p.Press("RIGHT")
	p.Enter()
	p.Wait("the window is gone", `!document.querySelector("#window").open`)
}

func TestTheHomeTabIsShownAndPressed(t *testing.T) {
	p, b := open(t, pagetest.Options{})
	p.Click(`[data-place="DALICE"]`)
	p.Click(`#home`)
	label := func(s string) *slack.TextBlockObject { return slack.NewTextBlockObject("plain_text", s, false, false) }
	_, err := b.api.PublishViewContext(b.within(), slack.PublishViewContextRequest{UserID: simulator.Alice, View: slack.HomeTabViewRequest{
		Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewSectionBlock(label("A memory"), nil, slack.NewAccessory(slack.NewButtonBlockElement("home:x:forget:1", "", label("Forget")))),
		}},
	}})
	b.check(err)
	p.Wait("it is open", `document.querySelector("#window").open && document.querySelector("#window").textContent.includes("A memory")`)
	p.Click(`#window .buttons button`)
	if c := b.clicked("home:x:forget:1"); c.User != simulator.Alice {
		t.Errorf("clicked: %+v", c)
	}
	p.Click(`#window .row button`)
	p.Wait("it is closed", `!document.querySelector("#window").open`)
}
