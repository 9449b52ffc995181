package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"reeve/plugins"
)

// find is the tool that a call names, if it is offered to its turn.
func (g *Gate) find(asked plugins.Asked) (*tool, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	t, ok := g.tools[asked.Call.Tool]
	return t, ok && (asked.Offered == nil || slices.Contains(asked.Offered, t.Name))
}

// Call answers one call; see the package comment for its order.
func (g *Gate) Call(ctx context.Context, asked plugins.Asked) (result plugins.Result) {
	r := record{run: asked.Run, tool: "(unknown)", decision: refused, rule: ruleFault, arguments: []byte(asked.Call.Arguments), start: time.Now()}
	private := false
	defer func() {
		if fault := recover(); fault != nil {
			g.options.Logger.Error("fault in the gate", "turn", r.run.Turn, "type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			r.rule, result = ruleFault, refuse("This call failed because of a fault in the gate.")
		}
		result.Text, result.DM = clean(result.Text, g.options.MaxResult), cleanDM(result.DM, g.options.MaxResult)
		result.Private = result.Private || private
		r.failed = result.Error
		g.audit(ctx, r)
	}()

	t, ok := g.find(asked)
	if !ok {
		r.rule = ruleNotOffered
		return refuse(g.unknown(asked))
	}
	r.tool, r.provider = t.Name, t.Provider
	arguments, problem := g.read(ctx, t, asked.Call.Arguments)
	if problem != "" {
		r.rule = ruleArguments
		return refuse(problem)
	}
	r.arguments = arguments
	if rule, denial := g.budget(ctx, asked); denial != "" {
		r.rule = rule
		return refuse(denial)
	}
	rule, denial := g.consent(ctx, asked, t, arguments)
	if denial != "" {
		r.rule = rule
		return refuse(denial)
	}
	// From here on somebody's rights may be spent: what comes of it is his.
	private = t.Provider != ""
	for _, check := range g.options.Checks {
		if denial := g.check(ctx, check, Call{Asked: asked, Tool: t.Tool, Arguments: arguments}); denial != "" {
			r.rule = check.Name
			return refuse(denial)
		}
	}
	if ctx.Err() != nil { // it ended while it was asked
		r.rule = ruleRunOver
		return refuse(runOver)
	}
	r.decision, r.rule = allowed, rule
	return g.run(ctx, asked, t, arguments)
}

// read is tool.read within the time of a question: how long a validator takes is
// up to whoever wrote the schema, and a pattern in it.
func (g *Gate) read(ctx context.Context, t *tool, written string) (json.RawMessage, string) {
	type reading struct {
		arguments json.RawMessage
		problem   string
	}
	if n := t.hung.add(0); n >= g.options.MaxHung {
		return nil, t.outOfOrder(n)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	out := bounded(ctx, &t.hung, func(context.Context) (reading, error) {
		arguments, problem := t.read(written)
		return reading{arguments, problem}, nil
	})
	if out.late || out.fault {
		return nil, fmt.Sprintf("The arguments of %s could not be checked.", t.Name)
	}
	return out.value.arguments, out.value.problem
}

const (
	runOver   = "This call was not started: the run is over."
	unchecked = "This call was refused because it could not be checked."
)

func (g *Gate) budget(ctx context.Context, asked plugins.Asked) (rule, denial string) {
	switch {
	case ctx.Err() != nil:
		return ruleRunOver, runOver
	case asked.Before >= g.options.MaxCalls:
		return ruleBudget, fmt.Sprintf("This call was refused: the turn has made its %d tool calls. Answer with what you have.", g.options.MaxCalls)
	}
	return "", ""
}

// consent asks the table. A host that cannot be told is a call that cannot be
// judged.
func (g *Gate) consent(ctx context.Context, asked plugins.Asked, t *tool, arguments json.RawMessage) (rule, denial string) {
	host := ""
	if t.Sends && t.Host != nil {
		var err error
		host, err = question(ctx, g, func(context.Context) (string, error) { return t.host(arguments) })
		if err != nil {
			return ruleHost, fmt.Sprintf("This call was refused, because it cannot be told where it would send to: %v.", err)
		}
	}
	facts := Facts{Access: t.Access, Sends: t.Sends, Credentialed: t.Provider != "", Host: host}
	verdict := Judge(facts, situationOf(asked.Run, host), g.options.Policy)
	return string(verdict.Rule), verdict.Sentence(facts)
}

// host is where a call would send to, in normal form.
func (t *tool) host(arguments json.RawMessage) (string, error) {
	host, err := t.Host(arguments)
	if err != nil {
		return "", err
	}
	return normalHost(host)
}

// check asks one check; whatever goes wrong denies.
func (g *Gate) check(ctx context.Context, check Check, call Call) (denial string) {
	denial, err := question(ctx, g, func(ctx context.Context) (string, error) {
		if check.Ask == nil {
			return "", errors.New("it asks nothing")
		}
		return check.Ask(ctx, call)
	})
	if err != nil {
		g.options.Logger.Error("check failed", "turn", call.Run.Turn, "tool", call.Tool.Name, "check", check.Name, "err", err)
		return unchecked
	}
	return denial
}

func (g *Gate) unknown(asked plugins.Asked) string {
	var offered []string
	for _, s := range g.Offered(asked.Offered) {
		offered = append(offered, s.Name)
	}
	if len(offered) == 0 {
		return "There are no tools in this turn."
	}
	return fmt.Sprintf("There is no tool named %q in this turn. There are: %s.", plugins.CutMiddle(asked.Call.Tool, 128), strings.Join(offered, ", "))
}

func refuse(why string) plugins.Result { return plugins.Result{Error: true, Text: why} }
