package moods

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// The drill of docs/reliability.md: the primary is killed under load, a sentinel
// puts its replica in its place. Redis replicates after it has answered, so that
// something may be lost or doubled; but nothing whose writes all reached the
// replica is. The bot comes back by itself, and goes on.
func TestFailoverDrill(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t)
	p := newPlace(t, s)
	r := p.StartOther(t, shorter)
	p.asks(simulator.Alice)
	p.answered()
	asked := time.NewTicker(10 * time.Millisecond)
	defer asked.Stop()
	for n := range 300 {
		if n == 100 {
			s.Primary.Kill()
		}
		<-asked.C
		p.asks(simulator.Alice)
	}
	said := time.Now()
	settled := p.Wait(apptest.Patience, func() bool { return p.Slack.Unacknowledged() == 0 })
	acknowledged := time.Since(said)
	// Leases end, turns go on, and at last nobody posts any more.
	p.calm(2 * shorter.LeaseTTL)
	if r.Ended() {
		t.Fatal("the process has ended")
	}
	text := p.asks(simulator.Bob)
	p.Posted(t, simulator.General, p.asked[text], 1)
	r.Term(t)

	s.Replica.Kill()
	lacking := apptest.ReadAOF(t, s.Primary).Lacking(apptest.ReadAOF(t, s.Replica))
	lost, doubled := 0, 0
	for text, thread := range p.asked {
		posts := p.Posts(simulator.General, thread)
		switch {
		case len(posts) == 0 && p.acknowledged(text):
			lost++
		case len(posts) > 1:
			doubled++
		default:
			continue
		}
		// Every key of a conversation holds its thread's time stamp.
		writes := slices.DeleteFunc(slices.Clone(lacking), func(step string) bool { return !strings.Contains(step, thread) })
		t.Logf("%q has %d answers; the replica lacks %d of the writes of its conversation: %.1500q", text, len(posts), len(writes), writes)
		if len(writes) == 0 {
			t.Errorf("%q has %d answers, and all that was written of it reached the replica", text, len(posts))
		}
	}
	t.Logf("failover under load: %d messages, all acknowledged %v after the last was said (%v); %d acknowledged and never answered, %d answered twice; the replica lacks %d writes",
		len(p.asked), acknowledged.Round(100*time.Millisecond), settled, lost, doubled, len(lacking))
}

// calm returns once nothing was posted for a while.
func (p *place) calm(span time.Duration) {
	for n := -1; n != len(p.Slack.Calls("chat.postMessage")); {
		n = len(p.Slack.Calls("chat.postMessage"))
		_ = p.Wait(span, func() bool { return len(p.Slack.Calls("chat.postMessage")) != n })
	}
}
