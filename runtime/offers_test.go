package runtime_test

import (
	"encoding/json"
	"slices"
	"testing"

	"reeve/agent"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// handsBack is a call with which the model hands a message back.
func handsBack(id string, m chat.Message) chat.ToolCall {
	raw, _ := json.Marshal(map[string]string{"message": string(m.ID.Channel) + ":" + string(m.ID.TS)})
	return chat.ToolCall{ID: id, Tool: plugins.HandBackTool, Arguments: string(raw)}
}

// What a turn hands back itself is not left on a card with a button: that is
// changed in the step that writes so, and a click that is under way is told.
func TestOfferIsOverWhenItsTurnHandsTheMessageBack(t *testing.T) {
	c := newConsenting(t)
	one, two := c.replica(nil), c.replica(nil)
	c.wants(c.deliver(one, c.says(alice, "file it")), chat.Start)
	first := c.asked()
	var his []chat.Message
	for _, text := range []string{"mine as well", "and this"} {
		m := c.says(bob, text)
		m.Forced = true
		c.wants(c.deliver(one, m), chat.SteerContext)
		his = append(his, m)
	}
	first.says("nothing yet")
	c.asked().writes("a")
	card, offer := c.card(alice, chat.ConsentCard, ""), c.card(bob, chat.OfferCard, "")
	if want := []chat.TS{his[0].ID.TS, his[1].ID.TS}; !slices.Equal(offer.Card.Messages, want) {
		t.Fatalf("the offer is about %v, want %v", offer.Card.Messages, want)
	}
	if got := c.answer(two, card, alice); got != chat.AnswerRecorded {
		t.Fatalf("the click is %s", got)
	}
	c.asked().reply <- agent.Reply{Calls: []chat.ToolCall{handsBack("h1", his[0])}}
	after := c.asked()
	c.slack.mu.Lock()
	if slices.ContainsFunc(c.slack.posts, func(p chat.Part) bool { return p.Edits == offer.ID }) {
		t.Error("the offer is over, and one of its messages is not handed back")
	}
	c.slack.mu.Unlock()
	after.reply <- agent.Reply{Calls: []chat.ToolCall{handsBack("h2", his[1])}}
	c.asked().says("done")
	record := c.card(bob, chat.OfferCard, chat.ByHandBack)
	if record.Edits != offer.ID || record.Card.Ending.Time.IsZero() {
		t.Errorf("the record is %+v of %s, want %s", record.Card.Ending, record.Edits, offer.ID)
	}
	for _, r := range []*replica{one, two} {
		if got, err := r.OwnTurn(t.Context(), offer.Card.Conversation, offer.Turn, offer.Card.Messages, bob); got != chat.OwnAlready || err != nil {
			t.Errorf("a late click is %s, %v", got, err)
		}
	}
}

// What is handed back before the card is made, or beside it, is not offered.
func TestNothingIsOfferedThatIsHandedBack(t *testing.T) {
	for _, beside := range []bool{false, true} {
		c := newConsenting(t)
		r := c.replica(nil)
		c.wants(c.deliver(r, c.says(alice, "file it")), chat.Start)
		first := c.asked()
		m := c.says(bob, "mine as well")
		m.Forced = true
		c.wants(c.deliver(r, m), chat.SteerContext)
		first.says("nothing yet")
		back := handsBack("h1", m)
		ask := c.asked()
		if !beside {
			ask.reply <- agent.Reply{Calls: []chat.ToolCall{back}}
			c.asked().writes("a")
		} else {
			ask.reply <- agent.Reply{Calls: []chat.ToolCall{back, {ID: "w1", Tool: "hub_write", Arguments: `{"text":"a"}`}}}
		}
		c.card(alice, chat.ConsentCard, "")
		c.slack.mu.Lock()
		if slices.ContainsFunc(c.slack.posts, func(p chat.Part) bool { return p.Card != nil && p.Card.Kind == chat.OfferCard }) {
			t.Errorf("beside the card %v: what was handed back is offered", beside)
		}
		c.slack.mu.Unlock()
	}
}
