package consenting

import (
	"slices"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/slackapp/simulator"
)

func write(id, text string) scripted.Step {
	return scripted.Call(id, "hub_write", map[string]string{"text": text})
}

// Bob steers into Alice's turn: what would spend her rights waits for her click,
// nobody else's counts, and it is done once and for her. Bob has his own done in a
// turn of his own, with his rights.
func TestS1_ASteeredAskSpendsNobodysRightsUnasked(t *testing.T) {
	p := newPlace(t)
	p.StartOther(t, fast)
	root := p.conflict(scripted.Calls(write("hers", "hers"), write("his", "his")), scripted.Answer("filed hers"))
	card := p.card(simulator.AliceDM, "hub_write")
	for _, want := range []string{`"type":"checkboxes"`, "Allow ticked", "Refuse all", simulator.Bob} {
		if !strings.Contains(string(card.Blocks), want) {
			t.Errorf("the card lacks %s: %s", want, card.Blocks)
		}
	}
	p.Answered(t, simulator.General, root, "nothing yet", "I have asked <@"+simulator.Alice+"> in a direct message before I go on.")
	if spent := p.spent(); len(spent) > 0 {
		t.Fatalf("spent before anybody was asked: %v", spent)
	}
	p.clicks(simulator.Alice, simulator.AliceDM, card.TS, "card:consent:allow", "hers")
	p.clicks(simulator.Alice, simulator.AliceDM, card.TS, "card:consent:allow", "hers", "his")
	p.becomes(simulator.AliceDM, card.TS, "llowed")
	p.Until(t, "the answer", func() bool { return slices.Contains(p.Texts(simulator.General, root), "filed hers") })
	if got := p.spent(); !slices.Equal(got, []string{simulator.Alice + "/hub_write/hers"}) {
		t.Fatalf("spent: %v", got)
	}

	offer := p.card(simulator.BobDM, "own turn")
	p.Model.Then(write("mine", "mine"), scripted.Answer("filed for Bob"))
	p.clicks(simulator.Bob, simulator.BobDM, offer.TS, "card:offer:own")
	his := p.card(simulator.BobDM, "hub_write")
	p.clicks(simulator.Bob, simulator.BobDM, his.TS, "card:consent:allow", "mine")
	p.Until(t, "the answer to Bob", func() bool { return slices.Contains(p.Texts(simulator.General, root), "filed for Bob") })
	if got := p.spent(); !slices.Equal(got, []string{simulator.Alice + "/hub_write/hers", simulator.Bob + "/hub_write/mine"}) {
		t.Errorf("spent: %v", got)
	}
}
