// Package gaps shows with real processes, a real redis-server and a simulated
// Slack that never delivers again what becomes of messages that were said while
// nobody could acknowledge them.
package gaps

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/agent/scripted"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// place is a workspace with one channel and two DMs, a store, and a model that
// answers whom it is asked by, and what.
type place struct {
	t     *testing.T
	ctx   context.Context
	slack *simulator.Server
	model *scripted.Server
	redis *redistest.Server
	rdb   *redis.Client
	env   []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	model, err := scripted.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	model.Otherwise(echo)
	world := simulator.DefaultWorld()
	for id := range world.Channels {
		if id != simulator.General && id != simulator.AliceDM && id != simulator.BobDM {
			delete(world.Channels, id)
		}
	}
	p := &place{t: t, model: model, redis: redistest.Start(t)}
	p.rdb = p.redis.Client()
	p.slack = simulator.ForTest(t, simulator.Options{World: world, AckTimeout: 300 * time.Millisecond, RetryScale: 0.001})
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	p.env = []string{
		"SLACK_API_URL=" + p.slack.APIURL(), "SLACK_BOT_TOKEN=" + p.slack.BotToken(), "SLACK_APP_TOKEN=" + p.slack.AppToken(),
		"OPENAI_BASE_URL=" + model.URL(), "OPENAI_MODEL=scripted", "REDIS_URL=" + p.redis.URL(), "LOG_FORMAT=json",
	}
	return p
}

var (
	actorOf = regexp.MustCompile(`person with the id T1:(U[A-Z]+)`)
	asked   = regexp.MustCompile(`q[0-9]+`)
)

// echo names whom a turn acts for, and the questions that its last messages
// ask: those that stand plainly, behind the last answer.
func echo(r scripted.Request) scripted.Step {
	var questions []string
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role == "user"; i-- {
		if text := r.Messages[i].Content; !strings.HasPrefix(strings.TrimSpace(text), "<") {
			questions = append(asked.FindAllString(text, -1), questions...)
		}
	}
	actor := ""
	for _, m := range r.Messages {
		if found := actorOf.FindStringSubmatch(m.Content); m.Role == "system" && found != nil {
			actor = found[1]
		}
	}
	return scripted.Answer(actor + " asked " + strings.Join(questions, " and "))
}

// quietly is said without an event: Slack has lost it on the way.
func (p *place) quietly(user, channel, text, thread string) string {
	p.t.Helper()
	return p.slack.Say(user, channel, text, simulator.SayOptions{Thread: thread, Quiet: true})
}

// answered waits until the bot has answered in a thread as often as it should,
// and compares what it answered.
func (p *place) answered(channel, thread string, want ...string) {
	p.t.Helper()
	err := p.slack.WaitUntil(p.ctx, func() bool { return len(p.answers(channel, thread)) >= len(want) })
	if err != nil {
		p.t.Fatalf("answers %q, want %q: %v", p.answers(channel, thread), want, err)
	}
	p.same(channel, thread, want...)
}

func (p *place) same(channel, thread string, want ...string) {
	p.t.Helper()
	got := p.answers(channel, thread)
	if strings.Join(got, "|") != strings.Join(want, "|") {
		p.t.Fatalf("answers %q, want %q", got, want)
	}
}

func (p *place) answers(channel, thread string) (all []string) {
	own := simulator.ByBot(channel, thread)
	for _, m := range p.slack.Messages(channel, thread) {
		if own(m) {
			all = append(all, strings.TrimSpace(m.Text))
		}
	}
	return all
}

// log waits for the n-th line of a replica's log that holds all of some texts.
func (p *place) log(r *replica, n int, texts ...string) {
	p.t.Helper()
	for {
		got, next := r.logged(texts...)
		if got >= n {
			return
		}
		select {
		case <-next:
		case <-p.ctx.Done():
			p.t.Fatalf("the log has %d lines with %q, want %d", got, texts, n)
		}
	}
}

// signed waits until somebody has given a sign of life.
func (p *place) signed() {
	p.t.Helper()
	for p.rdb.Exists(p.ctx, "reeve:alive").Val() == 0 {
		p.wait(10 * time.Millisecond)
	}
}

func (p *place) wait(d time.Duration) {
	p.t.Helper()
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
		p.t.Fatal(p.ctx.Err())
	}
}

// cut keeps Slack from reaching anybody until join is called.
func (p *place) cut() {
	p.slack.RefuseSockets(-1)
	p.slack.DropSockets()
}

func (p *place) join(sockets int) {
	p.t.Helper()
	p.slack.RefuseSockets(0)
	if err := p.slack.WaitConnected(p.ctx, sockets); err != nil {
		p.t.Fatal(err)
	}
}
