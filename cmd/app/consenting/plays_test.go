package consenting

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
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
	p.StartOther(t, apptest.Fast)
	root := p.conflict(scripted.Calls(write("hers", "hers"), write("his", "his")), scripted.Answer("filed hers"))
	card := p.Card(t, simulator.AliceDM, "hub_write")
	for _, want := range []string{`"type":"checkboxes"`, "Allow ticked", "Refuse all", simulator.Bob} {
		if !strings.Contains(string(card.Blocks), want) {
			t.Errorf("the card lacks %s: %s", want, card.Blocks)
		}
	}
	p.Answered(t, simulator.General, root, "nothing yet", "I have asked <@"+simulator.Alice+"> in a direct message before I go on.")
	if spent := p.spent(); len(spent) > 0 {
		t.Fatalf("spent before anybody was asked: %v", spent)
	}
	p.Clicks(t, simulator.Alice, card, "card:consent:allow", "hers")
	p.Becomes(t, card, "llowed")
	p.Said(t, simulator.General, root, "filed hers")
	if got := p.spent(); !slices.Equal(got, []string{simulator.Alice + "/hub_write/hers"}) {
		t.Fatalf("spent: %v", got)
	}

	offer := p.Card(t, simulator.BobDM, "own turn")
	p.Model.Then(write("mine", "mine"), scripted.Answer("filed for Bob"))
	p.Clicks(t, simulator.Bob, offer, "card:offer:own")
	his := p.Card(t, simulator.BobDM, "hub_write")
	p.Clicks(t, simulator.Bob, his, "card:consent:allow", "mine")
	p.Said(t, simulator.General, root, "filed for Bob")
	if got := p.spent(); !slices.Equal(got, []string{simulator.Alice + "/hub_write/hers", simulator.Bob + "/hub_write/mine"}) {
		t.Errorf("spent: %v", got)
	}
}

// The card is answered by nobody but the one who is asked, and it outlives the
// process that asked: another one goes on, for the same person.
func TestS1_ACardOutlivesItsProcessAndIsNobodyElses(t *testing.T) {
	p := newPlace(t)
	first := p.StartOther(t, apptest.Fast)
	root := p.conflict(write("hers", "hers"))
	card := p.Card(t, simulator.AliceDM, "hub_write")
	p.ClicksUnseen(t, simulator.Carol, card, "card:consent:refuse")
	p.Until(t, "Carol is told that it is not hers", func() bool {
		return len(p.Texts(simulator.CarolDM, "")) > 0 && strings.Contains(p.Texts(simulator.CarolDM, "")[0], "not yours")
	})
	first.Kill()
	p.StartOther(t, apptest.Fast)
	p.Model.Then(scripted.Answer("filed hers"))
	p.Clicks(t, simulator.Alice, card, "card:consent:allow", "hers")
	p.Said(t, simulator.General, root, "filed hers")
	if got := p.spent(); !slices.Equal(got, []string{simulator.Alice + "/hub_write/hers"}) {
		t.Errorf("spent: %v", got)
	}
}

// A stop voids the card, which says so; a click that comes later spends nothing.
func TestS1_AStopVoidsTheCard(t *testing.T) {
	p := newPlace(t)
	p.StartOther(t, apptest.Fast)
	root := p.conflict(write("hers", "hers"))
	card := p.Card(t, simulator.AliceDM, "hub_write")
	p.Slack.Say(simulator.Alice, simulator.General, "stop", simulator.SayOptions{Thread: root})
	p.Becomes(t, card, "topped")
	if _, err := p.Slack.Click(simulator.Alice, simulator.AliceDM, card.TS, "card:consent:allow", "hers"); err == nil {
		t.Error("the card still has its buttons")
	}
	p.Answered(t, simulator.General, root, "nothing yet", "I have asked <@"+simulator.Alice+"> in a direct message before I go on.", "Stopped.")
	if got := p.spent(); len(got) > 0 {
		t.Errorf("spent: %v", got)
	}
}

// A stop by reaction on the card in her direct messages, which are elsewhere in the
// store than the thread, stops the turn; what was asked is on record as refused.
func TestS1_AStopOnTheCardStopsItsTurn(t *testing.T) {
	p := newPlace(t)
	p.StartOther(t, apptest.Fast)
	root := p.conflict(write("hers", "hers"))
	card := p.Card(t, simulator.AliceDM, "hub_write")
	for deadline := time.Now().Add(apptest.Patience); !strings.Contains(p.Reeve(t, "outbox"), "everything is posted"); { // each look is a process: no pause is needed
		if time.Now().After(deadline) {
			t.Fatal("the card does not leave the outbox")
		}
	}
	p.Slack.React(simulator.Alice, simulator.AliceDM, card.TS, "octagonal_sign")
	p.Becomes(t, card, "topped")
	p.Answered(t, simulator.General, root, "nothing yet", "I have asked <@"+simulator.Alice+"> in a direct message before I go on.", "Stopped.")
	if got := p.Reeve(t, "audit", "--json", "--kind", "consent"); strings.Count(got, "hub_write") != 1 || !strings.Contains(got, `"rule": "stopped"`) {
		t.Errorf("on record: %s", got)
	}
	if got := p.spent(); len(got) > 0 {
		t.Errorf("spent: %v", got)
	}
}
