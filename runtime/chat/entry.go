package chat

import (
	"encoding/json"
	"slices"
	"time"
)

// Authority says what an entry counts for in a turn.
type Authority string

const (
	// Instruction may be acted on: an addressed message of the turn's actor,
	// in the turn that took it in.
	Instruction Authority = "instruction"
	// Context is evidence only.
	Context Authority = "context"
)

// Provenance is the authority and author of one entry. The runtime writes it;
// it is never parsed out of text.
type Provenance struct {
	Authority Authority `json:"authority"`
	// Author is nil where nobody is known to have written the entry.
	Author *Actor `json:"author,omitempty"`
}

// UnmarshalJSON reads provenance. What is none, or has an author of another
// form than ours, gives nobody's words no authority.
func (p *Provenance) UnmarshalJSON(raw []byte) error {
	var read struct {
		Authority any    `json:"authority"`
		Author    *Actor `json:"author"`
	}
	*p = Provenance{Authority: Context}
	if json.Unmarshal(raw, &read) != nil || read.Author == nil || !read.Author.IsWhole() {
		return nil
	}
	p.Author = read.Author
	if read.Authority == string(Instruction) {
		p.Authority = Instruction
	}
	return nil
}

// Origin says how an entry came into its turn.
type Origin string

const (
	Request    Origin = "request"
	Steer      Origin = "steer"
	Thread     Origin = "thread"
	History    Origin = "history"
	Quoted     Origin = "quoted"
	FileOrigin Origin = "file"
	CallOrigin Origin = "tool_call"
	Result     Origin = "tool_result"
	Answer     Origin = "answer"
	Summary    Origin = "summary"
	Consent    Origin = "consent"
	// Memory is recalled text; it is foreign text like any other.
	Memory Origin = "memory"
	// Section is what a plugin adds to the prompt of one turn.
	Section Origin = "section"
	// Begun holds what was fixed when its turn began to run. It is the
	// runtime's own, and in no transcript.
	Begun Origin = "begun"
)

// Role is the side of the exchange with the model on which an entry stands.
type Role string

const (
	UserRole      Role = "user"
	AssistantRole Role = "assistant"
	ToolRole      Role = "tool"
)

// Entry is one item of a transcript. It is stored once, as it was in its own
// turn.
type Entry struct {
	// ID is unique. Where none is stored it is "TURN.POSITION", by the place in
	// the turn's log, with ".PIECE" where that place holds several.
	ID         string      `json:"id,omitempty"`
	Turn       TurnID      `json:"turn,omitempty"`
	Role       Role        `json:"role"`
	Origin     Origin      `json:"origin"`
	Text       string      `json:"text,omitempty"`
	Provenance *Provenance `json:"provenance,omitempty"`
	// Private entries are for their turn's actor alone.
	Private bool `json:"private,omitempty"`
	// Posted: the text stands (or will stand) in Slack. Text beside tool
	// calls is kept and not posted.
	Posted  bool       `json:"posted,omitempty"`
	Message *MessageID `json:"message,omitempty"`
	// Corrects: the text is what Message reads since an edit of it, which came
	// after it was read.
	Corrects bool `json:"corrects,omitempty"`
	// Name is the author's display name when it was known: for showing only.
	Name string    `json:"name,omitempty"`
	Time time.Time `json:"time,omitzero"`
	File *File     `json:"file,omitempty"`
	// DM is what the turn's actor is told by direct message in the step that
	// writes the entry. It is no part of the transcript.
	DM string `json:"-"`
	// Calls are the tool calls of an assistant entry.
	Calls []ToolCall `json:"calls,omitempty"`
	// Held are the ids of calls that were not to be made when the entry was written:
	// somebody had to be asked first, or they were refused. A later entry's Decision
	// says which of them may be.
	Held []string `json:"held,omitempty"`
	// Decision is what a consent entry records.
	Decision *Decision `json:"decision,omitempty"`
	// CallID and Tool name the call that a tool result answers.
	CallID string `json:"call_id,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Failed: the call did not do what was asked, or nobody knows.
	Failed bool `json:"failed,omitempty"`
	// Principal is whose rights a tool's result has spent, or may have spent
	// where its outcome is unknown. Nil: nobody's.
	Principal *Actor `json:"principal,omitempty"`
	// Tokens is what the model call behind an entry used, prompt and completion
	// together.
	Tokens int `json:"tokens,omitempty"`
	// Covers is what a summary stands for.
	Covers *Range `json:"covers,omitempty"`
	// Closing is the closing number of the turn from which the entry is shown,
	// in a later one.
	Closing int64 `json:"-"`
}

// Range is what a summary was made of: closed turns of its conversation, by
// closing number, as its reader may see them. It is for him alone.
type Range struct {
	From   int64 `json:"from"`
	To     int64 `json:"to"`
	Reader Actor `json:"reader"`
}

// Includes reports whether the range stands for an entry: one of its closed
// turns, or an earlier summary of them.
func (r Range) Includes(e Entry) bool {
	if e.Origin == Summary {
		return e.Covers != nil && e.Covers.To <= r.To
	}
	return e.Closing > 0 && e.Closing <= r.To
}

// ToolCall is one call that the model asked for.
type ToolCall struct {
	ID        string `json:"id"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // as the model wrote them; unchecked JSON
}

