package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	return t, ok && (asked.Offered == nil || slices.Contains(asked.Offered, t.Name)) && g.usable(t)
}

// Call answers one call; see the package comment for its order. What Weigh said
// of it before counts for nothing: everything is asked again, here where the
// call is made.
func (g *Gate) Call(ctx context.Context, asked plugins.Asked) (result plugins.Result) {
	x := &exam{record: record{run: asked.Run, kind: plugins.AuditCall, call: asked.Call.ID, arguments: []byte(asked.Call.Arguments), start: time.Now()}}
	defer func() {
		if fault := recover(); fault != nil {
			result = x.fault(g, asked.Run, fault)
			_ = g.keep(ctx, x.record)
		}
		result.Text, result.DM = clean(result.Text, g.options.MaxResult), cleanDM(result.DM, g.options.MaxResult)
		result.Private = result.Private || x.private
		x.record.failed = result.Error
		g.log(ctx, x.record)
	}()
	if denial := x.pass(ctx, g, asked); denial != "" {
		_ = g.keep(ctx, x.record)
		return refuse(denial)
	}
	// The record comes first: a call that cannot be accounted for is not made.
	x.decision = plugins.AuditAllowed
	if err := g.keep(ctx, x.record); err != nil {
		x.decision, x.rule = plugins.AuditRefused, ruleAudit
		return refuse(unaccounted)
	}
	result = g.run(ctx, asked, x)
	if x.decision != plugins.AuditAllowed {
		_ = g.keep(ctx, x.record)
	}
	return result
}

// read is tool.read within the time of a question: how long a validator takes is
// up to whoever wrote the schema, and a pattern in it.
func (g *Gate) read(ctx context.Context, t *tool, written string) (json.RawMessage, string) {
	type reading struct {
		arguments json.RawMessage
		problem   string
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
	runOver     = "This call was not started: the run is over."
	unchecked   = "This call was refused because it could not be checked."
	unaccounted = "This call was refused because no record of it could be kept."
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
