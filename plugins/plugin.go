// Package plugins is the contract between Reeve and what extends it. This file
// is what a plugin's author needs, but for what few do: work that is due at a time
// (due.go) and providers that a plugin finds while it runs (providers.go).
// plugins/echo is the example to copy, and docs/plugins.md takes one from nothing
// to a tested plugin.
//
// A plugin's life: a main lists it; at start it is opened once, with the
// services that it may use, and answers what it adds: tools, prompt sections,
// completed-turn tasks, background work. From then on its functions are called
// from many goroutines at once. A panic, a hang or an oversized result costs
// that call alone.
//
// Who is who: every run acts for one person, Run.Actor, and for nobody else,
// whatever is written in the thread, in arguments or in results. What a Run
// says of itself (turn, conversation, actor, contributors) is authority. Its
// transcript is evidence: Run.Instruction is the one test for what its actor
// asked for, and everything else is context.
package plugins

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"reeve/runtime/chat"
)

// Plugin is a named extension of the bot.
type Plugin interface {
	// Name is unique among the plugins: lower-case letters, digits and "_".
	Name() string
	// Open is called once, at start. It does not wait for the network: what
	// takes time belongs into Extension.Run. An error stops the start and is
	// shown to the operator; so does an Open that takes 30 s.
	Open(ctx context.Context, services Services) (Extension, error)
}

// Extension is what a plugin adds. Every field may be left out.
type Extension struct {
	Tools    []Tool
	Sections []Section
	Tasks    []Task
	Home     *Home
	// Run works in the background until ctx ends, such as a connection that is
	// kept open. An error is logged, and Run is called again after a pause.
	Run func(ctx context.Context) error
	// SharedStore makes Call.Store and Ended.Store one store for all people.
	// Otherwise each person has one of his own.
	SharedStore bool
}

// Services are what a plugin may use of its host.
type Services struct {
	Log *slog.Logger
	Now func() time.Time
	// Settings fills a struct from the environment variables that begin with
	// the plugin's name in capitals and "_", by its `env` and `envDefault` tags
	// (github.com/caarlos0/env). The error names the variable.
	Settings func(into any) error
	// HTTP makes a client that reaches only these hosts, on public addresses.
	// A host is a name without a port; "*.example.com" is any name below it.
	HTTP func(hosts ...string) *http.Client
	// Offer replaces the plugin's tools, from the next turn on. An error leaves
	// those that it had.
	Offer func(tools []Tool) error
	// Store is the plugin's own store of a person, or, for nobody, one for all
	// beside these: for work in the background, and in the home tab.
	Store func(person chat.Actor) Store
	// Start begins a turn of the system actor chat.Scheduler, which spends nobody's
	// rights. It begins once for a key and a time, however often and from whichever
	// replica it is asked for: started=false says that it had begun before. A
	// Refusal says that it never can, since whoever asked for it, or the place, is
	// gone: that was told where it could be, and is to be asked for no more. After
	// any other error, ask again later.
	Start func(ctx context.Context, due Due) (started bool, err error)
	// Providers are where people connect accounts, for a plugin that learns of one
	// only while it runs; nil: people cannot connect accounts by a link here.
	Providers Providers
}

// Effect says what happens when a call is made twice.
type Effect string

const (
	Pure       Effect = "pure"       // changes nothing outside; made again after a crash
	Idempotent Effect = "idempotent" // the same Call.Key changes things once; made again after a crash
	Once       Effect = "once"       // never made again; its outcome may remain unknown
)

// Access says whether a call reads or changes something.
type Access string

const (
	Read  Access = "read"
	Write Access = "write"
)

// Tool is one function that the model may ask for. Build it with NewTool.
//
// Effect, Access, Sends and Provider decide when a call is made at all: the
// gate compares them with who has written into the turn. What a tool declares
// must hold for every call of it; when in doubt, declare more.
type Tool struct {
	// Name is unique among all tools: lower-case letters, digits and "_".
	Name        string
	Description string
	Effect      Effect
	Access      Access
	// Sends: the call can carry data out, to where strangers may read it. A
	// request for a URL that the model writes does.
	Sends bool
	// Host is where a call that sends would send to, so that a person can be
	// asked about it; nil: the plugin is one host. An error refuses the call.
	Host func(arguments json.RawMessage) (string, error)
	// Asks reports whether the turn's actor is asked about a call in any case, such
	// as one that deletes much; nil: what the gate's table says is enough. Without
	// waiting for anything.
	Asks func(arguments json.RawMessage) bool
	// Provider names whose rights the call spends, where only somebody may do
	// what it does: an account, a token of the bot's, a secret. Empty: nobody's.
	Provider string
	// Account: people connect accounts at the provider, and the call gets that of
	// the turn's actor as Call.Account. He is asked to connect one where he has
	// none, or one that has not granted the Scopes, which are the provider's words.
	Account bool
	Scopes  []string
	// MoreScopes are those that this very call needs besides, such as what its
	// provider has refused it for; nil: none. What it says holds for this call of its
	// turn's actor, and for nothing else. An error refuses the call.
	MoreScopes func(ctx context.Context, call Call) ([]string, error)
	// Timeout bounds one call; zero means 30 s, and MaxTimeout is the most.
	Timeout time.Duration
	// Parameters is the JSON schema of the arguments.
	Parameters json.RawMessage
	// Call runs the tool. Arguments have passed the schema. An error is shown
	// to the model.
	Call func(ctx context.Context, call Call, arguments json.RawMessage) (Result, error)
}

