package connecting

import (
	"slices"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// Without an address for browsers Alice gets a code. It is over before she comes to
// it; her turn waits on, gives her another one when she asks for it, and goes on
// when she has entered that.
func TestACodeIsHadAnewWhileTheTurnWaits(t *testing.T) {
	p := newPlace(t, store(t), "PUBLIC_ADDR=", "PUBLIC_URL=", "ACME_DEVICE_ANY_EMAIL=true")
	p.StartOther(t, apptest.Fast)
	p.Model.Then(whoami("c1"), scripted.Answer("you are alice"))
	root := p.asks(simulator.Alice, "who am I at Acme?")
	card := p.Card(t, simulator.AliceDM, "CODE-1")
	p.provider.enter("CODE-1", "over")
	p.Until(t, "the code is over", func() bool {
		return strings.Contains(strings.Join(p.Journal.Texts(), "\n"), "a code was not accepted any more")
	})
	p.Clicks(t, simulator.Alice, card, "card:connect:renew")
	next := p.Card(t, simulator.AliceDM, "CODE-2")
	if next.TS != card.TS || strings.Contains(string(next.Blocks), "CODE-1") {
		t.Errorf("the card is %s", next.Blocks)
	}
	p.provider.enter("CODE-2", "alice")
	p.Said(t, simulator.General, root, "you are alice")
	if got := p.provider.read(); !slices.Equal(got, []string{"alice"}) {
		t.Errorf("read with %v", got)
	}
	p.Found(t, "the card is a record", simulator.AliceDM, func(m simulator.Message) bool {
		return m.TS == card.TS && strings.Contains(string(m.Blocks), "connected the account") && !strings.Contains(string(m.Blocks), "CODE-2")
	})
}
