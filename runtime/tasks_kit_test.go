package runtime_test

import (
	"context"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// posting is a Slack whose sender posts at once, when it is let.
type posting struct {
	*fakeSlack
	box **mailbox.Box
	let chan struct{}
}

func (s posting) Post(l mailbox.SendLease, parts []chat.Part) {
	s.fakeSlack.Post(l, parts)
	go func() {
		<-s.let
		var done []mailbox.Posted
		for _, p := range parts {
			done = append(done, mailbox.Posted{ID: p.ID})
		}
		_, _ = (*s.box).Sent(context.Background(), l, done...)
	}()
}

// tried is one try of a task, which ends as the test says.
type tried struct {
	plugins.Ended
	ctx context.Context
	end chan error
}

// learner is a plugin's task that hands each of its tries to the test.
func learner() (runtime.Task, chan tried) {
	tries := make(chan tried, 100)
	return runtime.Task{Plugin: "memory", Task: plugins.Task{Name: "learn", Run: func(ctx context.Context, e plugins.Ended) error {
		t := tried{e, ctx, make(chan error, 1)}
		tries <- t
		select {
		case err := <-t.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}}}, tries
}

func next(t *testing.T, tries chan tried) tried {
	t.Helper()
	select {
	case e := <-tries:
		return e
	case <-time.After(bound):
		t.Fatal("no task is tried")
		return tried{}
	}
}

func none(t *testing.T, tries chan tried, when string) {
	t.Helper()
	select {
	case e := <-tries:
		t.Fatalf("%s: a task is tried: %+v", when, e.Ended)
	default:
	}
}

// tasked is a replica with tasks, whose posts are done when let is closed.
func (p *play) tasked(let chan struct{}, change func(*runtime.Options), tasks ...runtime.Task) *replica {
	var box *mailbox.Box
	return p.replica(func(o *runtime.Options) {
		box = o.Box
		o.Slack, o.Tasks, o.TaskPause = posting{p.slack, &box, let}, tasks, time.Millisecond
		o.Store = func(plugin string, owner chat.Actor) plugins.Store { return box.PluginStore(plugin, owner) }
		if change != nil {
			change(o)
		}
	})
}

func now() chan struct{} {
	let := make(chan struct{})
	close(let)
	return let
}

// left is how many tasks there are, once it is as many as wanted.
func (p *play) left(r *replica, want int) {
	p.t.Helper()
	p.eventually("tasks left", func() bool {
		g, err := r.box.Gauges(context.Background())
		return err == nil && g.Tasks.N == want
	})
}

// eventually asks again until something is so: of what another goroutine writes
// to the store there is no signal.
func (p *play) eventually(what string, ok func() bool) {
	p.t.Helper()
	late, tick := time.After(bound), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			p.t.Fatalf("never so: %s", what)
		}
	}
}
