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
	p := &place{t: t, redis: redistest.Start(t, redistest.Config("notify-keyspace-events", "KA"))}
	p.Place = apptest.NewPlace(t, simulator.Options{World: world, AckTimeout: 300 * time.Millisecond, RetryScale: 0.001}, p.redis)
	p.Model.Otherwise(echo)
	p.rdb = p.redis.Client()
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
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

// answered wants the bot to have answered so in a thread.
func (p *place) answered(channel, thread string, want ...string) {
	p.t.Helper()
	p.Answered(p.t, channel, thread, want...)
}

// log waits for the n-th line of a replica's log that holds all of some texts.
func (p *place) log(r *apptest.Process, n int, texts ...string) {
	p.t.Helper()
	if err := p.Slack.WaitUntil(p.ctx, func() bool { return r.Journal.Holding(texts...) >= n }); err != nil {
		p.t.Fatalf("the log has %d lines with %q, want %d: %v", r.Journal.Holding(texts...), texts, n, err)
	}
}

// signed waits until somebody gives n more signs of life.
func (p *place) signed(n int) {
	p.t.Helper()
	signs := p.rdb.Subscribe(p.ctx, "__keyspace@0__:reeve:alive")
	defer signs.Close()
	for range n {
		if _, err := signs.ReceiveMessage(p.ctx); err != nil {
			p.t.Fatalf("a sign of life: %v", err)
		}
	}
}

// pause lets time pass in which nobody can acknowledge.
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
