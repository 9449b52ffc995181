package agent_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/runtime/chat"
)

// purse counts like the store does.
type purse struct {
	spent map[chat.Actor]int
	err   error
}

func (p *purse) Spent(_ context.Context, who chat.Actor) (int, error) { return p.spent[who], p.err }

func (p *purse) Add(_ context.Context, who chat.Actor, n int) error {
	p.spent[who] += n
	return p.err
}

func TestTokensOfADayEndATurn(t *testing.T) {
	alice := turn(request("110.0", "go")).Actor
	for name, c := range map[string]struct {
		spent int
		err   error
		calls int  // model calls that are made
		over  bool // the turn fails
	}{
		"under the limit":           {spent: 0, calls: 2},
		"over it after one call":    {spent: 60, calls: 1, over: true},
		"over it before":            {spent: 100, calls: 0, over: true},
		"a count that is not known": {spent: 1000, err: errors.New("away"), calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			model := scripted.Says(
				agent.Reply{Calls: []chat.ToolCall{ask("a", "look")}, Tokens: 40}, agent.Reply{Text: "done", Tokens: 40})
			p := &purse{spent: map[chat.Actor]int{alice: c.spent}, err: c.err}
			counted := map[string]int{}
			err := loop(model, func(o *agent.Options) {
				o.DailyTokens, o.Meter = 100, p
				o.Count = func(name, label string, n int) { counted[name+" "+label] += n }
			}).Run(t.Context(), turn(request("110.0", "go")), &scripted.Log{})
			if c.over {
				failed(t, err, agent.DaySpent)
			} else if err != nil {
				t.Error(err)
			}
			if n := len(model.Requests()); n != c.calls {
				t.Errorf("%d model calls, want %d", n, c.calls)
			}
			if got := p.spent[alice]; got != c.spent+40*c.calls {
				t.Errorf("%d tokens are counted, want %d", got, c.spent+40*c.calls)
			}
			want := map[string]int{}
			if c.calls > 0 {
				want["model_calls calls"], want["tokens "] = 1, 40*c.calls
			}
			if c.calls > 1 {
				want["model_calls answer"] = 1
			}
			if !maps.Equal(want, counted) {
				t.Errorf("counted %v, want %v", counted, want)
			}
		})
	}
}

// A turn of a system actor's counts in the day of whoever asked for it.
func TestTokensOfATurnThatIsNobodysCountForWhoAskedForIt(t *testing.T) {
	own := message(chat.Scheduler, "110.0", "tea").Entries("t_now", chat.Instruction, chat.Request)
	of := turn(own...)
	of.Actor, of.Payer = chat.Scheduler, bob
	p := &purse{spent: map[chat.Actor]int{bob: 60}}
	model := scripted.Says(agent.Reply{Calls: []chat.ToolCall{ask("a", "look")}, Tokens: 40}, agent.Reply{Text: "done", Tokens: 40})
	err := loop(model, func(o *agent.Options) { o.DailyTokens, o.Meter = 100, p }).Run(t.Context(), of, &scripted.Log{})
	failed(t, err, agent.DaySpent)
	if !maps.Equal(p.spent, map[chat.Actor]int{bob: 100}) {
		t.Errorf("counted for %v", p.spent)
	}
}
