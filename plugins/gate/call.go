package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// run calls a tool within its time. A tool that does not come back is left to
// itself: its goroutine cannot be ended from outside, so that their number is
// bounded and the tool refused while too many hang.
func (g *Gate) run(ctx context.Context, asked plugins.Asked, t *tool, arguments json.RawMessage) plugins.Result {
	if n := t.count(0); n >= g.options.MaxHung {
		return refuse(fmt.Sprintf("The tool %s is out of order: %d calls of it have not come back. Do without it.", t.Name, n))
	}
	timeout := t.Timeout
	if timeout <= 0 {
		timeout = g.options.Timeout
	}
	calling, cancel := context.WithTimeout(ctx, min(timeout, plugins.MaxTimeout))
	defer cancel()

	type outcome struct {
		result plugins.Result
		err    error
		fault  bool
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{fault: true}
		defer func() {
			if fault := recover(); fault != nil {
				// The value may hold what the call was about; its type may not.
				g.options.Logger.Error("tool panicked", "turn", asked.Run.Turn, "tool", t.Name,
					"type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			}
			done <- out
		}()
		result, err := t.Call(calling, g.call(asked, t), arguments)
		out = outcome{result: result, err: err}
	}()

	var out outcome
	select {
	case out = <-done:
	case <-calling.Done():
		select {
		case out = <-done: // it came back at the last moment
		default:
			t.count(+1)
			go func() {
				<-done
				t.count(-1)
			}()
			if ctx.Err() != nil {
				return refuse(fmt.Sprintf("The call of %s was cut: the run is over.%s", t.Name, t.doubt()))
			}
			return refuse(fmt.Sprintf("The tool %s did not answer within %v and was given up.%s", t.Name, timeout, t.doubt()))
		}
	}
	switch {
	case out.fault:
		return refuse(fmt.Sprintf("The tool %s failed: a fault in its code.%s", t.Name, t.doubt()))
	case out.err != nil:
		out.result.Error = true
		out.result.Text = fmt.Sprintf("The tool %s failed: %v", t.Name, out.err)
	}
	return out.result
}

// doubt is what has to be said of a call that ended without a word of its own.
func (t *tool) doubt() string {
	if t.Effect == plugins.Pure {
		return ""
	}
	return " Whether it took effect is unknown; say so, and do not simply repeat it."
}

// count keeps the number of calls that were given up and have not come back.
func (t *tool) count(change int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hung += change
	return t.hung
}

// call is what the tool is given. Its store is the principal's own, unless its
// plugin has one for all.
func (g *Gate) call(asked plugins.Asked, t *tool) plugins.Call {
	owner := asked.Run.Actor
	if t.shared {
		owner = chat.Actor{}
	}
	call := plugins.Call{
		Run: asked.Run, Key: plugins.CallKey(asked.Run.Turn, asked.Call.ID), Store: g.options.Store(t.plugin, owner),
	}
	if t.Provider == plugins.SlackProvider && g.options.Slack != nil {
		call.Slack = g.options.Slack(asked.Run)
	}
	return call
}
