// Package plugins is the contract between Reeve and what extends it. A plugin
// is a value with a name and some tools; clock is the example to copy.
package plugins

import (
	"context"
	"encoding/json"
	"time"

	"reeve/runtime/chat"
)

// Plugin adds tools to the bot.
type Plugin interface {
	// Name is unique among the plugins, lower case, letters, digits and "_".
	Name() string
	Tools() []Tool
}

// Effect says what happens when a call is made twice.
type Effect string

const (
	Pure       Effect = "pure"       // changes nothing outside
	Idempotent Effect = "idempotent" // the same key changes things once
	Once       Effect = "once"       // must not be repeated
)

// Access says whether a call reads or changes something.
type Access string

const (
	Read  Access = "read"
	Write Access = "write"
)

// Tool is one function that the model may ask for. Build it with NewTool.
type Tool struct {
	Name        string
	Description string
	Effect      Effect
	Access      Access
	// Sends: the call can carry data out.
	Sends bool
	// Provider names whose credentials the call spends; empty: none.
	Provider string
	// Timeout bounds one call; zero means 30 s, and 5 min is the most.
	Timeout time.Duration
	// Parameters is the JSON schema of the arguments.
	Parameters json.RawMessage
	// Call runs the tool. Arguments have passed the schema.
	Call func(ctx context.Context, run Run, arguments json.RawMessage) (Result, error)
}

// Run is what a plugin may know of the run that calls it.
type Run struct {
	Turn         chat.TurnID
	Conversation chat.Conversation
	Visibility   chat.Visibility
	// Actor is whom the run acts for; it is the principal of every call.
	Actor chat.Actor
	// Zone is the actor's IANA time zone; empty when unknown.
	Zone string
	// Key names this call for good: the same call, run again after a crash,
	// has the same key.
	Key string
	// Calls is how many calls the turn had asked for before this one.
	Calls int
	// Offered are the names of the tools that are offered to the turn; nil
	// means all.
	Offered []string
}

// Spec is a tool as it is offered to the model.
type Spec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema
	// Effect is for the loop, which must not repeat every call after a crash;
	// the model does not see it.
	Effect Effect
}

// Result is what a tool gives back to the model.
type Result struct {
	Text string
	// Error: the call did not do what was asked; Text says why, to the model.
	Error bool
	// Private: the result was had with somebody's rights and is for the
	// turn's actor alone.
	Private bool
}
