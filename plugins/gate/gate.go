// Package gate stands between the model and every tool. The order in which it
// asks is fixed: offered to this turn; arguments fit the schema; budget;
// consent; the checks that are given to it; account and scopes; audit record;
// call; result cut, redacted and marked; a line in the log. The loop has written
// the call into the turn's log before the gate sees it. Whatever goes wrong inside
// means no.
//
// Consent is a table, Judge: it compares what a tool declares with who has
// written into the turn, and with what the turn's actor has said when he was
// asked. Weigh says of a call that it needs his answer, or an account of his;
// the loop then lets the turn wait. Call asks everything again.
package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
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
	// Policy is what the operator decides about consent.
	Policy Policy
	// Checks are asked in their order, after consent. Each has 10 s.
	Checks []Check
	// Accounts are people's at providers. Nil: no tool that needs one is offered.
	Accounts Accounts
	// Audit keeps a record for good, once for each key. A credentialed call whose
	// record cannot be kept is refused. Nil: none are kept.
	Audit func(ctx context.Context, r plugins.AuditRecord) error
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
	// tool is refused until some of them return: 8. Of questions before calls
	// as many may, of all tools together.
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
	hung    tally // questions before calls
	mu      sync.RWMutex
	tools   map[string]*tool
}

type tool struct {
	plugins.Tool
	plugin  string
	shared  bool // one store for all people
	schema  *jsonschema.Schema
	checker *jsonschema.Resolved
	effort  plugins.Effort // of checking
	hung    tally
}

// New is a gate without tools.
func New(options Options) *Gate {
	return &Gate{options: options.withDefaults(), tools: map[string]*tool{}}
}

// Set replaces the tools of a plugin, and takes them all or none. sharedStore
// is as its Extension says.
func (g *Gate) Set(plugin string, tools []plugins.Tool, sharedStore bool) error {
	if err := plugins.CheckTools(tools); err != nil {
		return fmt.Errorf("plugin %s: %w", plugin, err)
	}
	return g.set(plugin, tools, sharedStore)
}

// own is the name under which Reeve's own tools stand; no plugin can have it.
const own = "reeve"

// SetOwn replaces the tools that are Reeve's own, whose names no plugin may use.
// They pass the gate like all others.
func (g *Gate) SetOwn(tools []plugins.Tool) error {
	if err := plugins.CheckOwnTools(tools); err != nil {
		return fmt.Errorf("own tools: %w", err)
	}
	return g.set(own, tools, false)
}

func (g *Gate) set(plugin string, tools []plugins.Tool, sharedStore bool) error {
	// What takes time is done before the lock, for which every call waits.
	fresh := make([]*tool, len(tools))
	for i, t := range tools {
		checker, err := plugins.ResolveSchema(t.Parameters)
		if err != nil {
			return fmt.Errorf("plugin %s: tool %s: %w", plugin, t.Name, err)
		}
		effort, err := plugins.EffortOf(checker.Schema())
		if err != nil {
			return fmt.Errorf("plugin %s: tool %s: %w", plugin, t.Name, err)
		}
		fresh[i] = &tool{Tool: t, plugin: plugin, shared: sharedStore, schema: checker.Schema(), checker: checker, effort: effort}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	set := map[string]*tool{}
	for name, t := range g.tools {
		if t.plugin != plugin {
			set[name] = t
		}
	}
	for _, t := range fresh {
		if other, taken := set[t.Name]; taken {
			return fmt.Errorf("plugin %s: tool %q is a tool of plugin %s already", plugin, t.Name, other.plugin)
		}
		set[t.Name] = t
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
		if (names == nil || slices.Contains(names, name)) && g.usable(t) {
			specs = append(specs, t.Spec())
		}
	}
	slices.SortFunc(specs, func(a, b plugins.Spec) int { return strings.Compare(a.Name, b.Name) })
	return specs
}
