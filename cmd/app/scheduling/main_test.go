// Package scheduling plays reminders through the whole of Reeve: people in a
// simulated Slack, a scripted model that tries what it must not, the shipped
// binary, and a real Redis.
package scheduling

import (
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

func TestMain(m *testing.M) { apptest.Main(m, nil) }

// place is a workspace with one bot in it.
type place struct {
	*testing.T
	*apptest.Place
	said int
}

func newPlace(t *testing.T, settings ...string) *place {
	t.Helper()
	return &place{t, apptest.NewPlace(t, simulator.Options{RetryScale: 0.01}, redistest.Shared(t), settings...), 0}
}

// wants lets Alice ask in a thread of her own, with a model that keeps a reminder
// for so long ahead, and answers the thread.
func (p *place) wants(channel, text string, ahead time.Duration, more map[string]any) (root string, at time.Time) {
	p.Helper()
	p.said++
	at = time.Now().Add(ahead).Truncate(time.Second)
	arguments := map[string]any{"text": text, "at": at.Format(time.RFC3339)}
	for name, value := range more {
		arguments[name] = value
	}
	answer := "It is noted: " + text
	p.Model.Then(scripted.Call("call_1", "schedule_create", arguments), scripted.Answer(answer))
	ask := "remind me"
	if channel != simulator.AliceDM {
		ask = "<@" + p.Slack.Bot().UserID + "> " + ask
	}
	root = p.Slack.Say(simulator.Alice, channel, ask, simulator.SayOptions{})
	p.Until(p.T, "the answer", func() bool { return len(p.texts(channel, root, answer)) == 1 })
	last := p.LastAsked()
	if said := last.With("tool", "It is kept as"); len(said) != 1 {
		p.Fatalf("nothing was kept: %s", last.Raw)
	}
	return root, at
}

// texts are the bot's posts in a thread that end like this.
func (p *place) texts(channel, root, end string) []string {
	var texts []string
	for _, text := range p.Texts(channel, root) {
		if strings.HasSuffix(text, end) {
			texts = append(texts, text)
		}
	}
	return texts
}

// due waits for the post of a due turn, which must be there once.
func (p *place) due(channel, root, answer string) string {
	p.Helper()
	p.Until(p.T, "what is due", func() bool { return len(p.texts(channel, root, answer)) > 0 })
	return p.texts(channel, root, answer)[0]
}
