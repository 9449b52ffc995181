package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// run is one run of a turn.
type run struct {
	*Loop
	turn  Turn // its Own grows as the run goes on
	log   Log
	tools []ToolSpec
	// limit is how much a request may hold, in tokens: less than the options
	// say once a provider has refused one as too long.
	limit int
	// compacted is the limit for which a summary was tried last.
	compacted int
	shrunk    bool // the last request was refused as too long
}

func (r *run) advance(ctx context.Context) error {
	if calls := r.unanswered(); len(calls) > 0 {
		if err := r.goOn(ctx, calls); err != nil {
			return err
		}
	}
	for {
		if err := r.budget(ctx); err != nil {
			return err
		}
		if r.log.Steered() || !r.pending() {
			if err := r.boundary(ctx); err != nil {
				return err
			}
		}
		if done, err := r.compact(ctx); err != nil {
			return err
		} else if done {
			continue // it took its time, and tokens
		}
		reply, err := r.ask(ctx)
		if r.tooLong(err) {
			continue
		}
		if err != nil {
			return err
		}
		if len(reply.Calls) > 0 {
			if err := r.work(ctx, reply); err != nil {
				return err
			}
			continue
		}
		closed, err := r.close(ctx, reply)
		if closed || err != nil {
			return err
		}
	}
}

// budget is asked before each model call: what has been finished is kept, but
// nothing new is begun.
func (r *run) budget(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.turn.Steps >= r.options.MaxSteps:
		return &Failure{StepsSpent, fmt.Errorf("%d model calls made", r.turn.Steps)}
	case r.turn.Tokens >= r.options.MaxTurnTokens:
		return &Failure{TokensSpent, fmt.Errorf("%d tokens used", r.turn.Tokens)}
	}
	return r.daily(ctx)
}

// ask makes one model call for the turn's next step.
func (r *run) ask(ctx context.Context) (Reply, error) {
	if !r.pending() {
		return Reply{}, &Failure{Internal, errors.New("nothing in the turn waits for an answer")}
	}
	r.turn.Steps++
	reply, err := r.complete(ctx, BuildRequest(r.turn, r.tools, r.limit))
	if err == nil && strings.TrimSpace(reply.Text) == "" && len(reply.Calls) == 0 {
		err = &Failure{ModelUnreachable, errors.New("the model gave an empty answer")}
	}
	return reply, err
}

// complete makes one model call, and counts what it used.
func (r *run) complete(ctx context.Context, req Request) (Reply, error) {
	start := time.Now()
	reply, err := r.options.Model.Complete(ctx, req)
	r.options.Count(CountModelCalls, callOutcome(reply, err, ctx.Err()), 1)
	if err != nil {
		var failure *Failure
		if errors.As(err, &failure) || ctx.Err() != nil {
			return Reply{}, err
		}
		return Reply{}, &Failure{Internal, fmt.Errorf("ask model: %w", err)}
	}
	if reply.Tokens == 0 {
		reply.Tokens = Estimate(req) + Estimate(Request{Messages: []Message{{Content: reply.Text, Calls: reply.Calls}}})
	}
	reply.Text = strings.ToValidUTF8(reply.Text, "\uFFFD")
	r.turn.Tokens += reply.Tokens
	r.spend(ctx, reply.Tokens)
	r.options.Logger.Debug("model answered", "turn", r.turn.ID, "step", r.turn.Steps, "tokens", reply.Tokens,
		"calls", len(reply.Calls), "took", time.Since(start).Round(time.Millisecond).String())
	return reply, nil
}

// pending: something in the turn has been said since the last answer. A model
// that is asked without it would talk to itself.
func (r *run) pending() bool {
	for _, e := range slices.Backward(r.turn.Own) {
		if e.Role != chat.AssistantRole {
			return slices.ContainsFunc(r.turn.Own, func(e chat.Entry) bool { return e.Role == chat.UserRole })
		}
		if len(e.Calls) == 0 {
			return false
		}
	}
	return false
}

// work commits an answer with its calls and makes those that need nobody. For
// the others the turn waits; without any it takes the steers that came meanwhile
// in the step that writes the results.
func (r *run) work(ctx context.Context, reply Reply) error {
	answer := r.answer(chat.CallOrigin)
	answer.Text, answer.Tokens, answer.Private = reply.Text, reply.Tokens, r.private()
	answer.Calls = r.named(reply.Calls)
	before, own := r.callsMade(), r.turn.Own
	r.turn.Own = append(slices.Clone(own), answer)
	weighed := r.weigh(ctx, r.asking(), answer.Calls, before)
	waiting := pick(answer.Calls, weighed)
	answer.Held = unbegun(answer.Calls, weighed)
	r.turn.Own = own
	if err := r.log.Commit(ctx, answer); err != nil {
		return err
	}
	r.turn.Own = append(r.turn.Own, answer)
	return r.wait(ctx, waiting, r.make(ctx, answer.Calls, weighed, before))
}

// goOn takes up calls that an earlier run left without a result: what may have
// begun, and what was held back for somebody.
func (r *run) goOn(ctx context.Context, calls []chat.ToolCall) error {
	var begun, waiting []chat.ToolCall
	for _, c := range calls {
		if r.begun(c.ID) {
			begun = append(begun, c)
		} else {
			waiting = append(waiting, c)
		}
	}
	results := r.repeat(ctx, begun)
	if len(waiting) == 0 {
		return r.boundary(ctx, results...)
	}
	return r.settle(ctx, waiting, results)
}

func (r *run) boundary(ctx context.Context, results ...chat.Entry) error {
	if ctx.Err() != nil {
		return r.stopped(ctx, ctx.Err(), results)
	}
	steers, err := r.log.Boundary(ctx, results...)
	if err != nil {
		return r.stopped(ctx, err, results)
	}
	r.turn.Own = append(append(r.turn.Own, results...), steers...)
	return nil
}

func (r *run) close(ctx context.Context, reply Reply) (closed bool, err error) {
	answer := r.answer(chat.Answer)
	answer.Text, answer.Tokens, answer.Posted = reply.Text, reply.Tokens, true
	steers, closed, err := r.log.Close(ctx, answer)
	if closed || err != nil {
		return closed, err
	}
	r.turn.Own = append(append(r.turn.Own, answer), steers...)
	return false, nil
}

// private: what the model writes after a private entry, and what is not posted,
// is private as well.
func (r *run) private() bool {
	private := func(e chat.Entry) bool { return e.Private }
	return slices.ContainsFunc(r.turn.Own, private) || slices.ContainsFunc(r.turn.Visible(), private)
}

// answer is an entry of the model's. How many there are of its turn, over all
// its runs, tells them apart.
func (r *run) answer(origin chat.Origin) chat.Entry {
	e, n := r.entry(chat.AssistantRole, origin), 1
	for _, other := range r.turn.Own {
		if other.Role == chat.AssistantRole {
			n++
		}
	}
	e.ID = fmt.Sprintf("%s.answer.%d", r.turn.ID, n)
	return e
}

func (r *run) entry(role chat.Role, origin chat.Origin) chat.Entry {
	return chat.Entry{
		Turn: r.turn.ID, Role: role, Origin: origin, Time: r.options.Now().UTC().Round(0),
		Provenance: &chat.Provenance{Authority: chat.Context},
	}
}