// Authority is the entry's authority; without provenance it is Context.
func (e Entry) Authority() Authority {
	if e.Provenance != nil && e.Provenance.Authority == Instruction && !e.Author().IsZero() {
		return Instruction
	}
	return Context
}

// Author is who wrote the entry; the zero Actor when nobody is known, or what
// stands there names nobody.
func (e Entry) Author() Actor {
	if e.Provenance == nil || e.Provenance.Author == nil || !e.Provenance.Author.IsWhole() {
		return Actor{}
	}
	return *e.Provenance.Author
}

// Shown is the entry as it stands in another turn: history, and context.
func (e Entry) Shown() Entry {
	author := e.Author()
	e.Origin = History
	e.Provenance = &Provenance{Authority: Context}
	if !author.IsZero() {
		e.Provenance.Author = &author
	}
	return e
}

// Entries is what a message becomes in a turn: first one entry of the given
// authority for the text that its author typed, and then one context entry for
// each piece that he did not type. The first is there even where he typed
// nothing: it alone says who sent what came with it, and how it entered.
func (m Message) Entries(turn TurnID, authority Authority, origin Origin) []Entry {
	id, author := m.ID, m.Author
	if m.Corrects != nil {
		id = *m.Corrects
	}
	base := Entry{Turn: turn, Role: UserRole, Message: &id, Time: m.ID.TS.Time()}
	typed := base
	typed.Origin, typed.Text, typed.Name, typed.Corrects = origin, m.Text, m.Name, m.Corrects != nil
	typed.Provenance = &Provenance{Authority: authority}
	if !author.IsZero() {
		typed.Provenance.Author = &author
	}
	entries := []Entry{typed}
	for _, a := range m.Attached {
		e := base
		e.Origin, e.Text, e.File = a.Origin, a.Text, a.File
		e.Provenance = &Provenance{Authority: Context, Author: a.Author}
		entries = append(entries, e)
	}
	return entries
}

// Contributors are the distinct other authors whose text was steered into a
// turn of actor, first seen first. A steer whose author nobody knows counts as
// one by the zero actor. own are the turn's own entries.
func Contributors(own []Entry, actor Actor) []Actor {
	var others []Actor
	for _, e := range own {
		author := e.Author()
		if e.Origin == Steer && author != actor && !slices.Contains(others, author) {
			others = append(others, author)
		}
	}
	return others
}

// Actors are the distinct authors of a turn's instructions, first seen first.
func Actors(own []Entry) []Actor {
	var actors []Actor
	for _, e := range own {
		if e.Authority() == Instruction && !slices.Contains(actors, e.Author()) {
			actors = append(actors, e.Author())
		}
	}
	return actors
}
