package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// ErrParked is how a run ends whose turn waits for its actor.
var ErrParked = errors.New("the turn waits for its actor")

const (
	// mostAsked is how many calls one card holds, and mostShown how many
	// characters of arguments as they are shown.
	mostAsked = 10
	mostShown = 8000
)

// asking is the turn as it stood when the model asked for its last calls, with
// what its actor has said about them since: all calls of one answer are judged
// on the state before any of them ran.
func (r *run) asking() plugins.Run {
	turn := r.turn
	last := lastAnswer(turn.Own)
	turn.Own = slices.Clone(turn.Own[:min(last+1, len(turn.Own))])
	for _, e := range r.turn.Own[len(turn.Own):] {
		if e.Decision != nil {
			turn.Own = append(turn.Own, e)
		}
	}
	return turn.Run()
}

// weigh asks the gate what each call needs. before is how many calls the turn
// had made.
func (r *run) weigh(ctx context.Context, asking plugins.Run, calls []chat.ToolCall, before int) []plugins.Weighed {
	weighed := make([]plugins.Weighed, len(calls))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, c := range calls {
		group.Go(func() error {
			if i >= maxCalls {
				weighed[i].Result = &plugins.Result{Error: true, Text: fmt.Sprintf("This call was not made: an answer may ask for %d calls at most. Ask for less at a time.", maxCalls)}
				return nil
			}
			weighed[i] = r.options.Tools.Weigh(ctx, plugins.Asked{Run: asking, Call: c, Before: before + i, Offered: r.turn.Offered})
			return nil
		})
	}
	_ = group.Wait() // nothing returns an error
	return weighed
}

// held reports whether a call waits for somebody.
func held(w plugins.Weighed) bool { return w.Ask != nil || w.Connect != nil }

// pending is a call that waits for somebody.
type pending struct {
	chat.ToolCall
	plugins.Weighed
}

// pick are the calls that wait.
func pick(calls []chat.ToolCall, weighed []plugins.Weighed) []pending {
	var list []pending
	for i, w := range weighed {
		if held(w) {
			list = append(list, pending{calls[i], w})
		}
	}
	return list
}

// unbegun are the ids of calls that will not be made before a later entry says so:
// those that wait, and those that the gate has answered.
func unbegun(calls []chat.ToolCall, weighed []plugins.Weighed) []string {
	var ids []string
	for i, w := range weighed {
		if held(w) || w.Result != nil {
			ids = append(ids, calls[i].ID)
		}
	}
	return ids
}

// begun reports whether a call may have been made: the log says so before it is.
func (r *run) begun(call string) bool {
	at := lastAnswer(r.turn.Own)
	if at >= len(r.turn.Own) || !slices.Contains(r.turn.Own[at].Held, call) {
		return true
	}
	return slices.ContainsFunc(r.turn.Own[at:], func(e chat.Entry) bool {
		return e.Decision != nil && slices.Contains(e.Decision.Begun, call)
	})
}

// settle goes on with calls of the last answer that were held back. A wait that
// has ended and stands in no entry yet is spent here: the entry that records it
// journals the calls that it lets be made. results are of calls beside them.
func (r *run) settle(ctx context.Context, calls []chat.ToolCall, results []chat.Entry) error {
	d, known := r.unspent(calls)
	before, own := max(r.callsMade()-len(calls), 0), r.turn.Own
	e := r.entry(chat.ToolRole, chat.Consent)
	e.ID, e.Decision, e.Provenance.Author = fmt.Sprintf("%s.consent.%d", r.turn.ID, len(own)), &d, d.By
	if known { // the calls are judged on the state with the decision in it
		r.turn.Own = append(slices.Clone(own), e)
	}
	var open []chat.ToolCall
	for _, c := range calls {
		if refusal, refused := r.refusal(c.ID); refused {
			results = append(results, r.result(c, plugins.Result{Error: true, Text: refusal}))
		} else {
			open = append(open, c)
		}
	}
	weighed := r.weigh(ctx, r.asking(), open, before)
	for i, w := range weighed {
		if !held(w) && w.Result == nil {
			d.Begun = append(d.Begun, open[i].ID)
		}
	}
	r.turn.Own = own
	if known || len(d.Begun) > 0 {
		if err := r.options.Tools.Decided(ctx, r.turn.Run(), d); err != nil {
			return err
		}
		if err := r.log.Commit(ctx, e); err != nil {
			return err
		}
		r.turn.Own = append(r.turn.Own, e)
	}
	results = append(results, r.make(ctx, open, weighed, before)...)
	return r.wait(ctx, pick(open, weighed), results)
}

