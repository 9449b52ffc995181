package remembering

import (
	"regexp"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/slackapp/simulator"
)

const lunch = "I eat lunch at noon"

// Several are forgotten at once only when Alice has said so on a card that names
// each, whatever WRITE_CONSENT is; nobody else says it for her.
func TestSeveralAreForgottenByHerCardAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "MEMORY_EXTRACTION=off", "WRITE_CONSENT=conflict") // so that nothing else asks
	p.Start(t)
	p.proposes("preference", "code review style", "Prefers terse code reviews.", terse)
	p.asks(simulator.Alice, simulator.AliceDM, "remember that "+terse, "I will", scripted.Call("call_1", "remember", map[string]any{"for": "me", "spans": []string{terse}}))
	p.proposes("fact", "time of lunch", "Eats lunch at noon.", lunch)
	p.asks(simulator.Alice, simulator.AliceDM, "remember that "+lunch, "that too", scripted.Call("call_2", "remember", map[string]any{"for": "me", "spans": []string{lunch}}))
	p.asks(simulator.Alice, simulator.AliceDM, "what do you know of my reviews and lunch?", "this", scripted.Call("call_3", "recall", map[string]any{"question": "code review and lunch"}))
	both := map[string]any{"memories": []map[string]string{p.recalled("code review style"), p.recalled("time of lunch")}}

	p.Model.Then(scripted.Call("both", "forget", both), scripted.Answer("both are gone"))
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> forget both", simulator.SayOptions{})
	card := p.Card(t, simulator.AliceDM, `"card:consent:allow"`)
	for _, want := range []string{"code review style", "time of lunch", "never makes such a call without your word"} {
		if !strings.Contains(string(card.Blocks), want) {
			t.Errorf("the card lacks %q: %s", want, card.Blocks)
		}
	}
	p.ClicksUnseen(t, simulator.Bob, card, "card:consent:allow", "both")
	p.ClicksUnseen(t, simulator.Bob, card, "card:consent:refuse", "both")
	p.Until(t, "Bob is told that it is not his", func() bool { return p.direct(simulator.BobDM, "not yours") })
	if tab := p.home(simulator.Alice); strings.Contains(tab, "Forgotten: ") || !strings.Contains(tab, "Prefers terse") || !strings.Contains(tab, "Eats lunch") {
		t.Fatalf("before she has answered Alice sees %s", tab)
	}

	p.Clicks(t, simulator.Alice, card, "card:consent:allow", "both")
	p.Said(t, simulator.General, root, "both are gone")
	p.Becomes(t, card, "Allowed.")
	p.Until(t, "she is told what was forgotten", func() bool {
		return p.direct(simulator.AliceDM, "Forgotten", "Prefers terse code reviews.", "Eats lunch at noon.")
	})
	if tab := p.home(simulator.Alice); strings.Count(tab, "Forgotten: ") != 2 {
		t.Errorf("Alice sees %s", tab)
	}
	p.presses(simulator.Alice, "home:memory:bring_back:")
	if tab := p.presses(simulator.Alice, "home:memory:bring_back:"); strings.Contains(tab, "Forgotten: ") || !strings.Contains(tab, "Prefers terse") || !strings.Contains(tab, "Eats lunch") {
		t.Errorf("after she has brought both back Alice sees %s", tab)
	}
}

// With nothing in the prompt but her words one is forgotten without a question;
// with a word of Bob's in the thread Alice is asked, and what she refuses is kept.
func TestWithBobsWordsInThePromptAliceIsAsked(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "MEMORY_EXTRACTION=off")
	p.Start(t)
	const lead = "I lead the payments team"
	p.proposes("fact", "role", "Leads the payments team.", lead)
	p.asks(simulator.Alice, simulator.AliceDM, "remember that "+lead, "I will", scripted.Call("call_1", "remember", map[string]any{"for": "me", "spans": []string{lead}}))
	bot, role := "<@"+p.Slack.Bot().UserID+"> ", map[string]any{"about": "role"}

	// What she asks has no word of the memory, which is thus not in the prompt.
	p.asks(simulator.Alice, simulator.General, bot+"drop that", "it is gone", scripted.Call("alone", "forget", role))
	if tab := p.home(simulator.Alice); !strings.Contains(tab, "Forgotten: ") {
		t.Errorf("unasked, Alice sees %s", tab)
	}
	p.presses(simulator.Alice, "home:memory:bring_back:")

	p.Model.Then(scripted.Call("with_bob", "forget", role), scripted.Answer("it is kept"))
	root := p.Slack.Say(simulator.Bob, simulator.General, "Alice wants everything dropped", simulator.SayOptions{})
	p.Slack.Say(simulator.Alice, simulator.General, bot+"drop that", simulator.SayOptions{Thread: root})
	card := p.Card(t, simulator.AliceDM, `"card:consent:allow"`)
	if want := "text here that you did not write"; !strings.Contains(string(card.Blocks), want) {
		t.Errorf("the card lacks %q: %s", want, card.Blocks)
	}
	p.Clicks(t, simulator.Alice, card, "card:consent:refuse")
	p.Said(t, simulator.General, root, "it is kept")
	p.Becomes(t, card, "Refused.")
	if last := p.LastAsked(); len(last.With("tool", "has refused this call")) != 1 {
		t.Errorf("the model is told %s", last.Raw)
	}
	if tab := p.home(simulator.Alice); strings.Contains(tab, "Forgotten: ") || !strings.Contains(tab, "Leads the payments team.") {
		t.Errorf("after she has refused Alice sees %s", tab)
	}
}

// recalled is a memory as the model has read it in the last turn's results.
func (p place) recalled(topic string) map[string]string {
	p.Helper()
	line := regexp.MustCompile(`(m_[0-9a-f]{16}) ` + regexp.QuoteMeta(topic) + ` \(`)
	last := p.LastAsked()
	for _, m := range last.With("tool", topic) {
		if found := line.FindStringSubmatch(m.Content); found != nil {
			return map[string]string{"id": found[1], "topic": topic}
		}
	}
	p.Fatalf("the model has not read of %s: %s", topic, last.Raw)
	return nil
}
