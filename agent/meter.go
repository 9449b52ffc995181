package agent

import (
	"context"
	"errors"
	"fmt"

	"reeve/runtime/chat"
)

// What Options.Count is told of.
const (
	// CountModelCalls: a model was asked. The label is answer, calls, canceled,
	// empty, or a FailureKind.
	CountModelCalls = "model_calls"
	// CountTokens: tokens were used.
	CountTokens = "tokens"
)

// Meter counts what a person's turns use in a day, on all replicas together.
type Meter interface {
	Spent(ctx context.Context, who chat.Actor) (tokens int, err error)
	Add(ctx context.Context, who chat.Actor, tokens int) error
}

// payer is in whose day the turn's tokens count. That gives a turn nothing else
// of his.
func (t Turn) payer() chat.Actor {
	if t.Actor.IsPerson() {
		return t.Actor
	}
	return t.Payer
}

// daily asks whether the actor may use more today. A count that cannot be read
// stops nobody: it bounds costs, and the next call asks again.
func (r *run) daily(ctx context.Context) error {
	if r.options.DailyTokens == 0 || r.options.Meter == nil || !r.turn.payer().IsPerson() {
		return nil
	}
	spent, err := r.options.Meter.Spent(ctx, r.turn.payer())
	if err != nil {
		r.options.Logger.Warn("tokens of the day not known", "turn", r.turn.ID, "actor", r.turn.payer().Key(), "err", err)
		return nil
	}
	if spent >= r.options.DailyTokens {
		return &Failure{DaySpent, fmt.Errorf("%d tokens used today", spent)}
	}
	return nil
}

// spend counts what a model call has used.
func (r *run) spend(ctx context.Context, tokens int) {
	r.options.Count(CountTokens, "", tokens)
	if r.options.DailyTokens == 0 || r.options.Meter == nil || !r.turn.payer().IsPerson() {
		return
	}
	// A stop that comes now does not make it free.
	if err := r.options.Meter.Add(context.WithoutCancel(ctx), r.turn.payer(), tokens); err != nil {
		r.options.Logger.Warn("tokens not counted", "turn", r.turn.ID, "actor", r.turn.payer().Key(), "tokens", tokens, "err", err)
	}
}

// callOutcome is how a model call ended, in a word.
func callOutcome(reply Reply, err, ended error) string {
	var failure *Failure
	switch {
	case errors.As(err, &failure):
		return string(failure.Kind)
	case ended != nil:
		return "canceled"
	case err != nil:
		return string(Internal)
	case len(reply.Calls) > 0:
		return "calls"
	case reply.Text == "":
		return "empty"
	default:
		return "answer"
	}
}
