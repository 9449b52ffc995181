package gate

import (
	"context"
	"fmt"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// run calls a tool within its time. While too many calls of it hang, it is
// refused. The exam is told where the call was not made, or may have been.
func (g *Gate) run(ctx context.Context, asked plugins.Asked, x *exam) plugins.Result {
	t := x.tool
	ended := func(decision plugins.AuditDecision, rule, text string) plugins.Result {
		x.decision, x.rule = decision, rule
		return refuse(text)
	}
	if n := t.hung.add(0); n >= g.options.MaxHung {
		return ended(plugins.AuditRefused, ruleOutOfOrder, t.outOfOrder(n))
	}
	timeout := t.Timeout
	if timeout <= 0 {
		timeout = g.options.Timeout
	}
	calling, cancel := context.WithTimeout(ctx, min(timeout, plugins.MaxTimeout))
	defer cancel()
	call := g.call(asked, t)
	if t.Account {
		account, done, err := g.options.Accounts.Open(calling, Use{
			Actor: asked.Run.Actor, Provider: t.Provider, Account: x.standing.ID, Scopes: x.scopes, Access: t.Access, Key: call.Key,
		})
		if err != nil {
			return ended(plugins.AuditRefused, ruleAccount, fmt.Sprintf("This call was not made: the account at %s cannot be used now: %v", t.Provider, err))
		}
		defer done()
		call.Account = account
	}
	out := bounded(calling, &t.hung, func(ctx context.Context) (plugins.Result, error) {
		return t.Call(ctx, call, x.checked)
	})
	switch {
	case out.late && ctx.Err() != nil:
		return ended(plugins.AuditUnknown, ruleRunOver, fmt.Sprintf("The call of %s was cut: the run is over.%s", t.Name, t.doubt()))
	case out.late:
		return ended(plugins.AuditUnknown, ruleLate, fmt.Sprintf("The tool %s did not answer within %v and was given up.%s", t.Name, timeout, t.doubt()))
	case out.fault:
		g.options.Logger.Error("tool panicked", "turn", asked.Run.Turn, "tool", t.Name, "type", out.kind, "stack", out.stack)
		return ended(plugins.AuditUnknown, ruleFault, fmt.Sprintf("The tool %s failed: a fault in its code.%s", t.Name, t.doubt()))
	case out.err != nil:
		out.value.Error = true
		out.value.Text = fmt.Sprintf("The tool %s failed: %v", t.Name, out.err)
		if calling.Err() != nil { // it heard that its time was over, and no more
			out.value.Unknown = true
			out.value.Text += t.doubt()
		}
	}
	if out.value.Unknown {
		out.value.Error = true
		x.decision, x.rule = plugins.AuditUnknown, ruleNoAnswer
		switch {
		case ctx.Err() != nil:
			x.rule = ruleRunOver
		case calling.Err() != nil:
			x.rule = ruleLate
		}
	}
	return out.value
}

func (t *tool) outOfOrder(n int) string {
	return fmt.Sprintf("The tool %s is out of order: %d calls of it have not come back. Do without it.", t.Name, n)
}

// doubt is what has to be said of a call that ended without a word of its own.
func (t *tool) doubt() string {
	if t.Effect == plugins.Pure {
		return ""
	}
	return " Whether it took effect is unknown; say so, and do not simply repeat it."
}

// call is what the tool is given. Its store is the principal's own, unless its
// plugin has one for all.
func (g *Gate) call(asked plugins.Asked, t *tool) plugins.Call {
	owner := asked.Run.Actor
	if t.shared {
		owner = chat.Actor{}
	}
	call := plugins.Call{
		Run: asked.Run.Copy(), Key: plugins.CallKey(asked.Run.Turn, asked.Call.ID), Store: g.options.Store(t.plugin, owner),
	}
	if t.Provider == plugins.SlackProvider && g.options.Slack != nil {
		call.Slack = g.options.Slack(asked.Run)
	}
	return call
}
