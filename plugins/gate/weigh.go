package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Weigh says what a call needs before it may be made: nothing, its actor's
// answer, or an account of his. A call that will not be made is answered. What
// goes wrong is such an answer.
func (g *Gate) Weigh(ctx context.Context, asked plugins.Asked) (weighed plugins.Weighed) {
	x := &exam{record: record{run: asked.Run, kind: plugins.AuditCall, call: asked.Call.ID, arguments: []byte(asked.Call.Arguments), start: time.Now()}}
	answer := func(result plugins.Result) plugins.Weighed {
		result.Text, result.Private, x.record.failed = clean(result.Text, g.options.MaxResult), result.Private || x.private, true
		g.log(ctx, x.record)
		_ = g.keep(ctx, x.record)
		return plugins.Weighed{Result: &result}
	}
	defer func() {
		if fault := recover(); fault != nil {
			weighed = answer(x.fault(g, asked.Run, fault))
		}
	}()
	switch denial := x.pass(ctx, g, asked); {
	case denial == "":
		return plugins.Weighed{}
	case x.connect != nil:
		return plugins.Weighed{Connect: x.connect}
	case x.question != nil:
		return plugins.Weighed{Ask: x.question}
	default:
		return answer(refuse(denial))
	}
}

// exam is what the gate finds out about one call before it is made.
type exam struct {
	record
	tool    *tool
	checked json.RawMessage // the arguments
	// scopes are what the call needs of the actor's account at the tool's provider,
	// and standing is what he has there.
	scopes   []string
	standing Standing
	// private: from here on somebody's rights may have been spent, so that what
	// comes of it is his.
	private bool
	// question and connect are set where a denial could be lifted.
	question *chat.Question
	connect  *plugins.Connect
}

// pass asks everything that is asked before a call, in the gate's order. denial
// says why it may not be made, and x.rule which step said so.
func (x *exam) pass(ctx context.Context, g *Gate, asked plugins.Asked) (denial string) {
	x.record.tool, x.decision, x.rule = "(unknown)", plugins.AuditRefused, ruleFault
	t, ok := g.find(asked)
	if !ok {
		x.rule = ruleNotOffered
		return g.unknown(asked)
	}
	x.tool, x.record.tool, x.provider, x.sends = t, t.Name, t.Provider, t.Sends
	if n := t.hung.add(0); n >= g.options.MaxHung {
		x.rule = ruleOutOfOrder
		return t.outOfOrder(n)
	}
	arguments, problem := g.read(ctx, t, asked.Call.Arguments)
	if problem != "" {
		x.rule = ruleArguments
		return problem
	}
	x.checked, x.arguments = arguments, arguments
	if rule, denial := g.budget(ctx, asked); denial != "" {
		x.rule = rule
		return denial
	}
	if denial := x.look(ctx, g, asked); denial != "" {
		x.rule = ruleAccount
		return denial
	}
	rule, denial := x.consent(ctx, g, asked)
	if x.rule = rule; denial != "" {
		return denial
	}
	x.private = t.Provider != ""
	for _, check := range g.options.Checks {
		if denial := g.check(ctx, check, Call{Asked: asked, Tool: t.Tool, Arguments: arguments}); denial != "" {
			x.rule = check.Name
			return denial
		}
	}
	if rule, denial := x.account(asked); denial != "" {
		x.rule = rule
		return denial
	}
	if ctx.Err() != nil { // it ended while it was asked
		x.rule = ruleRunOver
		return runOver
	}
	return ""
}

// consent asks the table. A host that cannot be told is a call that cannot be
// judged.
func (x *exam) consent(ctx context.Context, g *Gate, asked plugins.Asked) (rule, denial string) {
	t, facts := x.tool, Facts{Access: x.tool.Access, Sends: x.tool.Sends, Credentialed: x.tool.Provider != ""}
	if t.Sends && t.Host != nil {
		host, err := question(ctx, g, func(context.Context) (string, error) { return t.host(x.checked) })
		if err != nil {
			return ruleHost, fmt.Sprintf("This call was refused, because it cannot be told where it would send to: %v.", err)
		}
		facts.Host = host
	}
	if t.Asks != nil {
		always, err := question(ctx, g, func(context.Context) (bool, error) { return t.Asks(x.checked), nil })
		facts.Always = always || err != nil
	}
	hash := callHash(t.Name, x.checked)
	verdict := Judge(facts, situationOf(asked.Run, subject{asked.Call.ID, hash, facts.Host, t.Provider, x.standing}), g.options.Policy)
	if verdict.Decision == Ask {
		x.question = &chat.Question{
			Call: asked.Call.ID, Tool: t.Name, Arguments: visible(x.checked), Hash: hash, Rule: string(verdict.Rule),
			Provider: t.Provider, Account: x.standing.Name, AccountID: x.standing.ID, Host: facts.Host, Sends: t.Sends, Write: t.Access == plugins.Write,
		}
	}
	return string(verdict.Rule), verdict.Sentence(facts)
}

func (x *exam) fault(g *Gate, run plugins.Run, fault any) plugins.Result {
	g.options.Logger.Error("fault in the gate", "turn", run.Turn, "type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
	x.rule, x.decision = ruleFault, plugins.AuditRefused
	return refuse("This call failed because of a fault in the gate.")
}