// Call is one call of a tool, or one rendering of a section.
type Call struct {
	Run
	// Key names this call for good: the same call, made again after a crash,
	// has the same key.
	Key   string
	Store Store
	// Slack reads in Slack for the actor; nil unless the tool's provider is
	// SlackProvider.
	Slack Slack
	// Account is the turn's actor's own at the tool's provider; nil unless the
	// tool says that it needs one.
	Account *Account
}

// Allowed reports whether the turn's actor was asked about this very call and has
// allowed it.
func (c Call) Allowed() bool {
	for _, e := range c.Transcript {
		if e.Origin != chat.Consent || e.Turn != c.Turn || e.Decision == nil {
			continue
		}
		for _, d := range e.Decision.Calls {
			if d.Allowed && d.Rule != chat.RuleConnect && CallKey(c.Turn, d.Call) == c.Key {
				return true
			}
		}
	}
	return false
}

// Account is somebody's account at a provider, for one call. It holds nothing
// that could be kept: its clients work until the call ends.
type Account struct {
	// ID is the account's at its provider, for good, and Name what people call it.
	ID, Name string
	// Scopes are what it has granted, in the provider's words, as far as that says.
	Scopes []string
	// HTTP speaks to the provider's own hosts with the rights of the account. For
	// a call that reads it sends GET and HEAD, and POST only where the provider
	// is known to read with it. What it refuses is an error that says so.
	HTTP *http.Client
	// App speaks with the rights that the bot itself has at the provider in a
	// place (such as the owner of a repository). ok is false where it has none.
	// Before a call changes anything with it, it asks HTTP whether the account
	// may do that itself. Nil for a call that reads.
	App func(ctx context.Context, place string) (client *http.Client, ok bool, err error)
}

// Result is what a tool gives back to the model.
type Result struct {
	Text string
	// Error: the call did not do what was asked; Text says why, to the model.
	Error bool
	// Unknown: nobody knows whether it did, such as when an answer was lost; Text
	// says so. The audit log does then, too.
	Unknown bool
	// Private: the result is for the turn's actor alone. That of a call with a
	// provider always is.
	Private bool
	// DM is Markdown for the turn's actor alone, which is sent to him as a
	// direct message. The model does not read it.
	DM string
}

// Section adds information to the prompt, once a turn, before its first model
// call. It is shown as context, whatever it says, and cut to its budget.
type Section struct {
	// Name is unique in its plugin.
	Name string
	// Tokens is the budget: at most 4,000, and 500 when zero.
	Tokens int
	// Render has 5 s. An error leaves the section out.
	Render func(ctx context.Context, call Call) ([]Note, error)
}

// Note is one piece of a section.
type Note struct {
	Text string
	// Author is who wrote it, if a person did.
	Author chat.Actor
	Time   time.Time
	// Private: for the turn's actor alone. In a conflict it leaves the prompt.
	Private bool
}

// Task is work after a turn: it is scheduled in the step that ends the turn,
// and runs after the answer was delivered, at least once. It spends nobody's
// rights and calls no tools.
type Task struct {
	// Name is unique in its plugin and never changes: tasks outlive the process.
	Name string
	// Wants says, without waiting for anything, whether a turn needs the task.
	// Nil: every turn that is done.
	Wants func(Ended) bool
	// Timeout bounds one try; zero means 1 min, and MaxTimeout is the most.
	Timeout time.Duration
	// Run does it. After an error it is tried again, with growing pauses, 8
	// times in all; then it is set aside for the operator.
	Run func(ctx context.Context, ended Ended) error
}

// Ended is a turn that has ended, or, in Wants, is about to. Its transcript is that
// turn's alone: earlier turns are not in it.
type Ended struct {
	Run
	Outcome Outcome
	// Key names this task of this turn for good, over all its tries.
	Key   string
	Try   int // from 1
	Store Store
}

// Home is a list in the bot's home tab in Slack, for each person his own.
type Home struct {
	Title string
	// Items are what a person sees, best first: about 40 of them have room.
	Items func(ctx context.Context, person chat.Actor) ([]chat.HomeItem, error)
	// Act does what a button says, durably, before it returns, and once when it
	// is pressed twice. The person is proven; the item's id is whatever came
	// over the wire. dm is Markdown that the person is sent.
	Act func(ctx context.Context, person chat.Actor, button, item string) (dm string, err error)
}

