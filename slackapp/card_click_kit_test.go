package slackapp_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// decider does what buttons of cards say, as the test wants.
type decider struct {
	mu       sync.Mutex
	calls    []string
	answer   chat.Answered
	own      chat.Owned
	err      error
	enter    func(flow, code string) (string, bool, error)
	entered  []string
	renewed  *chat.Card // what NewCode answers, or a sentence
	sentence string
	gate     chan struct{} // when set, Answer waits for it
	once     map[string]bool
	account  string // which is to be disconnected
}

func (d *decider) Answer(_ context.Context, in chat.Conversation, turn chat.TurnID, wait string, by chat.Actor, allowed []string, refuse bool) (chat.Answered, error) {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, fmt.Sprintf("answer %s %s %s %s %v %v", in.Key(), turn.Short(), wait, by.User, allowed, refuse))
	if d.once != nil {
		if d.once[wait] {
			return chat.AnswerOver, d.err
		}
		d.once[wait] = true
	}
	return d.answer, d.err
}

func (d *decider) OwnTurn(_ context.Context, in chat.Conversation, turn chat.TurnID, messages []chat.TS, by chat.Actor) (chat.Owned, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, fmt.Sprintf("own %s %s %v %s", in.Key(), turn.Short(), messages, by.User))
	return d.own, d.err
}

func (d *decider) Enter(_ context.Context, flow string, by chat.Actor, code string) (string, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entered = append(d.entered, flow+" "+string(by.User)+" "+code)
	return d.enter(flow, code)
}

func (d *decider) NewCode(_ context.Context, flow string, by chat.Actor) (*chat.Card, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, fmt.Sprintf("renew %s %s", by.User, flow))
	return d.renewed, d.sentence, d.err
}

func (d *decider) Refuse(context.Context, string, chat.Actor) (string, error) { return "", d.err }

func (d *decider) DisconnectAccount(_ context.Context, by chat.Actor, provider, account string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.account = account
	d.calls = append(d.calls, fmt.Sprintf("disconnect %s %s", by.User, provider))
	return "Disconnected.", d.err
}

func (d *decider) did() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// table is a simulated Slack in which the bot has posted one card, and what
// does the clicks on it.
type table struct {
	*testing.T
	*decider
	bench *bench
	sim   *simulator.Server
	cards *slackapp.Cards
	ts    string
}

// lay posts a card where its person sees it.
func lay(t *testing.T, c chat.Card, channel string) *table {
	t.Helper()
	b := newBench(t, nil)
	part := b.cardPart(1, c)
	part.To = chat.Destination{Channel: chat.ChannelID(channel)}
	b.send(false, part)
	d := &decider{answer: chat.AnswerRecorded, own: chat.OwnHandedBack}
	return &table{T: t, decider: d, bench: b, sim: b.sim, ts: string(b.box.posted[0].TS), cards: &slackapp.Cards{
		Client: b.api, Decider: d, Connections: d, Log: slog.New(slog.DiscardHandler), Settle: time.Millisecond,
		Now: func() time.Time { return cardTime },
	}}
}

// edit puts a record in the card's place, as the outbox does.
func (p *table) edit(record chat.Card) {
	p.Helper()
	placed := p.bench.box.posted
	p.bench.box = newOutbox()
	p.bench.box.posted = placed
	p.bench.send(false, p.bench.edited(2, record, 1))
}

// within bounds a test that waits.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// click is what the edge makes of a press in the simulator.
func (p *table) click(user, channel, action string, ticked ...string) (func(context.Context), error) {
	p.Helper()
	if _, err := p.sim.Click(user, channel, p.ts, action, ticked...); err != nil {
		p.Fatal(err)
	}
	all := p.sim.Envelopes()
	return p.cards.Click(p.Context(), readClick(p.T, all[len(all)-1].Payload))
}

func (p *table) press(user, channel, action string, ticked ...string) {
	p.Helper()
	after, err := p.click(user, channel, action, ticked...)
	if err != nil {
		p.Fatal(err)
	}
	if after != nil {
		after(p.Context())
	}
}

func (p *table) wantCalls(want ...string) {
	p.Helper()
	if got := p.did(); !slices.Equal(got, want) {
		p.Errorf("done: %q\nwant  %q", got, want)
	}
}

// told is what somebody was told in private.
func (p *table) told(user string) (out []string) {
	for _, e := range p.sim.Ephemerals(user) {
		out = append(out, e.Text)
	}
	return out
}

func (p *table) blocks(channel string) string {
	for _, m := range p.sim.Messages(channel, "") {
		if m.TS == p.ts {
			return string(m.Blocks)
		}
	}
	return ""
}

// catcher keeps the click that an edge makes of a payload.
type catcher chan slackapp.Click

func (c catcher) Click(_ context.Context, k slackapp.Click) (func(context.Context), error) {
	c <- k
	return nil, nil
}

// readClick is the click that an edge makes of a payload.
func readClick(t *testing.T, payload []byte) slackapp.Click {
	t.Helper()
	caught := make(catcher, 1)
	edge := slackapp.NewEdge(slackapp.EdgeOptions{Self: slackapp.Identity{Team: simulator.HomeTeam}, Clicks: caught})
	ctx, stop := context.WithCancel(t.Context())
	ended, acked := make(chan error, 1), make(chan struct{})
	go func() { ended <- edge.Run(ctx) }()
	edge.Take(slackapp.Delivery{Envelope: slackapp.Envelope{ID: "e", Type: "interactive", Payload: payload}, Ack: func() { close(acked) }})
	<-acked
	stop()
	<-ended
	select {
	case k := <-caught:
		return k
	default:
		t.Fatalf("no click: %s", payload)
		return slackapp.Click{}
	}
}
