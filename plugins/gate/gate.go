// Package gate stands between the model and every tool. The order in which it
// asks is fixed: offered to this turn; arguments fit the schema; budget; the
// checks that are given to it (consent, account); call; result cut and
// redacted; audit record. Whatever goes wrong inside it means no.
package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Options are the gate's bounds; zero values mean the defaults.
type Options struct {
	// Checks are asked in their order, after arguments and budget.
	Checks []Check
	// MaxCalls is how many calls one turn may make: 500.
	MaxCalls int
	// Timeout is for a tool that names none: 30 s.
	Timeout time.Duration
	// MaxResult is the longest result in bytes: 64 KiB.
	MaxResult int
	// MaxHung is how many calls of one tool may hang, given up on, before the
	// tool is refused until some of them return: 8.
	MaxHung int
	Logger  *slog.Logger
}

// Check is one question that is asked before a call.
type Check struct {
	Name string // one word, for the audit record
	// Ask returns why the call is denied, for the model to read, or "" to let
	// it pass. An error or a panic denies as well.
	Ask func(ctx context.Context, call Call) (denial string, err error)
}

// Call is what a check may know of a call.
type Call struct {
	Run       plugins.Run
	Tool      plugins.Tool
	Arguments json.RawMessage
}

// Gate implements the loop's Tools.
type Gate struct {
	options Options
	tools   map[string]*tool
	specs   []plugins.Spec // by name
	checks  []Check
}

type tool struct {
	plugins.Tool
	schema  *jsonschema.Schema
	checker *jsonschema.Resolved

	mu   sync.Mutex
	hung int
}

// New is a gate before the tools of the plugins, which must pass
// plugins.Check.
func New(list []plugins.Plugin, options Options) (*Gate, error) {
	if err := plugins.Check(list); err != nil {
		return nil, fmt.Errorf("build gate: %w", err)
	}
	g := &Gate{options: options.withDefaults(), tools: map[string]*tool{}}
	for _, plugin := range list {
		for _, t := range plugin.Tools() {
			checker, err := plugins.ResolveSchema(t.Parameters)
			if err != nil {
				return nil, fmt.Errorf("build gate: tool %s: %w", t.Name, err)
			}
			g.tools[t.Name] = &tool{Tool: t, schema: checker.Schema(), checker: checker}
			g.specs = append(g.specs, t.Spec())
		}
	}
	slices.SortFunc(g.specs, func(a, b plugins.Spec) int { return strings.Compare(a.Name, b.Name) })
	g.checks = append([]Check{{Name: "budget", Ask: g.budget}}, g.options.Checks...)
	return g, nil
}

func (o Options) withDefaults() Options {
	if o.MaxCalls == 0 {
		o.MaxCalls = 500
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.MaxResult == 0 {
		o.MaxResult = 64 << 10
	}
	if o.MaxHung == 0 {
		o.MaxHung = 8
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Offered are the tools of the run's turn, by name.
func (g *Gate) Offered(run plugins.Run) []plugins.Spec {
	if run.Offered == nil {
		return slices.Clone(g.specs)
	}
	return slices.DeleteFunc(slices.Clone(g.specs), func(s plugins.Spec) bool {
		return !slices.Contains(run.Offered, s.Name)
	})
}

// Call answers one call; see the package comment for its order.
func (g *Gate) Call(ctx context.Context, run plugins.Run, call chat.ToolCall) (result plugins.Result) {
	start, decision, name := time.Now(), "fault", "(unknown)"
	defer func() {
		if fault := recover(); fault != nil {
			g.options.Logger.Error("fault in the gate", "turn", run.Turn, "type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			decision, result = "fault", refuse("This call was refused because of a fault in the gate.")
		}
		result.Text = clean(result.Text, g.options.MaxResult)
		g.audit(ctx, run, name, decision, result.Error, time.Since(start))
	}()

	t, ok := g.tools[call.Tool]
	if !ok || run.Offered != nil && !slices.Contains(run.Offered, call.Tool) {
		decision = "not_offered"
		return refuse(g.unknown(run, call.Tool))
	}
	name = t.Name
	arguments, problem := t.read(call.Arguments)
	if problem != "" {
		decision = "arguments"
		return refuse(problem)
	}
	for _, check := range g.checks {
		denial, err := ask(ctx, check, Call{Run: run, Tool: t.Tool, Arguments: arguments})
		if err != nil {
			g.options.Logger.Error("check failed", "turn", run.Turn, "tool", t.Name, "check", check.Name, "err", err)
			denial = "This call was refused because it could not be checked."
		}
		if denial != "" {
			decision = check.Name
			return refuse(denial)
		}
	}
	decision = "allowed"
	return g.run(ctx, run, t, arguments)
}

// ask turns a panicking check into a failed one.
func ask(ctx context.Context, check Check, call Call) (denial string, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			denial, err = "", fmt.Errorf("check %s panicked with a %T", check.Name, fault)
		}
	}()
	if check.Ask == nil {
		return "", errors.New("it asks nothing")
	}
	return check.Ask(ctx, call)
}

func (g *Gate) budget(ctx context.Context, call Call) (string, error) {
	if ctx.Err() != nil {
		return "This call was not started: the run is over.", nil
	}
	if call.Run.Calls >= g.options.MaxCalls {
		return fmt.Sprintf("This call was refused: the turn has made its %d tool calls. Answer with what you have.", g.options.MaxCalls), nil
	}
	return "", nil
}

func (g *Gate) unknown(run plugins.Run, name string) string {
	var offered []string
	for _, s := range g.Offered(run) {
		offered = append(offered, s.Name)
	}
	if len(offered) == 0 {
		return "There are no tools in this turn."
	}
	return fmt.Sprintf("There is no tool named %q in this turn. There are: %s.", plugins.CutMiddle(name, 128), strings.Join(offered, ", "))
}

// audit writes who asked for what, and what was decided: never the payload.
func (g *Gate) audit(ctx context.Context, run plugins.Run, tool, decision string, failed bool, took time.Duration) {
	g.options.Logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "tool call",
		slog.String("turn", string(run.Turn)), slog.String("conversation", run.Conversation.Key()),
		slog.String("tool", tool), slog.String("actor", run.Actor.Key()),
		slog.String("decision", decision), slog.Bool("failed", failed), slog.Duration("took", took))
}

func refuse(why string) plugins.Result { return plugins.Result{Error: true, Text: why} }
