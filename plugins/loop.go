package plugins

import (
	"encoding/json"
	"slices"

	"reeve/runtime/chat"
)

// What the loop, the gate and the runtime say to each other. No plugin needs it.

// Spec is a tool as it is offered to the model.
type Spec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema
	// Effect is for the loop, which must not repeat every call after a crash;
	// the model does not see it.
	Effect Effect
	// Provider names whose rights a call spends, so that its result can say whose.
	Provider string
	// Sends: a call can carry data out.
	Sends bool
}

// Asked is a call that the model asks for, with all that decides over it.
type Asked struct {
	// Run is as it was when the model asked: before any call of the same answer.
	Run  Run
	Call chat.ToolCall
	// Before is how many calls the turn had asked for before this one.
	Before int
	// Offered are the names of the tools that were fixed for the turn; nil: all.
	Offered []string
}

// Weighed is what the gate says of a call before the loop writes into the log
// that it may be made. It is zero for a call that may.
type Weighed struct {
	// Result answers a call that will not be made.
	Result *Result
	// Ask: the turn's actor has to be asked about it first.
	Ask *chat.Question
	// Connect: he has to connect an account first.
	Connect *Connect
}

// Connect is the account that a call lacks.
type Connect struct {
	Provider string
	Scopes   []string // that the call needs, in the provider's words
	Lacking  []string // of these, what a connected account has not granted
}

// EntryOf is an entry as plugins see it in a run of actor.
func EntryOf(e chat.Entry, actor chat.Actor) Entry {
	author, principal := e.Author(), chat.Actor{}
	if e.Principal != nil {
		principal = *e.Principal
	}
	return Entry{
		ID: e.ID, Turn: e.Turn, Role: e.Role, Origin: e.Origin, Author: author, Name: e.Name,
		Authority: e.Authority(), ByRunActor: !author.IsZero() && author == actor, Private: e.Private,
		Text: e.Text, Time: e.Time, Message: e.Message, File: e.File, Calls: e.Calls, Tool: e.Tool, Failed: e.Failed, Principal: principal,
		Decision: e.Decision,
	}
}

// Copy is a run of its own for one plugin's function: what that changes in it,
// such as by filtering the transcript in place, no other function sees, and
// nothing that is decided by it.
func (r Run) Copy() Run {
	r.Actors, r.Contributors, r.Transcript = slices.Clone(r.Actors), slices.Clone(r.Contributors), slices.Clone(r.Transcript)
	for i, e := range r.Transcript {
		if e.Message != nil {
			message := *e.Message
			r.Transcript[i].Message = &message
		}
		if e.File != nil {
			file := *e.File
			r.Transcript[i].File = &file
		}
		r.Transcript[i].Calls = slices.Clone(e.Calls)
	}
	return r
}

// CallKey names one call of a turn for good.
func CallKey(turn chat.TurnID, call string) string { return string(turn) + "/" + call }

// TaskKey names one task of a turn for good.
func TaskKey(plugin, task string, turn chat.TurnID) string {
	return plugin + "/" + task + "/" + string(turn)
}
