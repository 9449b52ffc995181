package runtime

import (
	"context"
	"slices"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Record keeps what became of the calls on a card that is over, one record each.
// It may be told of one several times, by whoever has ended the wait, by the run
// that goes on, and by the sender, which changes the card: it is the only one that
// learns of every end, since a stop, or an abandon, of a turn that waits is a step
// of the store that no run follows.
func (r *Runtime) Record(ctx context.Context, card chat.Card) error {
	if r.opts.Decided == nil || card.Asking == nil || card.Ending == nil || card.Actor.IsZero() {
		return nil
	}
	return r.opts.Decided(ctx, plugins.Run{Turn: card.Turn, Conversation: card.Conversation, Actor: card.Actor}, decisionOn(card))
}

// decisionOn is what the card's ending says of each call that waited.
func decisionOn(card chat.Card) chat.Decision {
	d := chat.Decision{Wait: card.Wait, Ending: *card.Ending}
	if d.How == chat.ByStop || d.How == chat.ByAbandoned {
		d.Wait += "/" + string(d.How) // it may undo an answer, which has a record of its own
	}
	for _, q := range card.Asking.Questions {
		d.Calls = append(d.Calls, chat.Decided{
			Call: q.Call, Tool: q.Tool, Hash: q.Hash, Rule: q.Rule, Provider: q.Provider, Account: q.Account, AccountID: q.AccountID, Host: q.Host,
			Allowed: d.How == chat.ByAnswer && slices.Contains(d.Allowed, q.Call),
		})
	}
	for i, call := range card.Asking.Calls {
		c := chat.Decided{Call: call, Rule: chat.RuleConnect, Provider: card.Asking.Provider, Allowed: d.How == chat.ByAccount}
		if i < len(card.Asking.Tools) {
			c.Tool = card.Asking.Tools[i]
		}
		d.Calls = append(d.Calls, c)
	}
	return d
}
