package page_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"reeve/slackapp/simulator"
	"reeve/slackapp/simulator/page"
	"reeve/slackapp/simulator/page/pagetest"
)

// bot stands for the real one: it says what the test tells it to say, in posts
// and in lines of a log.
type bot struct {
	t     *testing.T
	slack *simulator.Server
	api   *slack.Client
}

// open serves the page on a simulator and opens it.
func open(t *testing.T, o pagetest.Options, beside ...func(*http.ServeMux)) (*pagetest.Page, *bot) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", page.Handler())
	for _, add := range beside {
		add(mux)
	}
	s := simulator.ForTest(t, simulator.Options{Page: mux})
	p := pagetest.Open(t, s.PageURL(), o)
	p.Ready()
	return p, &bot{t, s, slack.New(s.BotToken(), slack.OptionAPIURL(s.APIURL()))}
}

func (b *bot) within() context.Context {
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	b.t.Cleanup(cancel)
	return ctx
}

// heard waits for a message with a text and returns its ts.
func (b *bot) heard(text string) string {
	b.t.Helper()
	e, err := b.slack.WaitFor(b.within(), func(e simulator.Event) bool {
		return e.Kind == simulator.MessagePosted && strings.Contains(e.Message.Text, text)
	})
	if err != nil {
		b.t.Fatalf("wait for %q: %v", text, err)
	}
	return e.Message.TS
}

type attrs = map[string]any

// logs is one line of the bot's log. Conversation is that of a root in General
// where more does not say.
func (b *bot) logs(msg, root string, more attrs) {
	b.t.Helper()
	line := attrs{"msg": msg, "conversation": "T1:CGENERAL:" + root}
	for name, value := range more {
		line[name] = value
	}
	if err := b.slack.Publish("log", line); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bot) decides(root, ts, author, disposition string, more attrs) {
	b.t.Helper()
	line := attrs{"disposition": disposition, "ts": ts, "author": "T1:" + author}
	for name, value := range more {
		line[name] = value
	}
	b.logs("message", root, line)
}

func (b *bot) runs(turn, root, actor string, messages ...string) {
	b.t.Helper()
	b.logs("turn runs", root, attrs{"turn": turn, "actor": "T1:" + actor, "attempt": 1, "messages": messages})
}

func (b *bot) ends(turn, root, outcome string, messages ...string) {
	b.t.Helper()
	b.logs("turn ended", root, attrs{"turn": turn, "outcome": outcome, "messages": messages})
}

func (b *bot) answers(root, markdown string) {
	b.t.Helper()
	_, _, err := b.api.PostMessageContext(b.within(), simulator.General, slack.MsgOptionTS(root),
		slack.MsgOptionBlocks(slack.NewMarkdownBlock("", markdown)), slack.MsgOptionText("an answer", false))
	b.check(err)
}

func (b *bot) reacts(ts, name string) {
	b.t.Helper()
	b.check(b.api.AddReactionContext(b.within(), name, slack.NewRefToMessage(simulator.General, ts)))
}

func (b *bot) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}
