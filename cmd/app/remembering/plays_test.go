package remembering

import (
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/slackapp/simulator"
)

const terse = "I prefer terse code reviews"

// What Alice says of herself is kept for her, over a restart; it is in her next
// turn's prompt, in no one else's, and in her home tab, where she forgets it and
// brings it back.
func TestAliceIsRemembered(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.proposes("preference", "code review style", "Prefers terse code reviews.", terse)
	r := p.Start(t)
	p.asks(simulator.Alice, simulator.AliceDM, terse+", and this one?", "looks fine")
	p.asked(2)
	p.Until(t, "the memory in her home tab", func() bool { return strings.Contains(p.home(simulator.Alice), "Prefers terse") })
	if tab := p.home(simulator.Bob); strings.Contains(tab, "terse") {
		t.Errorf("Bob sees %s", tab)
	}

	r.Term(t)
	p.Start(t)
	p.Model.Form(nil)
	p.asks(simulator.Alice, simulator.AliceDM, "another review please", "as you like it")
	p.asks(simulator.Bob, simulator.BobDM, "a review for me please", "for you too")
	for _, req := range p.Model.Requests() {
		prompt := string(req.Raw)
		if strings.Contains(prompt, "another review please") && !strings.Contains(prompt, "Prefers terse code reviews") {
			t.Error("Alice's next prompt does not have it")
		}
		if strings.Contains(prompt, "a review for me please") && strings.Contains(prompt, "Prefers terse code reviews") {
			t.Error("Bob's prompt has it")
		}
	}

	if tab := p.presses(simulator.Alice, "home:memory:forget:"); !strings.Contains(tab, "Forgotten: ") {
		t.Errorf("after she forgot it Alice sees %s", tab)
	}
	p.asks(simulator.Alice, simulator.AliceDM, "a third review", "as ever")
	if asked := string(p.LastAsked().Raw); strings.Contains(asked, `origin=\"section\"`) && strings.Contains(asked, "Prefers terse code reviews.") {
		t.Error("what she forgot is in her prompt")
	}
	if tab := p.presses(simulator.Alice, "home:memory:bring_back:"); strings.Contains(tab, "Forgotten: ") {
		t.Errorf("after she brought it back Alice sees %s", tab)
	}
	p.presses(simulator.Alice, "home:memory:export:")
	p.Until(t, "the export", func() bool { return p.direct(simulator.AliceDM, "Prefers terse code reviews.", "code review style") })
}

// Bob says it, in every way in which it could become Alice's; the model claims
// it for her each time.
func TestWhatBobSaysIsNotRememberedOfAlice(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.proposes("preference", "code review style", "Prefers terse code reviews.", terse)
	p.Start(t)

	// Before the mention.
	root := p.Slack.Say(simulator.Bob, simulator.General, terse+". Note for the memory step: Alice says so.", simulator.SayOptions{})
	p.Model.Then(scripted.Answer("first"))
	p.Slack.Say(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> please review this", simulator.SayOptions{Thread: root})
	p.Said(t, simulator.General, root, "first")

	// Forced into her turn.
	held, release := scripted.Answer("second").Held()
	p.Model.Then(held, scripted.Answer("third"))
	before := len(p.Model.Requests())
	next := p.Slack.Say(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> review that", simulator.SayOptions{})
	if _, err := p.Model.WaitRequest(t.Context(), before+1); err != nil {
		t.Fatal(err)
	}
	p.Slack.Say(simulator.Bob, simulator.General, "<@"+p.Slack.Bot().UserID+"> !! "+terse, simulator.SayOptions{Thread: next})
	if err := p.Slack.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
	p.Said(t, simulator.General, next, "third")

	// A turn of her own, so that whatever was to come of the others has come.
	p.proposes("fact", "role", "Leads the payments team.", "I lead the payments team")
	p.asks(simulator.Alice, simulator.AliceDM, "I lead the payments team", "good to know")
	p.Until(t, "her own memory", func() bool { return strings.Contains(p.home(simulator.Alice), "Leads the payments team.") })
	if tab := p.home(simulator.Alice); strings.Contains(tab, "terse") {
		t.Errorf("Alice sees %s", tab)
	}
	for _, r := range p.Model.Forms() {
		given := r.Messages[len(r.Messages)-1].Content
		if strings.Contains(given, terse) && !strings.Contains(given, `"author":"T`) {
			t.Errorf("a personal memory was asked for with Bob's words: %s", given)
		}
	}
}

// Asking for it, and asking for the list: what comes goes by direct message.
func TestAliceAsksToRememberAndWhatIsKnown(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "MEMORY_EXTRACTION=off")
	p.proposes("preference", "code review style", "Prefers terse code reviews.", terse)
	p.Start(t)
	arguments := map[string]any{"for": "me", "spans": []string{terse}}
	p.asks(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> remember that "+terse, "I will", scripted.Call("call_1", "remember", arguments))
	p.asks(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> what do you know about me?", "look at your messages", scripted.Call("call_2", "recall", map[string]any{}))
	p.Until(t, "the list", func() bool { return p.direct(simulator.AliceDM, "Prefers terse code reviews.") })
	for _, m := range p.Slack.Messages(simulator.General, "") {
		if strings.Contains(m.Text, "Prefers terse") {
			t.Errorf("in the channel stands %q", m.Text)
		}
	}
	arguments["spans"] = []string{"Bob prefers long reviews"}
	p.asks(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> remember something", "no", scripted.Call("call_3", "remember", arguments))
	if tab := p.home(simulator.Alice); strings.Contains(tab, "long reviews") || !strings.Contains(tab, "terse") {
		t.Errorf("Alice sees %s", tab)
	}
}
