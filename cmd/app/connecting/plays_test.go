package connecting

import (
	"slices"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

func whoami(id string) scripted.Step {
	return scripted.Call(id, "acme_whoami", map[string]string{})
}

func (p place) asks(who, text string) (root string) {
	return p.Slack.Say(who, simulator.General, "<@"+p.Slack.Bot().UserID+"> "+text, simulator.SayOptions{})
}

// Alice asks for what needs an account. She gets a link, connects the account,
// proves that it was her browser, and her turn goes on, in another process than
// it began in. The next turn needs no link, until she disconnects it.
func TestATurnWaitsForAnAccountAndGoesOn(t *testing.T) {
	p := newPlace(t, store(t))
	first := p.StartOther(t, apptest.Fast)
	p.Model.Then(whoami("c1"), scripted.Answer("you are alice"))
	root := p.asks(simulator.Alice, "who am I at Acme?")
	card := p.Card(t, simulator.AliceDM, "/connect/")
	if got := p.provider.read(); len(got) > 0 {
		t.Fatalf("read before an account was connected: %v", got)
	}
	if thread := strings.Join(p.Texts(simulator.General, root), "\n"); strings.Contains(thread, "/connect/") {
		t.Errorf("the link stands in the thread: %s", thread)
	}
	first.Kill()
	p.StartOther(t, apptest.Fast)

	page := p.browser(p.link(card), "alice")
	code := codeForm.FindStringSubmatch(page)
	if code == nil || !strings.Contains(page, "alice of Acme") || !strings.Contains(page, "in the workspace <strong>Home</strong>") {
		t.Fatalf("the page: %s", page)
	}
	if answer := p.EntersCode(t, simulator.Alice, card, "WRONGONE"); !strings.Contains(answer, "errors") {
		t.Errorf("a wrong code is answered %s", answer)
	}
	if answer := p.EntersCode(t, simulator.Alice, card, code[1]); strings.Contains(answer, "errors") {
		t.Errorf("the code is answered %s", answer)
	}
	p.Said(t, simulator.General, root, "you are alice")
	if got := p.provider.read(); !slices.Equal(got, []string{"alice"}) {
		t.Errorf("read with %v", got)
	}
	connected := p.Card(t, simulator.AliceDM, "card:connected:disconnect")
	if !strings.Contains(string(connected.Blocks), "alice of Acme") {
		t.Errorf("told: %s", connected.Blocks)
	}

	p.Model.Then(whoami("c2"), scripted.Answer("still alice"))
	again := p.asks(simulator.Alice, "and now?")
	p.Said(t, simulator.General, again, "still alice")

	p.Clicks(t, simulator.Alice, connected, "card:connected:disconnect")
	p.Until(t, "the token is revoked", func() bool {
		p.provider.mu.Lock()
		defer p.provider.mu.Unlock()
		return p.provider.revoked == 1 && len(p.provider.tokens) == 0
	})
	p.Model.Then(whoami("c3"), scripted.Answer("never"))
	p.asks(simulator.Alice, "and after that?")
	p.linkAfter(card.TS)
	if got := p.provider.read(); len(got) != 2 {
		t.Errorf("read with %v", got)
	}
}

// Bob has Alice open his link: what she allows never becomes his, whatever he
// enters.
func TestAForwardedLinkConnectsNothing(t *testing.T) {
	p := newPlace(t, store(t))
	p.StartOther(t, apptest.Fast)
	p.Model.Then(whoami("c1"), scripted.Answer("done without"))
	root := p.asks(simulator.Bob, "who am I at Acme?")
	card := p.Card(t, simulator.BobDM, "/connect/")
	page := p.browser(p.link(card), "alice")
	if !strings.Contains(page, "Bob") || codeForm.FindString(page) == "" {
		t.Fatalf("the page does not say that it is Bob's: %s", page)
	}
	for _, guess := range []string{"0000-0000", "AAAAAAAA", "", "ZZZZZZZZ", "11111111", "22222222"} {
		p.EntersCode(t, simulator.Bob, card, guess)
	}
	p.Until(t, "Alice's token is revoked", func() bool {
		p.provider.mu.Lock()
		defer p.provider.mu.Unlock()
		return len(p.provider.tokens) == 0
	})
	// Her code is good for nothing any more, told or not.
	p.EntersCode(t, simulator.Bob, card, codeForm.FindStringSubmatch(page)[1])
	p.Clicks(t, simulator.Bob, card, "card:connect:refuse")
	p.Said(t, simulator.General, root, "done without")
	if got := p.provider.read(); len(got) > 0 {
		t.Errorf("read with %v", got)
	}
}
