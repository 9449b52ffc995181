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
	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// place is a workspace with one channel and two DMs, a store, and a model that
// answers whom it is asked by, and what.
type place struct {
	*apptest.Place
	t     *testing.T
	ctx   context.Context
	redis *redistest.Server
	rdb   *redis.Client
}

func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	world := simulator.DefaultWorld()
	for id := range world.Channels {
		if id != simulator.General && id != simulator.AliceDM && id != simulator.BobDM {
			delete(world.Channels, id)
		}
	}
	p := &place{t: t, redis: redistest.Start(t)}
	p.Place = apptest.NewPlace(t, simulator.Options{World: world, AckTimeout: 300 * time.Millisecond, RetryScale: 0.001}, p.redis)
	p.Model.Otherwise(echo)
	p.rdb = p.redis.Client()
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", strings.Join(p.Journal.Texts(), "\n"))
		}
	})
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
	return p.Slack.Say(user, channel, text, simulator.SayOptions{Thread: thread, Quiet: true})
}

// answered waits until the bot has answered in a thread as often as it should,
// and compares what it answered.
func (p *place) answered(channel, thread string, want ...string) {
	p.t.Helper()
	err := p.Slack.WaitUntil(p.ctx, func() bool { return len(p.answers(channel, thread)) >= len(want) })
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
	for _, m := range p.Posts(channel, thread) {
		all = append(all, strings.TrimSpace(m.Text))
	}
	return all
}

// log waits for the n-th line of a replica's log that holds all of some texts.
func (p *place) log(r *apptest.Process, n int, texts ...string) {
	p.t.Helper()
	if err := p.Slack.WaitUntil(p.ctx, func() bool { return r.Journal.Holding(texts...) >= n }); err != nil {
		p.t.Fatalf("the log has %d lines with %q, want %d: %v", r.Journal.Holding(texts...), texts, n, err)
	}
}

// signed waits until somebody has given a sign of life.
func (p *place) signed() {
	p.t.Helper()
	for p.rdb.Exists(p.ctx, "reeve:alive").Val() == 0 {
		p.pause(10 * time.Millisecond)
	}
}

func (p *place) pause(d time.Duration) {
	p.t.Helper()
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
		p.t.Fatal(p.ctx.Err())
	}
}

// cut keeps Slack from reaching anybody until join is called.
func (p *place) cut() {
	p.Slack.RefuseSockets(-1)
	p.Slack.DropSockets()
}

func (p *place) join(sockets int) {
	p.t.Helper()
	p.Slack.RefuseSockets(0)
	if err := p.Slack.WaitConnected(p.ctx, sockets); err != nil {
		p.t.Fatal(err)
	}
}
