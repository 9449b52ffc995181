package plugintest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Turn is a turn of one person, in which a test plays what happens. It belongs
// to one goroutine.
type Turn struct {
	// Zone, Conversation and Visibility may be changed before the first call.
	Zone         string
	Conversation chat.Conversation
	Visibility   chat.Visibility

	host   *Host
	id     chat.TurnID
	actor  chat.Actor
	before []chat.Entry // what stood there when the turn began
	own    []chat.Entry
	calls  int
}

// As begins a turn of a person in a public channel, with what he asks.
func (h *Host) As(actor chat.Actor, request string) *Turn {
	h.mu.Lock()
	h.turns++
	n := h.turns
	h.mu.Unlock()
	turn := &Turn{
		Conversation: chat.Conversation{Team: actor.Team, Channel: "C0PLAY", Root: "1700000000.000100"},
		Visibility:   chat.Public,
		host:         h, id: chat.TurnID(fmt.Sprintf("t_%026d", n)), actor: actor,
	}
	turn.said(&turn.own, actor, chat.Instruction, chat.Request, request)
	return turn
}

// Sees puts text into what stands before the turn: of the thread, of its
// history, a quote. It is context, whoever wrote it.
func (t *Turn) Sees(origin chat.Origin, author chat.Actor, text string) *Turn {
	t.said(&t.before, author, chat.Context, origin, text)
	return t
}

// Says is a steer of the turn's own actor.
func (t *Turn) Says(text string) *Turn {
	t.said(&t.own, t.actor, chat.Instruction, chat.Steer, text)
	return t
}

// Steers is a steer of somebody else: the turn is in a conflict from now on.
func (t *Turn) Steers(author chat.Actor, text string) *Turn {
	authority := chat.Context
	if author == t.actor {
		authority = chat.Instruction
	}
	t.said(&t.own, author, authority, chat.Steer, text)
	return t
}

func (t *Turn) said(list *[]chat.Entry, author chat.Actor, authority chat.Authority, origin chat.Origin, text string) {
	e := t.entry(chat.UserRole, origin, text)
	if !author.IsZero() {
		e.Provenance = &chat.Provenance{Authority: authority, Author: &author}
	}
	e.Message = &chat.MessageID{Team: t.actor.Team, Channel: t.Conversation.Channel, TS: chat.TSOf(e.Time.Add(time.Duration(len(t.before)+len(t.own)) * time.Millisecond))}
	switch origin {
	case chat.Thread:
		e.Turn = ""
	case chat.History:
		e.Turn = earlier
	}
	*list = append(*list, e)
}

// earlier is the turn that history is of.
const earlier chat.TurnID = "t_00000000000000000000000000"

func (t *Turn) entry(role chat.Role, origin chat.Origin, text string) chat.Entry {
	return chat.Entry{
		ID: fmt.Sprintf("%s.%d", t.id, len(t.before)+len(t.own)), Turn: t.id, Role: role, Origin: origin, Text: text, Time: t.host.Now(),
	}
}

// Run is the turn as the plugin sees it now.
func (t *Turn) Run() plugins.Run {
	run := plugins.Run{
		Turn: t.id, Conversation: t.Conversation, Visibility: t.Visibility, Actor: t.actor, Zone: t.Zone,
		Actors: chat.Actors(t.own), Contributors: chat.Contributors(t.own, t.actor),
	}
	for _, e := range slices.Concat(t.before, t.own) {
		run.Transcript = append(run.Transcript, plugins.EntryOf(e, t.actor))
	}
	return run
}

// Call is what a section is given, and a tool that does not read in Slack.
func (t *Turn) Call() plugins.Call {
	return plugins.Call{Run: t.Run(), Key: plugins.CallKey(t.id, fmt.Sprintf("call_%d", t.calls)), Store: t.host.Store(t.actor)}
}

// callOf is what a call of a tool is given. Its end takes the account away; an
// error of it is what no plugin may do.
func (t *Turn) callOf(tool plugins.Tool) (call plugins.Call, end func() error) {
	call = t.Call()
	if tool.Provider == plugins.SlackProvider {
		call.Slack = t.host.options.slack
	}
	call.Account, end = t.host.account(tool, t.actor)
	return call, end
}

// Calls is a call that the model asks for: arguments are JSON, or a value to be
// written as JSON. The result is what the model is shown; that of arguments that do
// not fit the schema says so, and the tool is not run. What a plugin must not do
// (panic, not come back) ends the test.
func (t *Turn) Calls(tool string, arguments any) plugins.Result {
	t.host.t.Helper()
	found, ok := find(t.host.Extension().Tools, tool)
	if !ok {
		t.host.t.Fatalf("plugin %s has no tool %q", t.host.plugin.Name(), tool)
	}
	written, err := written(arguments)
	if err != nil {
		t.host.t.Fatalf("arguments of %s: %v", tool, err)
	}
	t.calls++
	call := chat.ToolCall{ID: fmt.Sprintf("call_%d", t.calls), Tool: tool, Arguments: string(written)}
	given, end := t.callOf(found)
	asked := t.entry(chat.AssistantRole, chat.CallOrigin, "")
	asked.Calls = []chat.ToolCall{call}
	t.own = append(t.own, asked)

	var result plugins.Result
	if checked, problem := fit(found, written); problem != nil {
		result = plugins.Result{Error: true, Text: problem.Error()}
	} else if result, err = do(t.host.t.Context(), found, given, end, checked); err != nil {
		t.host.t.Fatal(err)
	}
	e := t.entry(chat.ToolRole, chat.Result, result.Text)
	e.CallID, e.Tool, e.Failed, e.Private = call.ID, tool, result.Error, result.Private
	if found.Provider != "" {
		e.Principal = &t.actor
	}
	t.own = append(t.own, e)
	return result
}

// Notes are what a section of the plugin adds to the turn's prompt. An error
// leaves the section out of a prompt, and so ends the test.
func (t *Turn) Notes(section string) []plugins.Note {
	t.host.t.Helper()
	for _, s := range t.host.Extension().Sections {
		if s.Name == section {
			t.calls++
			notes, err := render(t.host.t.Context(), s, t.Call())
			if err != nil {
				t.host.t.Fatal(err)
			}
			return notes
		}
	}
	t.host.t.Fatalf("plugin %s has no section %q", t.host.plugin.Name(), section)
	return nil
}

// Ends ends the turn, and runs the plugin's tasks for it, once. It answers the
// names of those that were wanted, and their errors.
func (t *Turn) Ends(outcome plugins.Outcome) (wanted []string, err error) {
	var wrong []error
	for _, task := range t.host.Extension().Tasks {
		ended := t.Ended(task.Name, outcome)
		if !wants(task, ended) {
			continue
		}
		wanted = append(wanted, task.Name)
		wrong = append(wrong, work(t.host.t.Context(), task, ended))
	}
	return wanted, errors.Join(wrong...)
}

// Ended is what a task of the turn is given, at its first try.
func (t *Turn) Ended(task string, outcome plugins.Outcome) plugins.Ended {
	return plugins.Ended{
		Run: t.Run(), Outcome: outcome, Key: plugins.TaskKey(t.host.plugin.Name(), task, t.id), Try: 1, Store: t.host.Store(t.actor),
	}
}
