package runtime

import (
	"context"
	"log/slog"
	"time"

	"reeve/agent"
	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Agent runs the loop of one turn. A nil error means that the log said closed;
// an *agent.Failure ends the turn as failed; the log's own errors and the
// context's cause come back unchanged.
type Agent interface {
	Run(ctx context.Context, turn agent.Turn, log agent.Log) error
}

// Options are what a Runtime is made of. Zero durations and numbers mean the
// shipped values.
type Options struct {
	Box    *mailbox.Box
	Slack  Slack
	Agent  Agent
	Policy Policy
	// Bot is the bot's own user id.
	Bot chat.UserID
	// Tools names the tools that a new turn of a person's is offered, or, for any
	// actor who is none, of a system actor's. Nil: all there are, and none.
	Tools func(chat.Actor) []string
	// Place is who can read a conversation, if a person and the bot are in it still.
	// A plugins.Refusal says in a sentence why not. Nil: nobody asks.
	Place func(ctx context.Context, who chat.Actor, in chat.Conversation) (chat.Visibility, error)
	// Sections are what plugins add to the prompt of a turn, asked once, before
	// its first model call: entries of the origin Section, with their ids. May
	// be nil.
	Sections func(ctx context.Context, run plugins.Run) []chat.Entry
	// Tasks are the completed-turn tasks of plugins.
	Tasks []Task
	// Store is where a plugin keeps what it stores for a person, or, for the zero
	// actor, for all. Nil: tasks have no store.
	Store func(plugin string, owner chat.Actor) plugins.Store
	// Router is asked about messages that come while a turn runs, where the policy
	// says so. Nil: nobody is.
	Router Router
	// Links are how people connect accounts. Nil: they cannot.
	Links Links
	// Decided keeps a record of what somebody has answered, once however often it is
	// told. Nil: only the run that goes on keeps one.
	Decided func(ctx context.Context, run plugins.Run, d chat.Decision) error
	// ConsentTimeout is how long a turn waits for its actor; 1 h.
	ConsentTimeout time.Duration
	// MaxTasks is how many tasks are tried at once in this process; 8.
	MaxTasks int
	// TaskPause is the pause after a task's first try; 5 s.
	TaskPause time.Duration
	// MaxRunning is how many turns run at once in this process; 500.
	MaxRunning int
	// MaxAttempts is how many workers a turn may lose without progress; 5.
	MaxAttempts int
	// TurnTimeout bounds the time that a turn runs, over all its runs; 15 min.
	TurnTimeout time.Duration
	// HistoryTokens bounds the history that is read for a turn, from its actor's
	// last summary on, at 3 bytes a token; 25,000. The agent shows what fits its
	// prompt and summarises the rest.
	HistoryTokens int
	// RenewEvery is how often leases are renewed; 3 s.
	RenewEvery time.Duration
	// ShutdownGrace is what a call in flight is given at the end; 10 s.
	ShutdownGrace time.Duration
	// SweepEvery is the pause between sweeps over what leases do not find; a
	// minute.
	SweepEvery time.Duration
	// Count is told what happens, for metrics; may be nil. See the Count
	// constants.
	Count  func(name, label string, n int)
	Logger *slog.Logger
}

func (o Options) filled() Options {
	if o.MaxRunning == 0 {
		o.MaxRunning = 500
	}
	if o.ConsentTimeout == 0 {
		o.ConsentTimeout = time.Hour
	}
	if o.MaxTasks == 0 {
		o.MaxTasks = 8
	}
	if o.TaskPause == 0 {
		o.TaskPause = 5 * time.Second
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 5
	}
	if o.TurnTimeout == 0 {
		o.TurnTimeout = 15 * time.Minute
	}
	if o.HistoryTokens == 0 {
		o.HistoryTokens = 25_000
	}
	if o.RenewEvery == 0 {
		o.RenewEvery = 3 * time.Second
	}
	if o.ShutdownGrace == 0 {
		o.ShutdownGrace = 10 * time.Second
	}
	if o.SweepEvery == 0 {
		o.SweepEvery = time.Minute
	}
	if o.Count == nil {
		o.Count = func(string, string, int) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
