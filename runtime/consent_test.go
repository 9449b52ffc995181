package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/agent"
	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// consenting is a play with the real loop and gate, a model that the test
// answers for, and one tool that writes with the actor's account.
type consenting struct {
	*play
	asks chan modelAsk
	mu   sync.Mutex
	made []string // "ACTOR ARGUMENTS" of each call that was made
	kept []plugins.AuditRecord
}

// modelAsk is one request to the model.
type modelAsk struct {
	prompt string
	reply  chan agent.Reply
}

func newConsenting(t *testing.T) *consenting {
	return &consenting{play: newPlay(t), asks: make(chan modelAsk, 100)}
}

// Complete implements agent.Model.
func (c *consenting) Complete(ctx context.Context, req agent.Request) (agent.Reply, error) {
	var prompt strings.Builder
	for _, m := range req.Messages {
		prompt.WriteString(m.Content + "\n")
	}
	ask := modelAsk{prompt.String(), make(chan agent.Reply, 1)}
	c.asks <- ask
	select {
	case r := <-ask.reply:
		r.Tokens = 1
		return r, nil
	case <-ctx.Done():
		return agent.Reply{}, ctx.Err()
	}
}

// asked is the next request to the model.
func (c *consenting) asked() modelAsk {
	c.t.Helper()
	select {
	case a := <-c.asks:
		return a
	case <-time.After(bound):
		c.t.Fatal("the model is not asked")
		return modelAsk{}
	}
}

func (a modelAsk) says(text string) { a.reply <- agent.Reply{Text: text} }

// writes has the model ask for a write with each text.
func (a modelAsk) writes(texts ...string) {
	var calls []chat.ToolCall
	for i, text := range texts {
		raw, _ := json.Marshal(map[string]string{"text": text})
		calls = append(calls, chat.ToolCall{ID: fmt.Sprintf("%s_%d", text, i), Tool: "hub_write", Arguments: string(raw)})
	}
	a.reply <- agent.Reply{Calls: calls}
}

func (c *consenting) replica(change func(*runtime.Options)) *replica {
	g := gate.New(gate.Options{Audit: func(_ context.Context, r plugins.AuditRecord) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !slices.ContainsFunc(c.kept, func(k plugins.AuditRecord) bool { return k.Key == r.Key }) {
			c.kept = append(c.kept, r)
		}
		return nil
	}})
	type in struct {
		Text string `json:"text"`
	}
	write := plugins.MustTool(plugins.Tool{Name: "hub_write", Description: "Writes.", Effect: plugins.Once, Access: plugins.Write, Provider: "hub"},
		func(_ context.Context, call plugins.Call, in in) (plugins.Result, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.made = append(c.made, string(call.Actor.User)+" "+in.Text)
			return plugins.Result{Text: "written"}, nil
		})
	if err := g.Set("hub", []plugins.Tool{write}, false); err != nil {
		c.t.Fatal(err)
	}
	r := c.play.replica(func(o *runtime.Options) {
		o.Agent, o.Decided = agent.NewLoop(agent.Options{Model: c, Tools: g, StopGrace: time.Second}), g.Decided
		if change != nil {
			change(o)
		}
	})
	if err := g.SetOwn([]plugins.Tool{r.HandBackTool()}); err != nil {
		c.t.Fatal(err)
	}
	return r
}

// records are those that are kept, in order of their words.
func (c *consenting) records() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, k := range c.kept {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", k.Kind, k.Tool, k.Decision, k.Rule, k.By.User)))
	}
	slices.Sort(list)
	return list
}

func (c *consenting) calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.made)
}