// unspent is the decision of the turn's last wait, if that has ended and no
// entry records it.
func (r *run) unspent(calls []chat.ToolCall) (d chat.Decision, known bool) {
	w := r.turn.Waited
	if w == nil || slices.ContainsFunc(r.turn.Own, func(e chat.Entry) bool { return e.Decision != nil && e.Decision.Wait == w.ID }) {
		return chat.Decision{}, false
	}
	d = chat.Decision{Wait: w.ID, Ending: w.Ending}
	for _, c := range calls {
		if at := slices.IndexFunc(w.Questions, func(q chat.Question) bool { return q.Call == c.ID }); at >= 0 {
			q := w.Questions[at]
			d.Calls = append(d.Calls, chat.Decided{
				Call: c.ID, Tool: q.Tool, Hash: q.Hash, Rule: q.Rule, Provider: q.Provider, Account: q.Account, AccountID: q.AccountID, Host: q.Host,
				Allowed: w.How == chat.ByAnswer && slices.Contains(w.Allowed, c.ID),
			})
		}
		if slices.Contains(w.Asking.Calls, c.ID) {
			d.Calls = append(d.Calls, chat.Decided{
				Call: c.ID, Tool: c.Tool, Rule: chat.RuleConnect, Provider: w.Provider, Allowed: w.How == chat.ByAccount,
			})
		}
	}
	return d, true
}

// refusal is why a call of the last answer will not be made, as its actor or
// whatever ended the wait for him has decided.
func (r *run) refusal(call string) (why string, refused bool) {
	for _, e := range slices.Backward(r.turn.Own[lastAnswer(r.turn.Own):]) {
		if e.Decision == nil {
			continue
		}
		for _, c := range e.Decision.Calls {
			if c.Call == call && !c.Allowed {
				return refusalText(e.Decision.How, c), true
			}
		}
	}
	return "", false
}

// wait lets the turn wait for its actor, with the results of the other calls in
// the same step. A steer that waits is read first.
func (r *run) wait(ctx context.Context, list []pending, results []chat.Entry) error {
	list, refused := r.bounded(ctx, list)
	results = append(results, refused...)
	if len(list) == 0 {
		return r.boundary(ctx, results...)
	}
	if ctx.Err() != nil {
		return r.stopped(ctx, ctx.Err(), results)
	}
	why, how := notAsked, chat.How("steered")
	parked, err := r.log.Park(ctx, askingFor(list), results...)
	var cannot *CannotAsk
	switch {
	case errors.As(err, &cannot):
		why, how = notApproved+cannot.Why+"."+leftUndone, "cannot_ask"
	case err != nil:
		return r.stopped(ctx, err, results)
	case parked:
		return ErrParked
	}
	r.refuse(ctx, list, how)
	for _, p := range list {
		results = append(results, r.result(p.ToolCall, plugins.Result{Error: true, Text: why}))
	}
	return r.boundary(ctx, results...)
}

// bounded refuses calls that are too many, or too long, for one card.
func (r *run) bounded(ctx context.Context, list []pending) (kept []pending, refused []chat.Entry) {
	calls, shown := 0, 0
	for _, p := range list {
		if p.Ask != nil {
			calls++
			shown += utf8.RuneCountInString(p.Ask.Arguments)
		}
	}
	if calls <= mostAsked && shown <= mostShown {
		return list, nil
	}
	var asked []pending
	for _, p := range list {
		if p.Ask == nil {
			kept = append(kept, p)
			continue
		}
		asked = append(asked, p)
		refused = append(refused, r.result(p.ToolCall, plugins.Result{Error: true, Text: tooMuch}))
	}
	r.refuse(ctx, asked, "too_much")
	return kept, refused
}

// refuse keeps a record of calls about which nobody was asked, and why. They are not
// made, whether or not it can be kept.
func (r *run) refuse(ctx context.Context, list []pending, how chat.How) {
	d := chat.Decision{Wait: "unasked", Ending: chat.Ending{How: how}}
	for _, p := range list {
		if q := p.Ask; q != nil {
			d.Calls = append(d.Calls, chat.Decided{Call: q.Call, Tool: q.Tool, Hash: q.Hash, Rule: q.Rule, Provider: q.Provider, Host: q.Host})
		} else {
			d.Calls = append(d.Calls, chat.Decided{Call: p.ID, Tool: p.Tool, Rule: chat.RuleConnect, Provider: p.Connect.Provider})
		}
	}
	if err := r.options.Tools.Decided(ctx, r.turn.Run(), d); err != nil {
		r.options.Logger.Error("record of refused calls not kept", "turn", r.turn.ID, "err", err)
	}
}

// askingFor is what is asked first: his answer about calls, and only when there
// is none to be given for an account.
func askingFor(list []pending) chat.Asking {
	var a chat.Asking
	for _, p := range list {
		if p.Ask != nil {
			a.Questions = append(a.Questions, *p.Ask)
		}
	}
	if len(a.Questions) > 0 {
		return a
	}
	a.Provider = list[0].Connect.Provider
	for _, p := range list {
		if p.Connect.Provider != a.Provider {
			continue
		}
		a.Calls, a.Tools = append(a.Calls, p.ID), append(a.Tools, p.Tool)
		a.Scopes = union(a.Scopes, p.Connect.Scopes)
		a.Lacking = union(a.Lacking, p.Connect.Lacking)
	}
	return a
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}
