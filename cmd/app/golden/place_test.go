package golden

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// patience bounds every wait. A loaded machine is no failure.
const patience = 30 * time.Second

// place is a workspace with a model provider and a store, in which replicas of
// Reeve work.
type place struct {
	slack   *simulator.Server
	model   *scripted.Server
	redis   *redistest.Space
	journal *journal
	env     []string
}

// newPlace makes a place without a replica. settings are NAME=VALUE.
func newPlace(t testing.TB, world *simulator.World, settings ...string) *place {
	t.Helper()
	model, err := scripted.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	p := &place{model: model, redis: redistest.Shared(t)}
	p.slack = simulator.ForTest(t, simulator.Options{World: world, RetryScale: 0.01})
	p.journal = &journal{written: p.wake}
	p.env = append([]string{
		"SLACK_API_URL=" + p.slack.APIURL(), "SLACK_BOT_TOKEN=" + p.slack.BotToken(), "SLACK_APP_TOKEN=" + p.slack.AppToken(),
		"OPENAI_BASE_URL=" + model.URL(), "OPENAI_MODEL=scripted",
		"REDIS_URL=" + p.redis.URL(), "REDIS_PREFIX=" + p.redis.Prefix(),
		"LOG_FORMAT=json",
	}, settings...)
	return p
}

// wake lets whoever waits look again: the simulator's log is the one place at
// which everything is waited for.
func (p *place) wake() { _ = p.slack.Publish("look", nil) }

// start starts the shipped binary and waits until it is connected.
func (p *place) start(t testing.TB, settings ...string) *replica {
	t.Helper()
	return p.connected(t, func() *replica {
		return p.launch(t, append(p.env[:len(p.env):len(p.env)], settings...), shipped(t), "run")
	})
}

// startOther starts another main, with intervals of its own.
func (p *place) startOther(t testing.TB, set intervals, settings ...string) *replica {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	env := append(p.env[:len(p.env):len(p.env)], optionsVariable+"="+string(text))
	return p.connected(t, func() *replica { return p.launch(t, append(env, settings...), self, "run") })
}

// connected waits until a new replica has all of its sockets.
func (p *place) connected(t testing.TB, launch func() *replica) *replica {
	t.Helper()
	ready := len(p.journal.with("socket ready")) + 2
	r := launch()
	p.until(t, "the replica is connected", func() bool {
		select {
		case <-r.done:
			t.Fatalf("the replica ended with exit code %d: %q", r.code, p.journal.texts())
		default:
		}
		return len(p.journal.with("socket ready")) >= ready
	})
	return r
}

// until waits for something that changes with the simulator, the log or the
// provider.
func (p *place) until(t testing.TB, what string, done func() bool) {
	t.Helper()
	if err := p.wait(patience, done); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (p *place) wait(limit time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return p.slack.WaitUntil(ctx, done)
}

// quiet returns once nothing has happened for a while. It is for what must not
// happen, behind waits for all that must.
func (p *place) quiet(span time.Duration) {
	for {
		mark := p.slack.Mark()
		if p.wait(span, func() bool { return p.slack.Mark() != mark }) != nil {
			return
		}
	}
}

// asked waits for the n-th model request, counted from 1.
func (p *place) asked(t testing.TB, n int) scripted.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := p.model.WaitRequest(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// posted waits until the bot has posted n messages in a thread, and answers
// them.
func (p *place) posted(t testing.TB, channel, thread string, n int) []simulator.Message {
	t.Helper()
	var posts []simulator.Message
	p.until(t, "posts of the bot", func() bool {
		posts = p.posts(channel, thread)
		return len(posts) >= n
	})
	return posts
}

// posts are the bot's posts in a thread.
func (p *place) posts(channel, thread string) []simulator.Message {
	var posts []simulator.Message
	own := simulator.ByBot(channel, thread)
	for _, m := range p.slack.Messages(channel, thread) {
		if own(m) {
			posts = append(posts, m)
		}
	}
	return posts
}

// shownText is what a post shows: its Markdown, or its text where it has none.
func shownText(m simulator.Message) string {
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(m.Blocks, &blocks) == nil && len(blocks) == 1 && blocks[0].Type == "markdown" {
		return blocks[0].Text
	}
	return m.Text
}
