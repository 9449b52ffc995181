package moods

import (
	"testing"

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
