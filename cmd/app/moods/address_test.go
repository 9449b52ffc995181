package moods

import (
	"testing"

	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// A conversation of two turns through all of Reeve, at each kind of address.
func TestEachKindOfAddressEndToEnd(t *testing.T) {
	t.Parallel()
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
			p.Answered(t, simulator.General, thread, "answer to "+first, "answer to question 7")
			r.Term(t)
		})
	}
}
