package moods

import (
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// burst is how many people's questions come in each mood.
const burst = 40

// backWithin is how soon messages are taken again once Redis can be written.
const backWithin = 2 * time.Second

// TestP10_TheWayToRedisInEveryMood: one process lives through all that a
// network does to connections.
func TestP10_TheWayToRedisInEveryMood(t *testing.T) {
	t.Parallel()
	proxy := redistest.StartProxy(t, redistest.Start(t).Addr())
	p := newPlace(t, proxy)
	r := p.StartOther(t, shorter)
	for range burst {
		p.asks(simulator.Alice) // opens connections, and makes the figures those of a busy process
	}
	p.answered()
	for _, mood := range []redistest.Mood{redistest.Refuses, redistest.Blackholes, redistest.Resets, redistest.Drips} {
		t.Run(string(mood), func(t *testing.T) {
			p.lives(t, r, func() { proxy.Set(mood) }, func() { proxy.Set(redistest.Passes) })
		})
	}
	t.Run(string(redistest.HalfOpen), func(t *testing.T) {
		p.t = t
		links := proxy.Links()
		proxy.Set(redistest.HalfOpen)
		p.back(time.Now())
		p.answered()
		if links < 5 {
			t.Errorf("only %d connections were lost", links)
		}
	})
}

// lives sees a process through a mood: no acknowledgement, no crash, bounded
// memory, soon back, nothing lost or doubled.
func (p *place) lives(t *testing.T, r *apptest.Process, begin, end func()) {
	p.t = t
	before, failures := p.figure(r, "go_goroutines"), p.failures()
	held, release := scripted.Answer("answer to question of a turn that runs").Held()
	defer release()
	p.Model.Then(held)
	asked := len(p.Model.Requests())
	running := p.Slack.Say(simulator.Carol, simulator.General, "<@UBOT> of a turn that runs")
	p.Asked(t, asked+1)
	p.Until(t, "all is acknowledged", func() bool { return p.Slack.Unacknowledged() == 0 })

	begin()
	var amid []string
	for range burst {
		amid = append(amid, p.asks(simulator.Alice))
	}
	release()
	p.Until(t, "a message is not durable", func() bool { return p.failures() > failures })
	if p.acknowledged(amid...) {
		t.Error("a message was acknowledged that Redis has not")
	}
	if now := p.figure(r, "go_goroutines"); now > before+2*burst {
		t.Errorf("%v goroutines, before it %v", now, before)
	}
	if bytes := p.figure(r, "process_resident_memory_bytes"); bytes > 300<<20 {
		t.Errorf("%v bytes of memory", bytes)
	}
	end()
	p.back(time.Now())
	p.answered()
	p.Posted(t, simulator.General, running, 1)
	if n := len(p.Posts(simulator.General, running)); n != 1 {
		t.Errorf("the turn that ran has answered %d times", n)
	}
	if r.Ended() {
		t.Fatal("the process has ended")
	}
}

// back asks at once, and judges how long it takes to be acknowledged.
func (p *place) back(healed time.Time) {
	p.t.Helper()
	text := p.asks(simulator.Bob)
	p.Until(p.t, "the first message after it is acknowledged", func() bool { return p.acknowledged(text) })
	took := time.Since(healed)
	p.t.Logf("taken %v after Redis could be written", took.Round(time.Millisecond))
	if took > backWithin {
		p.t.Errorf("taken %v after Redis could be written, want %v", took, backWithin)
	}
}

func (p *place) failures() int { return p.Journal.Holding("message not durable") }