// Outcome is how a turn ended.
type Outcome string

const (
	Done      Outcome = "done"
	Failed    Outcome = "failed"
	Stopped   Outcome = "stopped"
	Abandoned Outcome = "abandoned"
)

// Run is what a plugin may know of the run that it works for.
type Run struct {
	Turn         chat.TurnID
	Conversation chat.Conversation
	Visibility   chat.Visibility
	// Actor is whom the run acts for; he is the principal of every call.
	Actor chat.Actor
	// Zone is the actor's IANA time zone; empty when unknown.
	Zone string
	// Actors are the distinct authors of the run's instructions: attribution,
	// never permission.
	Actors []chat.Actor
	// Contributors are the distinct other authors whose text was steered into
	// the run, first seen first. Nobody knows who the zero Actor is.
	Contributors []chat.Actor
	// Transcript is what this actor may see of what was said and done before
	// this moment: earlier turns, the thread, and this turn so far.
	Transcript []Entry
}

// Conflict: somebody else's text was steered into the run.
func (r Run) Conflict() bool { return len(r.Contributors) > 0 }

// Instruction reports whether an entry is what the run's actor has asked for in
// this turn. It is the one test for whatever only he may decide.
func (r Run) Instruction(e Entry) bool {
	return e.Authority == chat.Instruction && e.ByRunActor && e.Turn == r.Turn && r.Turn != ""
}

// Entry is one entry of a transcript.
type Entry struct {
	ID   string
	Turn chat.TurnID
	Role chat.Role
	// Origin is where the text comes from.
	Origin chat.Origin
	// Author wrote it; zero where nobody is known to.
	Author chat.Actor
	// Name is the author's display name, chosen by himself: for showing only.
	Name      string
	Authority chat.Authority
	// ByRunActor: its author is the run's actor.
	ByRunActor bool
	// Private entries are for their turn's actor alone.
	Private bool
	Text    string
	Time    time.Time
	Message *chat.MessageID // nil: it is no message
	File    *chat.File
	Calls   []chat.ToolCall // of the model
	Tool    string          // whose result it is
	Failed  bool
	// Principal is whose rights a result has spent; zero: nobody's.
	Principal chat.Actor
	// Decision is what the run's actor said when he was asked about calls.
	Decision *chat.Decision
}

// Store keeps a plugin's own data: at most 1,000 keys a store, a key of up to
// 256 bytes and a value of up to 64 KiB. Errors are those of the network, or
// say which limit was met. Each method is one round trip.
type Store interface {
	// Get answers found=false for a key that is not there.
	Get(ctx context.Context, key string) (value []byte, found bool, err error)
	Set(ctx context.Context, key string, value []byte) error
	// Add sets a key that is not there; added=false: it was, and is unchanged.
	Add(ctx context.Context, key string, value []byte) (added bool, err error)
	// Delete of a key that is not there is no error.
	Delete(ctx context.Context, key string) error
	// Keys are all keys, in order.
	Keys(ctx context.Context) ([]string, error)
}

// SlackProvider is the provider of tools that read in Slack with the bot's own
// token.
const SlackProvider = "slack"

// Slack reads in Slack for the person that one call is made for: only where he
// and the bot are members, asked anew for each reading. Every error is fit for
// the model; a Refusal is a sentence that says why not, and never tells a place
// that does not exist from one that he cannot see.
type Slack interface {
	// Messages are the newest ones of a place, oldest first. more: there are
	// older ones, or may be.
	Messages(ctx context.Context, in SlackPlace) (messages []SlackMessage, more bool, err error)
	// Message is one message. thread is the first of its thread, where known.
	Message(ctx context.Context, channel string, thread, ts chat.TS) (SlackMessage, error)
	// Person is an account of the bot's workspace.
	Person(ctx context.Context, user chat.UserID) (SlackPerson, error)
}

// Refusal is why somebody may not have what he asked for, as a sentence.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// SlackPlace is a part of a channel, or of one thread in it.
type SlackPlace struct {
	Channel string  // its id, or its name
	Thread  chat.TS // empty: the channel's top level
	Before  chat.TS // empty: the newest messages
	Limit   int     // how many messages; at most 100
}

// SlackMessage is a message as it was read, with what came with it. Nobody
// instructs with it.
type SlackMessage struct {
	chat.Message
	Replies int // below it, when it begins a thread
}

// SlackPerson is what Slack says of an account.
type SlackPerson struct {
	ID          chat.UserID
	Name        string // the display name
	RealName    string
	Title       string
	Zone        string // IANA; empty when unknown
	Bot         bool
	Guest       bool
	Deactivated bool
}
