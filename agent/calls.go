package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	// parallel is how many calls of one answer run at a time.
	parallel = 8
	// maxCalls is how many calls of one answer are made at all.
	maxCalls = 64
)

// make makes calls of the last answer and returns their results in the order of
// the calls. before is how many calls the turn had made. weighed is what the
// gate has said of each: what it has answered is not made, and of what waits
// there is no result. Nil: they may all be made.
func (r *run) make(ctx context.Context, calls []chat.ToolCall, weighed []plugins.Weighed, before int) []chat.Entry {
	calling, done := r.outlive(ctx)
	defer done()
	asking := r.asking()
	entries := make([]chat.Entry, len(calls))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, c := range calls {
		if weighed != nil && held(weighed[i]) {
			continue
		}
		group.Go(func() error {
			switch {
			case weighed != nil && weighed[i].Result != nil:
				entries[i] = r.result(c, *weighed[i].Result)
			case ctx.Err() != nil: // stopped before its place among the parallel ones came
				entries[i] = r.result(c, plugins.Result{Error: true, Text: notBegun})
			default:
				entries[i] = r.result(c, r.one(calling, asking, c, before+i))
			}
			return nil
		})
	}
	_ = group.Wait() // no call returns an error: what goes wrong is its result
	return slices.DeleteFunc(entries, func(e chat.Entry) bool { return e.CallID == "" })
}

func (r *run) one(ctx context.Context, asking plugins.Run, c chat.ToolCall, before int) (result plugins.Result) {
	defer func() {
		if fault := recover(); fault != nil {
			result = plugins.Result{Error: true, Text: "This call failed: a fault in Reeve."}
		}
	}()
	return r.options.Tools.Call(ctx, plugins.Asked{Run: asking, Call: c, Before: before, Offered: r.turn.Offered})
}

// unanswered are the calls of the last answer that have no result: a run that
// was lost had begun them, or was about to.
func (r *run) unanswered() []chat.ToolCall {
	results := resultsByCall(r.turn.Own)
	for i, e := range slices.Backward(r.turn.Own) {
		if e.Role == chat.AssistantRole {
			return slices.DeleteFunc(slices.Clone(e.Calls), func(c chat.ToolCall) bool {
				_, ok := results.of[i][c.ID]
				return ok
			})
		}
	}
	return nil
}

// repeat answers calls that a lost run left without a result. Those that
// change nothing, or the same thing under the same key, are made again; what
// became of the others is unknown, and they are not.
func (r *run) repeat(ctx context.Context, calls []chat.ToolCall) []chat.Entry {
	before := max(r.callsMade()-len(calls), 0)
	entries := make([]chat.Entry, len(calls))
	var again []chat.ToolCall
	var places []int
	for i, c := range calls {
		if r.repeatable(c.Tool) {
			again, places = append(again, c), append(places, i)
			continue
		}
		entries[i] = r.result(c, plugins.Result{Error: true, Text: unknownOutcome, DM: lostCall(r.turn.ID, c)})
	}
	for i, e := range r.make(ctx, again, nil, before) {
		entries[places[i]] = e
	}
	return entries
}

// lostCall tells the turn's actor himself of a call whose outcome nobody knows:
// the model may forget to. The name is one that a model wrote.
func lostCall(turn chat.TurnID, c chat.ToolCall) string {
	tool := "A tool"
	if callName.MatchString(c.Tool) {
		tool = "`" + c.Tool + "`"
	}
	return tool + " had begun in your request (turn " + turn.Short() + ") when the process that ran it was lost. Whether it took effect is unknown, and it was not repeated."
}

func (r *run) repeatable(tool string) bool {
	spec, ok := r.spec(tool)
	return ok && (spec.Effect == plugins.Pure || spec.Effect == plugins.Idempotent)
}

func (r *run) result(c chat.ToolCall, result plugins.Result) chat.Entry {
	e := r.entry(chat.ToolRole, chat.Result)
	e.ID, e.CallID, e.Tool = string(r.turn.ID)+".result."+c.ID, c.ID, c.Tool
	e.Text, e.Private, e.Failed = strings.ToValidUTF8(result.Text, "\uFFFD"), result.Private, result.Error
	e.DM = strings.ToValidUTF8(result.DM, "\uFFFD")
	// The gate marks what was returned for somebody's rights. Of a call whose
	// outcome nobody knows they may have been spent.
	if spec, ok := r.spec(c.Tool); ok && spec.Provider != "" && (result.Private || result.Text == unknownOutcome) {
		principal := r.turn.Actor
		e.Principal, e.Private = &principal, true
	}
	// Many a result repeats the arguments, and these may be made of what was
	// private before the call.
	e.Private = e.Private || r.asksInPrivate(c.ID)
	return e
}

// asksInPrivate: the entry that asks for a call is private.
func (r *run) asksInPrivate(call string) bool {
	for _, e := range slices.Backward(r.turn.Own) {
		if made(e, call) {
			return e.Private
		}
	}
	return false
}

// spec is a tool that the turn is offered.
func (r *run) spec(tool string) (ToolSpec, bool) {
	at := slices.IndexFunc(r.tools, func(s ToolSpec) bool { return s.Name == tool })
	if at < 0 {
		return ToolSpec{}, false
	}
	return r.tools[at], true
}

// named gives each call an id that is its own in the turn: ids tell calls
// apart for good, and a model may repeat one or leave it out.
func (r *run) named(calls []chat.ToolCall) []chat.ToolCall {
	used := map[string]bool{}
	for _, e := range r.turn.Own {
		for _, c := range e.Calls {
			used[c.ID] = true
		}
	}
	calls = slices.Clone(calls)
	for i, c := range calls {
		for n := 0; !callName.MatchString(calls[i].ID) || used[calls[i].ID]; n++ {
			calls[i].ID = fmt.Sprintf("call_%d_%d_%d", r.turn.Steps, i, n)
		}
		used[calls[i].ID] = true
		calls[i].Tool = plugins.CutMiddle(c.Tool, 128)
		calls[i].Arguments = plugins.CutMiddle(c.Arguments, maxArguments)
	}
	return calls
}

// maxArguments bounds what is kept of one call's arguments, in bytes. What is
// longer is no JSON any more, and its result says so.
const maxArguments = 64 << 10

func (r *run) callsMade() int {
	n := 0
	for _, e := range r.turn.Own {
		n += len(e.Calls)
	}
	return n
}