// card waits for a card of a kind to a person; ended says how it must have ended,
// "" for one that can be answered.
func (c *consenting) card(who chat.Actor, kind chat.CardKind, ended chat.How) chat.Part {
	c.t.Helper()
	var found chat.Part
	c.slack.until(c.t, fmt.Sprintf("a %s card to %s that has ended as %q", kind, who.Key(), ended), func() bool {
		for _, p := range c.slack.posts {
			if p.Card == nil || p.Card.Kind != kind || p.To.DM != who.User {
				continue
			}
			how := chat.How("")
			if p.Card.Ending != nil {
				how = p.Card.Ending.How
			}
			if how == ended {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

// conflict begins a turn of Alice's into which Bob has steered, and whose model
// has asked for writes with these texts. It answers Alice's card.
func (c *consenting) conflict(r *replica, texts ...string) chat.Part {
	c.t.Helper()
	c.wants(c.deliver(r, c.says(alice, "file it")), chat.Start)
	first := c.asked()
	forced := c.says(bob, "file mine as well")
	forced.Forced = true
	c.wants(c.deliver(r, forced), chat.SteerContext)
	first.says("filed nothing yet")
	c.asked().writes(texts...)
	return c.card(alice, chat.ConsentCard, "")
}

func (c *consenting) answer(r *replica, card chat.Part, by chat.Actor, allowed ...string) chat.Answered {
	c.t.Helper()
	got, err := r.Answer(c.t.Context(), card.Card.Conversation, card.Card.Turn, card.Card.Wait, by, allowed, len(allowed) == 0)
	if err != nil {
		c.t.Fatal(err)
	}
	return got
}

// A call in a conflict waits for the actor's own click, on whichever replica, and
// spends his rights for that very call and once.
func TestS1_OnlyTheActorsClickSpendsHisRights(t *testing.T) {
	c := newConsenting(t)
	one, two := c.replica(nil), c.replica(nil)
	card := c.conflict(one, "a", "b")
	if got := len(card.Card.Asking.Questions); got != 2 || card.Card.Contributors[0] != bob {
		t.Fatalf("the card asks about %d calls, of %v", got, card.Card.Contributors)
	}
	offer := c.card(bob, chat.OfferCard, "")
	if len(c.calls()) > 0 {
		t.Fatalf("made before anybody answered: %v", c.calls())
	}
	c.slack.posted(t, "I have asked <@UALICE> in a direct message before I go on.")
	if got := c.answer(two, card, bob, "a_0", "b_1"); got != chat.AnswerNotYours {
		t.Errorf("Bob's click is %s", got)
	}
	if got := c.answer(two, card, alice, "b_1"); got != chat.AnswerRecorded {
		t.Fatalf("Alice's click is %s", got)
	}
	if got := c.answer(one, card, alice, "b_1"); got != chat.AnswerRecorded {
		t.Errorf("the same click once more is %s", got)
	}
	for _, r := range []*replica{one, two} {
		if got := c.answer(r, card, alice, "a_0", "b_1"); got != chat.AnswerOver {
			t.Errorf("her second click is %s", got)
		}
	}
	after := c.asked()
	if got := c.calls(); !slices.Equal(got, []string{"UALICE b"}) {
		t.Errorf("made: %v", got)
	}
	if !strings.Contains(after.prompt, "has refused this call") || !strings.Contains(after.prompt, "written") {
		t.Errorf("the model is told %q", after.prompt)
	}
	record := c.card(alice, chat.ConsentCard, chat.ByAnswer)
	if record.Edits != card.ID || *record.Card.Ending.By != alice || !slices.Equal(record.Card.Ending.Allowed, []string{"b_1"}) {
		t.Errorf("the record is %+v of %s", record.Card.Ending, record.Edits)
	}
	want := []string{"call hub_write allowed call_allowed", "consent hub_write allowed answered UALICE", "consent hub_write refused answered UALICE"}
	if got := c.records(); !slices.Equal(got, want) {
		t.Errorf("kept: %q", got)
	}
	after.says("done")

	// Bob's message becomes a turn of his own, which acts for him.
	got, err := two.OwnTurn(t.Context(), offer.Card.Conversation, offer.Card.Turn, offer.Card.Messages, alice)
	if err != nil || got != chat.OwnNotYours {
		t.Errorf("Alice's click on Bob's offer: %s, %v", got, err)
	}
	if got, err := two.OwnTurn(t.Context(), offer.Card.Conversation, offer.Card.Turn, offer.Card.Messages, bob); err != nil || got != chat.OwnHandedBack {
		t.Fatalf("Bob's click on his offer: %s, %v", got, err)
	}
	if got, err := one.OwnTurn(t.Context(), offer.Card.Conversation, offer.Card.Turn, offer.Card.Messages, bob); err != nil || got != chat.OwnHandedBack {
		t.Errorf("the same click once more: %s, %v", got, err)
	}
	if got := c.records(); !slices.Contains(got, "consent hand_back allowed handed_back UBOB") || len(got) != len(want)+1 {
		t.Errorf("of Bob's wish is kept: %q", got)
	}
	c.asked().writes("c")
	his := c.card(bob, chat.ConsentCard, "") // Alice's turn is foreign text in his
	if got := c.answer(one, his, alice, "c_0"); got != chat.AnswerNotYours {
		t.Errorf("Alice's click in Bob's turn is %s", got)
	}
	if got := c.answer(one, his, bob, "c_0"); got != chat.AnswerRecorded {
		t.Fatalf("Bob's click in his turn is %s", got)
	}
	c.asked().says("done for Bob")
	if got := c.calls(); !slices.Equal(got, []string{"UALICE b", "UBOB c"}) {
		t.Errorf("made: %v", got)
	}
}

// Whatever ends the wait but a click spends nothing, closes the card with the
// reason, and, but for a stop, lets the turn go on.
func TestS1_WaitsThatEndOtherwiseSpendNothing(t *testing.T) {
	ends := map[chat.How]func(*consenting, *replica){
		chat.ByStop: func(c *consenting, r *replica) {
			stop := c.says(alice, "stop")
			stop.Stop = true
			c.wants(c.deliver(r, stop), chat.Stop)
		},
		chat.ByMessage: func(c *consenting, r *replica) {
			forced := c.says(alice, "rather not")
			forced.Forced = true
			c.wants(c.deliver(r, forced), chat.EndWait)
		},
		chat.ByTime: func(*consenting, *replica) {},
	}
	for how, end := range ends {
		t.Run(string(how), func(t *testing.T) {
			c := newConsenting(t)
			r := c.replica(func(o *runtime.Options) {
				if how == chat.ByTime {
					o.ConsentTimeout = 50 * time.Millisecond
				}
			})
			card := c.conflict(r, "a")
			end(c, r)
			record := c.card(alice, chat.ConsentCard, how)
			if record.Edits != card.ID || record.Card.Ending.Time.IsZero() {
				t.Errorf("the record is %+v of %s", record.Card.Ending, record.Edits)
			}
			if got := c.answer(r, card, alice, "a_0"); got != chat.AnswerOver {
				t.Errorf("a late click is %s", got)
			}
			if how == chat.ByStop {
				c.slack.posted(t, mailbox.StoppedText)
			} else {
				after := c.asked()
				if !strings.Contains(after.prompt, "Not approved") {
					t.Errorf("the model is told %q", after.prompt)
				}
				after.says("then not")
				c.slack.posted(t, "then not")
			}
			if got := c.calls(); len(got) > 0 {
				t.Errorf("made: %v", got)
			}
		})
	}
}

// A process that ends between the click and the call loses neither.
func TestS1_AClickOutlivesItsProcess(t *testing.T) {
	c := newConsenting(t)
	one := c.replica(nil)
	card := c.conflict(one, "a")
	// Somebody else's turn runs, so that the click starts nothing here.
	c.wants(c.deliver(one, c.says(carol, "and I?")), chat.Start)
	hers := c.asked()
	if got := c.answer(one, card, alice, "a_0"); got != chat.AnswerRecorded {
		t.Fatalf("the click is %s", got)
	}
	if len(c.calls()) > 0 {
		t.Fatal("it was made beside another's turn")
	}
	hers.says("and you")
	c.replica(nil)
	one.end()
	c.asked().says("done")
	if got := c.calls(); !slices.Equal(got, []string{"UALICE a"}) {
		t.Errorf("made: %v", got)
	}
}

// While Slack does not say who has steered, the turn waits for its actor all the
// same, and the model is not asked again for it; the steer becomes its author's own
// request. One that turns out to be by who may not instruct holds up nothing.
func TestS1_ATurnAsksWhileAnAuthorIsUnknown(t *testing.T) {
	steers := func(c *consenting, who chat.Actor, text string) chat.Message {
		m := c.says(who, text)
		m.Forced, m.Standing = true, chat.Unchecked
		return m
	}
	for name, known := range map[string]*runtime.Facts{
		"unknown": nil, "may not": {Standing: chat.ContextOnly, Why: "a guest account"}, "may": {Standing: chat.MayInstruct},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsenting(t)
			r := c.replica(nil)
			c.wants(c.deliver(r, c.says(alice, "file it")), chat.Start)
			first := c.asked()
			c.wants(c.deliver(r, steers(c, bob, "file mine as well")), chat.SteerContext)
			first.says("nothing yet")
			second := c.asked()
			c.slack.note(func() {
				c.slack.down[carol] = known == nil
				if known != nil {
					c.slack.facts[carol] = *known
				}
			})
			c.wants(c.deliver(r, steers(c, carol, "and I?")), chat.SteerContext)
			second.writes("a")
			if name == "may" {
				if got := c.asked(); !strings.Contains(got.prompt, "and I?") {
					t.Errorf("the model is told %q", got.prompt)
				}
				return
			}
			card := c.card(alice, chat.ConsentCard, "")
			select {
			case got := <-c.asks:
				t.Fatalf("the model is asked again: %q", got.prompt)
			default:
			}
			if known == nil {
				c.slack.note(func() { c.slack.down[carol] = false })
				hers := c.asked()
				if !strings.Contains(hers.prompt, "and I?") {
					t.Errorf("Carol's own turn has %q", hers.prompt)
				}
				hers.says("and you")
			}
			if got := c.answer(r, card, alice, "a_0"); got != chat.AnswerRecorded {
				t.Fatalf("the click is %s", got)
			}
			c.asked().says("done")
			if got := c.calls(); !slices.Equal(got, []string{"UALICE a"}) {
				t.Errorf("made: %v", got)
			}
		})
	}
}
