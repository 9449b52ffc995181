package slackapp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// connect puts the table behind a socket of the simulated Slack.
func (p *table) connect(ctx context.Context) {
	p.Helper()
	self := slackapp.Identity{Team: simulator.HomeTeam, User: "UBOT", App: "ABOT"}
	sockets := slackapp.NewSockets(slackapp.SocketOptions{APIURL: p.sim.APIURL(), AppToken: p.sim.AppToken(), Sockets: 1})
	edge := slackapp.NewEdge(slackapp.EdgeOptions{Self: self, Clicks: slackapp.Buttons{Cards: p.cards}, Forms: p.cards})
	run, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- slackapp.Serve(run, sockets, edge) }()
	p.Cleanup(func() {
		stop()
		<-ended
	})
	if err := p.sim.WaitConnected(ctx, 1); err != nil {
		p.Fatal(err)
	}
}

// presses clicks and answers the envelope's id.
func (p *table) presses(user, channel, action string, ticked ...string) string {
	p.Helper()
	id, err := p.sim.Click(user, channel, p.ts, action, ticked...)
	if err != nil {
		p.Fatal(err)
	}
	return id
}

func (p *table) waits(ctx context.Context, what string, match func(simulator.Event) bool) simulator.Event {
	p.Helper()
	e, err := p.sim.WaitFor(ctx, match)
	if err != nil {
		p.Fatalf("wait for %s: %v", what, err)
	}
	return e
}

func acked(id string) func(simulator.Event) bool {
	return func(e simulator.Event) bool { return e.Kind == simulator.Acked && e.Envelope.ID == id }
}

// TestP1_AnAnswerIsAcknowledgedWhenItIsDurable, over a socket; and delivered
// again it changes nothing, not even the record of the first.
func TestP1_AnAnswerIsAcknowledgedWhenItIsDurable(t *testing.T) {
	p := lay(t, consentCard(), simulator.AliceDM)
	ctx := within(t)
	p.gate, p.once = make(chan struct{}), map[string]bool{}
	p.connect(ctx)
	id := p.presses(simulator.Alice, simulator.AliceDM, "card:consent:allow", "call_2")
	p.waits(ctx, "the delivery", func(e simulator.Event) bool { return e.Kind == simulator.Sent && e.Envelope.ID == id })
	if len(p.sim.Acks()) != 0 {
		t.Error("it is acknowledged before it is durable")
	}
	p.gate <- struct{}{}
	p.waits(ctx, "the acknowledgement", acked(id))
	p.wantCalls(waits3 + "UALICE [call_2] false")
	close(p.gate)
	// The record comes, and then Slack delivers the click again.
	record := consentCard()
	record.Ending = ending(chat.ByAnswer, "call_2")
	p.edit(record)
	shown := p.blocks(simulator.AliceDM)
	if err := p.sim.Redeliver(id); err != nil {
		t.Fatal(err)
	}
	p.waits(ctx, "a word that it is over", func(e simulator.Event) bool {
		return e.Kind == simulator.EphemeralPosted && e.Ephemeral.Text == slackapp.TextCardOver
	})
	p.waits(ctx, "the look whether its record is there", func(e simulator.Event) bool {
		return e.Kind == simulator.Called && e.Call.Method == "conversations.history"
	})
	if got := p.blocks(simulator.AliceDM); got != shown {
		t.Errorf("the record became %s", got)
	}
	if n := len(p.sim.Calls("chat.update")); n != 1 {
		t.Errorf("%d updates", n)
	}
}

// view is the newest window that Alice sees.
func (p *table) view(ctx context.Context, after int64) simulator.View {
	p.Helper()
	e, err := p.sim.WaitAfter(ctx, after, func(e simulator.Event) bool { return e.Kind == simulator.ViewShown })
	if err != nil {
		p.Fatal(err)
	}
	return *e.View
}

func typed(code string) map[string]map[string]any {
	return map[string]map[string]any{"code": {"code": map[string]any{"type": "plain_text_input", "value": code}}}
}

// TestTheCodeOfAPage: asked for in a window, checked before the window closes,
// and counted for whoever Slack says has entered it.
func TestTheCodeOfAPage(t *testing.T) {
	p := lay(t, connectCard(), simulator.AliceDM)
	ctx := within(t)
	p.enter = func(_, code string) (string, bool, error) {
		switch code {
		case "RIGHT123":
			return "", true, nil
		case "FIFTH":
			return "That was the last try.", true, nil
		case "AWAY":
			return "", false, errors.New("the store is away")
		}
		return "That is not the code.", false, nil
	}
	p.connect(ctx)
	mark := p.sim.Mark()
	p.presses(simulator.Alice, simulator.AliceDM, "card:connect:code")
	v := p.view(ctx, mark)
	if v.User != simulator.Alice || !strings.Contains(string(v.View), `"callback_id":"code:f_1"`) {
		t.Fatalf("the window is %+v %s", v, v.View)
	}
	for code, want := range map[string]string{
		"WRONG": `{"response_action":"errors","errors":{"code":"That is not the code."}}`,
		"AWAY":  `{"response_action":"errors","errors":{"code":"` + slackapp.TextCodeOutage + `"}}`,
		"  ":    `{"response_action":"errors","errors":{"code":"` + slackapp.TextCodeMissing + `"}}`,
	} {
		e, err := p.sim.SubmitView(ctx, simulator.Alice, v.ID, typed(code))
		if err != nil || string(e.Response) != want {
			t.Errorf("%q is answered %s, %v", code, e.Response, err)
		}
	}
	if _, err := p.sim.SubmitView(ctx, simulator.Alice, v.ID, typed(" RIGHT123 ")); err != nil {
		t.Fatal(err)
	}
	if p.sim.CloseView(simulator.Alice, v.ID) == nil {
		t.Error("the window is still there")
	}
	mark = p.sim.Mark()
	p.presses(simulator.Alice, simulator.AliceDM, "card:connect:code")
	v = p.view(ctx, mark)
	mark = p.sim.Mark()
	if _, err := p.sim.SubmitView(ctx, simulator.Alice, v.ID, typed("FIFTH")); err != nil {
		t.Fatal(err)
	}
	if v = p.view(ctx, mark); !strings.Contains(string(v.View), "That was the last try.") || strings.Contains(string(v.View), "plain_text_input") {
		t.Errorf("the window is %s", v.View)
	}
	for _, e := range p.entered {
		if !strings.HasPrefix(e, "f_1 UALICE ") {
			t.Errorf("entered: %q", e)
		}
	}
}

// TestAWindowThatCannotBeOpened is said.
func TestAWindowThatCannotBeOpened(t *testing.T) {
	p := lay(t, connectCard(), simulator.AliceDM)
	ctx := within(t)
	p.connect(ctx)
	p.sim.Fail(simulator.Fault{Method: "views.open", Error: "expired_trigger_id"})
	p.presses(simulator.Alice, simulator.AliceDM, "card:connect:code")
	p.waits(ctx, "a word", func(e simulator.Event) bool {
		return e.Kind == simulator.EphemeralPosted && e.Ephemeral.Text == slackapp.TextModalLate
	})
}
