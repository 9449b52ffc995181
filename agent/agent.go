// Package agent is the loop between a model and its tools. It decides nothing
// about people: what it may read is given to it as entries with their
// provenance, and everything it does is written through a Log that the runtime
// keeps under the turn's fence.
package agent

import (
	"context"
	"encoding/json"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Turn is what the loop needs to know of the turn that it advances.
type Turn struct {
	ID           chat.TurnID
	Conversation chat.Conversation
	Visibility   chat.Visibility
	Actor        chat.Actor
	// ActorName is the actor's display name, for showing only.
	ActorName string
	// Zone is the actor's IANA time zone; empty when unknown.
	Zone string
	// Payer is in whose day the turn's tokens count, where its actor is no person.
	Payer chat.Actor
	// Bot is the bot's own user id, so that the prompt can say "you".
	Bot chat.UserID
	// Before are the entries that stand before the turn's own: history and
	// thread, already cut to what this actor may see. Note says what is
	// missing in front of them.
	Before []chat.Entry
	Note   string
	// Own are the turn's own entries so far: requests, steers, answers, tool
	// calls and results, in their order.
	Own []chat.Entry
	// Tokens and Steps are what earlier runs of this turn have spent.
	Tokens int
	Steps  int
	// Offered are the names of the tools that were fixed at the turn's first
	// claim; nil offers every tool there is.
	Offered []string
	// Waited is the turn's last wait and how it ended; nil: it has not waited.
	Waited *Waited
}

// Waited is a wait that is over.
type Waited struct {
	ID string
	chat.Asking
	chat.Ending
}

// Log is where the loop writes. Each method is one durable step under the
// turn's fence; an error means that this run is over (the lease is lost, or
// the store is away) and is returned unchanged by Run.
type Log interface {
	// Commit writes entries (a model's answer with its tool calls) before
	// what they ask for is done.
	Commit(ctx context.Context, entries ...chat.Entry) error
	// Boundary writes entries (tool results) and takes the steers that wait,
	// in one step. The steers returned are already in the log.
	Boundary(ctx context.Context, entries ...chat.Entry) (steers []chat.Entry, err error)
	// Park writes entries (results) and lets the turn wait for what is asked, in
	// one step. parked is false, and nothing is written, when a steer waits: it
	// is to be read first. A *CannotAsk says that nobody can be asked.
	Park(ctx context.Context, asking chat.Asking, entries ...chat.Entry) (parked bool, err error)
	// Held ends when the run may write no more. A stop ends the run's own
	// context, and not this one.
	Held() context.Context
	// Steered reports whether a steer is known to wait, without asking the
	// store: it may miss one for a moment, never for long.
	Steered() bool
	// Close writes the final answer, queues it for posting and ends the turn
	// as done, unless a steer waits: then the answer is posted all the same,
	// the steers are taken, closed is false and the loop goes on.
	Close(ctx context.Context, answer chat.Entry) (steers []chat.Entry, closed bool, err error)
}

// CannotAsk is why a turn's actor cannot be asked for something.
type CannotAsk struct{ Why string }

func (e *CannotAsk) Error() string { return e.Why }

// Model is a language model that answers one request at a time.
type Model interface {
	// Complete sends one request and returns the whole answer. It retries
	// what may pass, bounded in number and in total time, and never returns a
	// broken half as an answer. A *Failure says why no answer came.
	Complete(ctx context.Context, req Request) (Reply, error)
}

// Message is one message of a request.
type Message struct {
	Role    chat.Role // UserRole, AssistantRole, ToolRole
	Content string
	Calls   []chat.ToolCall
	CallID  string // of a tool message
}

// ToolSpec offers one tool to the model.
type ToolSpec = plugins.Spec

// Request is one request to a model.
type Request struct {
	System   string
	Messages []Message
	Tools    []ToolSpec
	// MaxTokens bounds the answer; 0 leaves it to the provider.
	MaxTokens int
	// Schema is the JSON that the answer is asked to be; nil: any text. A
	// provider that cannot promise it is asked without: check what comes.
	Schema json.RawMessage
}

// Reply is one whole answer.
type Reply struct {
	Text   string
	Calls  []chat.ToolCall
	Tokens int // prompt and completion together; 0 when the provider did not say
}

// Failure is why a turn ends without an answer. Its kind decides what its
// actor is told; Cause is for the log alone and never shown.
type Failure struct {
	Kind  FailureKind
	Cause error
}

// FailureKind names a reason to end a turn as failed.
type FailureKind string

const (
	// ModelRefused: a permanent error of the model's provider.
	ModelRefused FailureKind = "model_refused"
	// ModelUnreachable: retries are used up.
	ModelUnreachable FailureKind = "model_unreachable"
	// RetryTooLong: the provider asked for a longer wait than is allowed.
	RetryTooLong FailureKind = "retry_too_long"
	// StepsSpent, TimeSpent, TokensSpent: a budget of the turn is used up.
	StepsSpent  FailureKind = "steps_spent"
	TimeSpent   FailureKind = "time_spent"
	TokensSpent FailureKind = "tokens_spent"
	// DaySpent: the actor's turns have used up what they may in a day.
	DaySpent FailureKind = "day_spent"
	// TooLong: the request does not fit the model's context.
	TooLong FailureKind = "too_long"
	// Internal: a fault of ours.
	Internal FailureKind = "internal"
)

func (f *Failure) Error() string {
	if f.Cause == nil {
		return string(f.Kind)
	}
	return string(f.Kind) + ": " + f.Cause.Error()
}

func (f *Failure) Unwrap() error { return f.Cause }

// Tools is the gate in front of every tool.
type Tools interface {
	// Offered are tools, in a fixed order: those of the names given, or all
	// when it is nil.
	Offered(names []string) []ToolSpec
	// Weigh says what a call needs before it may be made. It never fails, and
	// makes no call.
	Weigh(ctx context.Context, asked plugins.Asked) plugins.Weighed
	// Decided keeps a record of what the turn's actor has decided.
	Decided(ctx context.Context, run plugins.Run, d chat.Decision) error
	// Call answers one call. It never fails: whatever goes wrong is a result
	// that the model can read.
	Call(ctx context.Context, asked plugins.Asked) plugins.Result
}
