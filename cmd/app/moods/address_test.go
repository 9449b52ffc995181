package moods

import (
	"testing"
	"time"

	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// A conversation of two turns through all of Reeve, at each kind of address.
func TestEachKindOfAddressEndToEnd(t *testing.T) {
	for kind, start := range map[string]func() apptest.Store{
		"cluster":  func() apptest.Store { return redistest.StartCluster(t) },
		"sentinel": func() apptest.Store { return redistest.StartSentinel(t) },
	} {
		t.Run(kind, func(t *testing.T) {
			p := newPlace(t, start())
			r := p.StartOther(t, shorter)
			first := p.asks(simulator.Alice)
			p.answered()
			thread := p.asked[first]
			p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> question 7", simulator.SayOptions{Thread: thread})
			posts := p.Posted(t, simulator.General, thread, 2)
			if got := apptest.ShownText(posts[1]); len(posts) != 2 || got != "answer to question 7" {
				t.Errorf("the second answer of %d is %q", len(posts), got)
			}
			r.Term(t)
		})
	}
}

// The drill of docs/reliability.md: the primary is killed under load, a sentinel
// puts its replica in its place. What is lost or doubled is reported and not
// judged, since Redis replicates after it has answered; that the bot comes back
// by itself, and goes on, is.
func TestFailoverDrill(t *testing.T) {
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
	killed := time.Now()
	settled := p.Wait(apptest.Patience, func() bool { return p.Slack.Unacknowledged() == 0 })
	acknowledged := time.Since(killed)
	// Long enough for leases to end and turns to go on, and for Slack's repetitions.
	_ = p.Wait(12*time.Second, func() bool { return false })
	lost, doubled := 0, 0
	for text, thread := range p.asked {
		switch n := len(p.Posts(simulator.General, thread)); {
		case n == 0 && p.acknowledged(text):
			lost++
		case n > 1:
			doubled++
		}
	}
	t.Logf("failover under load: %d messages, all acknowledged %v after the last was said (%v); %d acknowledged and never answered, %d answered twice",
		len(p.asked), acknowledged.Round(100*time.Millisecond), settled, lost, doubled)
	if r.Ended() {
		t.Fatal("the process has ended")
	}
	text := p.asks(simulator.Bob)
	p.Posted(t, simulator.General, p.asked[text], 1)
}
