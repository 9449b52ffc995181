// Package remembering plays memory through the whole of Reeve: people in a
// simulated Slack, a scripted model that lies where it can, the shipped binary
// between them, and a real Redis.
package remembering

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/memory"
	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

func TestMain(m *testing.M) { apptest.Main(m, []plugins.Plugin{clock.New(time.Now), memory.New()}) }

// place is a workspace with one bot in it.
type place struct {
	*testing.T
	*apptest.Place
}

func newPlace(t *testing.T, settings ...string) place {
	t.Helper()
	return place{t, apptest.NewPlace(t, simulator.Options{RetryScale: 0.01}, redistest.Shared(t), append(settings, "PLUGINS=clock,memory")...)}
}

// note is what the model proposes, of whichever entry it likes.
type note struct {
	Kind     string     `json:"kind"`
	Topic    string     `json:"topic"`
	Text     string     `json:"text"`
	Evidence []evidence `json:"evidence"`
}

type evidence struct {
	Entry int    `json:"entry"`
	Span  string `json:"span"`
}

// proposes lets the model propose a note after each turn, with the same words
// cited of each entry that there may be, and clear all that is reviewed.
func (p place) proposes(kind, topic, text, span string) {
	p.Model.Form(func(r scripted.Request) string {
		given := r.Messages[len(r.Messages)-1].Content
		if strings.Contains(string(r.Format), "verdicts") {
			var list []struct{ Memory int }
			_ = json.Unmarshal([]byte(given), &list)
			var verdicts []string
			for _, n := range list {
				verdicts = append(verdicts, fmt.Sprintf(`{"memory":%d,"sensitive":false,"of_others":false,"order":false}`, n.Memory))
			}
			return `{"verdicts":[` + strings.Join(verdicts, ",") + `]}`
		}
		var notes []note
		for entry := 1; entry <= 4; entry++ {
			notes = append(notes, note{kind, topic, text, []evidence{{entry, span}}})
		}
		out, _ := json.Marshal(map[string]any{"memories": notes})
		return string(out)
	})
}

// asks lets somebody say something, and waits for the answer.
func (p place) asks(who, channel, text, answer string, steps ...scripted.Step) {
	p.Helper()
	p.Model.Then(append(steps, scripted.Answer(answer))...)
	root := p.Slack.Say(who, channel, text, simulator.SayOptions{})
	p.Said(p.T, channel, root, answer)
}

// home is what a person's home tab shows when he opens it.
func (p place) home(who string) string {
	p.Helper()
	seen := len(p.Slack.Views(who))
	p.Slack.OpenHome(who, "home")
	return p.shown(who, seen)
}

// shown is the tab that was shown after so many others.
func (p place) shown(who string, seen int) string {
	p.Helper()
	p.Until(p.T, "the home tab of "+who, func() bool { return len(p.Slack.Views(who)) > seen })
	views := p.Slack.Views(who)
	return string(views[len(views)-1].View)
}

// presses presses the button of an item whose action id begins like that.
func (p place) presses(who, begins string) string {
	p.Helper()
	tab := p.home(who)
	start := strings.Index(tab, `"action_id":"`+begins)
	if start < 0 {
		p.Fatalf("%s has no button %s: %s", who, begins, tab)
	}
	id, _, _ := strings.Cut(tab[start+len(`"action_id":"`):], `"`)
	seen := len(p.Slack.Views(who))
	if _, err := p.Slack.ClickHome(who, id); err != nil {
		p.Fatal(err)
	}
	return p.shown(who, seen)
}

// asked waits until the model was asked for notes or reviews so often.
func (p place) asked(n int) []scripted.Request {
	p.Helper()
	p.Until(p.T, fmt.Sprintf("%d requests for notes", n), func() bool { return len(p.Model.Forms()) >= n })
	return p.Model.Forms()
}

// readForPeople is what the model was given when it was asked for personal
// memories: of each request the texts that it has read, in order.
func (p place) readForPeople() (read []string) {
	for _, r := range p.Model.Forms() {
		given := r.Messages[len(r.Messages)-1].Content
		if strings.Contains(string(r.Format), "verdicts") || strings.Contains(given, `"author":`) {
			continue
		}
		var entries []struct{ Text string }
		if err := json.Unmarshal([]byte(given), &entries); err != nil {
			p.Fatalf("%s: %v", given, err)
		}
		var texts []string
		for _, e := range entries {
			texts = append(texts, e.Text)
		}
		read = append(read, strings.Join(texts, " | "))
	}
	return read
}
