package runtime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

// ownServer is a play on a server that the test may kill.
func ownServer(t *testing.T, ttl time.Duration) (*play, *redistest.Server) {
	s := redistest.Start(t)
	p := newPlay(t)
	p.url, p.prefix = s.URL(), "own"
	p.opts.LeaseTTL, p.opts.LeaseMargin = ttl, ttl/5
	return p, s
}

// noAttempts: one lost worker is one too many.
func noAttempts(o *runtime.Options) { o.MaxAttempts, o.RenewEvery = 1, 100*time.Millisecond }

func (p *play) gaveUp() bool {
	p.slack.mu.Lock()
	defer p.slack.mu.Unlock()
	for _, post := range p.slack.posts {
		if strings.Contains(post.Markdown, "give up") {
			return true
		}
	}
	return false
}

// A finished answer outlives a short outage: nobody else could write it, either.
func TestP10_AnAnswerWaitsForTheStore(t *testing.T) {
	p, server := ownServer(t, 20*time.Second)
	r := p.replica(noAttempts)
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	server.Kill()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run.answers(t, "answered while the store was away")
	}()
	server.Restart()
	<-ended
	p.slack.posted(t, "answered while the store was away")
	p.noRun()
}

// While the store is away nobody can renew. Whoever comes back goes on, and no
// attempt is counted, however many replicas look.
func TestP10_AnOutageCountsNothing(t *testing.T) {
	for name, outage := range map[string]func(*redistest.Server) (back func()){
		"killed": func(s *redistest.Server) func() { s.Kill(); return s.Restart },
		"frozen": func(s *redistest.Server) func() { s.Pause(); return s.Resume },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := ownServer(t, 3*time.Second) // the client looks once a second whether a server is back
			one := p.replica(noAttempts)
			p.replica(noAttempts)
			o := p.deliver(one, p.says(alice, "one"))
			for range 2 {
				run := p.run()
				if run.turn.ID != o.Turn {
					t.Fatalf("turn %s runs, want %s", run.turn.ID, o.Turn)
				}
				back := outage(server)
				run.ended(t) // nobody trusts a lease for longer than it lasts
				back()
			}
			start := time.Now()
			run := p.run()
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("it went on %s after the store was back", took)
			}
			run.answers(t, "answered")
			p.slack.posted(t, "answered")
			if p.gaveUp() {
				t.Error("outages were counted as lost workers")
			}
		})
	}
}

// A replica that did not see the holder die waits for one TTL after an outage;
// a lost worker's turn goes on all the same.
func TestP10_ALostWorkersTurnGoesOnAfterAnOutage(t *testing.T) {
	p, server := ownServer(t, time.Second)
	p.replica(nil)
	p.claimedBy(p.says(alice, "one"))
	server.Kill()
	server.Restart()
	p.run().answers(t, "answered")
}

// A message that finds the store away is either stored, or known not to be.
func TestP10_DeliveriesDuringAnOutage(t *testing.T) {
	p, server := ownServer(t, time.Second)
	p.opts.CallTimeout = 300 * time.Millisecond
	r := p.replica(nil)
	server.Kill()
	m := p.says(alice, "one")
	if o := r.Deliver(context.Background(), []chat.Message{m})[0]; o.Err == nil {
		t.Fatalf("delivered to a store that is away: %+v", o)
	}
	server.Restart()
	o, late := r.Deliver(context.Background(), []chat.Message{m})[0], time.After(bound)
	for o.Err != nil {
		select {
		case <-late:
			t.Fatal(o.Err)
		default:
			o = r.Deliver(context.Background(), []chat.Message{m})[0]
		}
	}
	p.run().answers(t, "answered")
	p.slack.posted(t, "answered")
	p.noRun()
}
