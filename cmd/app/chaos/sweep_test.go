package chaos

import (
	"testing"

	"reeve/cmd/app"
	"reeve/slackapp/simulator"
)

// At each point on a message's way the process dies, once at its first passing
// and once at a later one, and another one starts: every promise holds. A
// process that is frozen there past its leases and woken breaks none either.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	for _, point := range app.Points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			p, talks := newSweep(t)
			p.dieAt(point, 1, talks)
			p.dieAt(point, 4, talks)
			p.freezeAt(point, talks)
			p.check(t, p.settle(talks))
		})
	}
}

// newSweep is a workspace with one channel and a DM.
func newSweep(t *testing.T) (*place, []*talk) {
	people := []string{simulator.Alice, simulator.Bob, simulator.Carol}
	talks := []*talk{{channel: simulator.General, people: people}, {channel: simulator.AliceDM, people: people[:1]}}
	return newPlace(t, nil, "MAX_ATTEMPTS=100"), talks
}

// scene is a short play: a request that takes its time, a steer, a forced one
// of somebody else, chatter, somebody who waits, and calls of both kinds.
func (p *place) scene(talks []*talk) {
	c, dm := talks[0], talks[1]
	p.say(c, simulator.Alice, "s", mention)
	p.say(c, simulator.Alice, "p", mention)
	p.say(c, simulator.Bob, "p", forced)
	if p.known(c) {
		p.say(c, simulator.Carol, "c", plainly)
	}
	p.say(c, simulator.Bob, "o", mention)
	p.say(c, simulator.Carol, "i", mention)
	p.say(dm, simulator.Alice, "o", plainly)
	p.say(dm, simulator.Alice, "i", plainly)
}

// until plays scenes until something has happened: one that is over and has not
// brought it about is followed by another.
func (p *place) until(what string, talks []*talk, happened func() bool) {
	p.t.Helper()
	for range 8 {
		p.scene(talks)
		_ = p.Wait(patience/8, func() bool {
			return happened() || len(p.owed()) == 0 && p.Slack.Unacknowledged() == 0
		})
		if happened() {
			return
		}
	}
	p.t.Fatalf("%s: it does not\n%s", what, p.tail())
}

// dieAt plays a scene to a process that dies when it passes a point for the
// n-th time, and lets another one go on.
func (p *place) dieAt(point string, n int, talks []*talk) {
	p.t.Helper()
	r := p.start(breakAt(point, n, "kill"))
	p.ready(r)
	p.until("it dies at "+point, talks, r.Ended)
	next := p.start()
	p.ready(next)
	p.await("its work is done", func() bool { return p.Slack.Unacknowledged() == 0 && len(p.owed()) == 0 })
	next.Kill()
}

// freezeAt plays a scene to a process that freezes at a point, lets another one
// take over, and wakes it.
func (p *place) freezeAt(point string, talks []*talk) {
	p.t.Helper()
	r := p.start(breakAt(point, 1, "stop"))
	p.ready(r)
	p.until("it freezes at "+point, talks, r.Frozen)
	p.ready(p.start())
	p.pause(overtaken)
	p.wake(r)
}
