package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"reeve/agent"
	"reeve/memory"
	"reeve/runtime/chat"
)

// purse is a meter with what each has spent.
type purse struct {
	spent map[chat.Actor]int
	err   error
}

func (p *purse) Spent(_ context.Context, who chat.Actor) (int, error) { return p.spent[who], p.err }

func (p *purse) Add(_ context.Context, who chat.Actor, tokens int) error {
	p.spent[who] += tokens
	return p.err
}

type answering struct{ reply agent.Reply }

func (a answering) Complete(context.Context, agent.Request) (agent.Reply, error) { return a.reply, nil }

func TestMemoryCostsThePersonForWhomItIsAsked(t *testing.T) {
	alice, bob := chat.Person("T1", "UALICE"), chat.Person("T1", "UBOB")
	p, counted := &purse{spent: map[chat.Actor]int{bob: 100}}, 0
	m := askOnce{
		model: answering{agent.Reply{Text: "{}", Tokens: 60}}, most: 100, meter: p, log: slog.New(slog.DiscardHandler),
		count: func(_, _ string, n int) { counted += n },
	}
	ask := func(who chat.Actor) error {
		_, err := m.Complete(t.Context(), who, "system", "user", []byte(`{}`))
		return err
	}
	if err := ask(bob); !errors.Is(err, memory.ErrSpent) || p.spent[bob] != 100 || counted != 0 {
		t.Errorf("who has spent all: %v, %d, %d counted", err, p.spent[bob], counted)
	}
	for range 2 {
		if err := ask(alice); err != nil {
			t.Error(err)
		}
	}
	if err := ask(alice); !errors.Is(err, memory.ErrSpent) || p.spent[alice] != 120 || counted != 120 {
		t.Errorf("who has spent it by that: %v, %d, %d counted", err, p.spent[alice], counted)
	}
	// A count that cannot be read or written stops nobody.
	p.err = errors.New("no store")
	if err := ask(bob); err != nil {
		t.Errorf("without a store: %v", err)
	}
	// A provider that does not count is estimated; a system actor pays nothing.
	p.err, m.model = nil, answering{agent.Reply{Text: "{}"}}
	before := len(p.spent)
	if err := ask(chat.SystemActor("scheduler")); err != nil || len(p.spent) != before || counted <= 180 {
		t.Errorf("for a system actor: %v, %v, %d counted", err, p.spent, counted)
	}
}
