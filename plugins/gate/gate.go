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
	// Store is where a plugin keeps what it stores for a person, or, for the
	// zero actor, for all. Nil: calls have no store.
	Store func(plugin string, actor chat.Actor) plugins.Store
	// Slack reads in Slack for a run's actor. Nil: no tool can.
	Slack func(run plugins.Run) plugins.Slack
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
	plugins.Asked
	Tool      plugins.Tool
	Arguments json.RawMessage
}

// Gate implements the loop's Tools. It is safe for concurrent use.
type Gate struct {
	options Options
	checks  []Check
	mu      sync.RWMutex
	tools   map[string]*tool
}

type tool struct {
	plugins.Tool
	plugin  string
	shared  bool // one store for all people
	schema  *jsonschema.Schema
	checker *jsonschema.Resolved

	mu   sync.Mutex
	hung int
}

// New is a gate without tools.
func New(options Options) *Gate {
	g := &Gate{options: options.withDefaults(), tools: map[string]*tool{}}
	g.checks = append([]Check{{Name: "budget", Ask: g.budget}}, g.options.Checks...)
	return g
}

// Set replaces the tools of a plugin, and takes them all or none. sharedStore
// is as its Extension says.
func (g *Gate) Set(plugin string, tools []plugins.Tool, sharedStore bool) error {
	if err := plugins.CheckTools(tools); err != nil {
		return fmt.Errorf("plugin %s: %w", plugin, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	set := map[string]*tool{}
	for name, t := range g.tools {
		if t.plugin != plugin {
			set[name] = t
		}
	}
	for _, t := range tools {
		if other, taken := set[t.Name]; taken {
			return fmt.Errorf("plugin %s: tool %q is a tool of plugin %s already", plugin, t.Name, other.plugin)
		}
		checker, err := plugins.ResolveSchema(t.Parameters)
		if err != nil {
			return fmt.Errorf("plugin %s: tool %s: %w", plugin, t.Name, err)
		}
		set[t.Name] = &tool{Tool: t, plugin: plugin, shared: sharedStore, schema: checker.Schema(), checker: checker}
	}
	g.tools = set
	return nil
}

func (o Options) withDefaults() Options {
	if o.Store == nil {
		o.Store = func(string, chat.Actor) plugins.Store { return nil }
	}
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

// Offered are tools by name: those of the names given, or all when it is nil.
func (g *Gate) Offered(names []string) []plugins.Spec {
	g.mu.RLock()
	defer g.mu.RUnlock()
	specs := []plugins.Spec{}
	for name, t := range g.tools {
		if names == nil || slices.Contains(names, name) {
			specs = append(specs, t.Spec())
		}
	}
	slices.SortFunc(specs, func(a, b plugins.Spec) int { return strings.Compare(a.Name, b.Name) })
	return specs
}

// find is the tool that a call names, if it is offered to its turn.
func (g *Gate) find(asked plugins.Asked) (*tool, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	t, ok := g.tools[asked.Call.Tool]
	return t, ok && (asked.Offered == nil || slices.Contains(asked.Offered, t.Name))
}

// Call answers one call; see the package comment for its order.
func (g *Gate) Call(ctx context.Context, asked plugins.Asked) (result plugins.Result) {
	run, start, decision, name := asked.Run, time.Now(), "fault", "(unknown)"
	defer func() {
		if fault := recover(); fault != nil {
			g.options.Logger.Error("fault in the gate", "turn", run.Turn, "type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			decision, result = "fault", refuse("This call was refused because of a fault in the gate.")
		}
		result.Text = clean(result.Text, g.options.MaxResult)
		g.audit(ctx, run, name, decision, result.Error, time.Since(start))
	}()

	t, ok := g.find(asked)
	if !ok {
		decision = "not_offered"
		return refuse(g.unknown(asked))
	}
	name = t.Name
	arguments, problem := t.read(asked.Call.Arguments)
	if problem != "" {
		decision = "arguments"
		return refuse(problem)
	}
	for _, check := range g.checks {
		denial, err := ask(ctx, check, Call{Asked: asked, Tool: t.Tool, Arguments: arguments})
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
	result = g.run(ctx, asked, t, arguments)
	result.Private = result.Private || t.Provider != ""
	return result
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
	if call.Before >= g.options.MaxCalls {
		return fmt.Sprintf("This call was refused: the turn has made its %d tool calls. Answer with what you have.", g.options.MaxCalls), nil
	}
	return "", nil
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

// audit writes who asked for what, and what was decided: never the payload.
func (g *Gate) audit(ctx context.Context, run plugins.Run, tool, decision string, failed bool, took time.Duration) {
	g.options.Logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "tool call",
		slog.String("turn", string(run.Turn)), slog.String("conversation", run.Conversation.Key()),
		slog.String("tool", tool), slog.String("actor", run.Actor.Key()),
		slog.String("decision", decision), slog.Bool("failed", failed), slog.Duration("took", took))
}

func refuse(why string) plugins.Result { return plugins.Result{Error: true, Text: why} }
