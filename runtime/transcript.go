package runtime

import (
	"encoding/json"
	"fmt"
	"slices"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// reader reads the log of one turn.
type reader struct {
	turn chat.TurnID
	// actor is the turn's: only what he wrote can be an instruction in it.
	actor chat.Actor
}

// log reads items that stand in the log from a position on.
func (r reader) log(from int, items []mailbox.Item) []chat.Entry {
	var entries []chat.Entry
	for i, item := range items {
		entries = append(entries, r.item(from+i, item)...)
	}
	return entries
}

// item reads one item. How a message was taken decides the authority of what
// its author typed, and nothing else does: what a run has written is context
// whatever it says of itself, and an item that cannot be read, or that says
// nothing of how it was taken, is no entry at all.
func (r reader) item(position int, item mailbox.Item) []chat.Entry {
	id := fmt.Sprintf("%s.%d", r.turn, position)
	switch item.Taken {
	case mailbox.EntryItem:
		var e chat.Entry
		if json.Unmarshal(item.Body, &e) != nil {
			return nil
		}
		return []chat.Entry{r.written(id, e)}
	case mailbox.Deleted:
		return []chat.Entry{r.deleted(id, item)}
	}
	var m chat.Message
	if json.Unmarshal(item.Body, &m) != nil {
		return nil
	}
	authority := chat.Context
	if m.Author == r.actor && item.Author == m.Author {
		authority = chat.Instruction
	}
	var entries []chat.Entry
	switch item.Taken {
	case mailbox.TakenRequest:
		entries = m.Entries(r.turn, authority, chat.Request)
	case mailbox.TakenSteer:
		entries = m.Entries(r.turn, authority, chat.Steer)
	case mailbox.TakenContext:
		entries = m.Entries(r.turn, chat.Context, chat.Steer)
	case mailbox.TakenThread:
		entries = m.Entries(r.turn, chat.Context, chat.Thread)
	}
	for i := range entries {
		entries[i].ID = fmt.Sprintf("%s.%d", id, i)
	}
	return entries
}

// written is an entry that a run has written.
func (r reader) written(id string, e chat.Entry) chat.Entry {
	if e.ID == "" {
		e.ID = id
	}
	author := e.Author()
	e.Turn, e.Provenance = r.turn, &chat.Provenance{Authority: chat.Context}
	if !author.IsZero() {
		e.Provenance.Author = &author
	}
	return e
}

// deletedText stands where the text of a message was that its author, or
// somebody else, has deleted.
const deletedText = "(This message was deleted.)"

// deleted is what is left of a deleted message: that it was there, and whose it
// was. It is nobody's request any more, but a conflict that it made stays one.
func (r reader) deleted(id string, item mailbox.Item) chat.Entry {
	e := chat.Entry{
		ID: id, Turn: r.turn, Role: chat.UserRole, Origin: chat.Thread, Text: deletedText,
		Provenance: &chat.Provenance{Authority: chat.Context}, Time: item.TS.Time(),
	}
	switch mailbox.Taken(item.Body) {
	case mailbox.TakenRequest:
		e.Origin = chat.Request
	case mailbox.TakenSteer, mailbox.TakenContext:
		e.Origin = chat.Steer
	}
	if author := item.Author; !author.IsZero() {
		e.Provenance.Author = &author
	}
	return e
}

// shown is what a closed turn is in a later turn of actor: whole in his own
// later turns; in another's, its messages and its posted answers. What was
// rendered for its prompt alone, and what its actor was asked, is in neither, and a
// summary stands for the turns before it.
func shown(t mailbox.ClosedTurn, actor chat.Actor) []chat.Entry {
	var thread, entries []chat.Entry
	for _, e := range (reader{t.Turn, t.Actor}).log(0, t.Log) {
		e.Closing = t.Number
		switch {
		case e.Origin == chat.Begun, e.Origin == chat.Section, e.Origin == chat.Summary, e.Origin == chat.Consent:
		case e.Origin == chat.Thread: // it was said before the turn's first message
			e = e.Shown()
			e.Origin = chat.Thread
			thread = append(thread, e)
		case t.Actor == actor || (e.Message != nil || e.Posted) && !e.Private:
			entries = append(entries, e.Shown())
		}
	}
	return append(thread, entries...)
}

// summary is the last of a log's summaries that were made for actor.
func summary(entries []chat.Entry, actor chat.Actor) (chat.Entry, bool) {
	for _, e := range slices.Backward(entries) {
		if e.Origin == chat.Summary && e.Covers != nil && e.Covers.Reader == actor && !actor.IsZero() {
			return e, true
		}
	}
	return chat.Entry{}, false
}

// participants are the people who have written in what a turn shows, whom an
// answer may mention. Whose words somebody forwarded has not written here: of a
// message's entries the first alone has its author.
func participants(entries ...[]chat.Entry) []chat.UserID {
	var people []chat.UserID
	seen := map[chat.MessageID]bool{}
	for _, list := range entries {
		for _, e := range list {
			if e.Message == nil || seen[*e.Message] {
				continue
			}
			seen[*e.Message] = true
			if a := e.Author(); a.IsPerson() && !slices.Contains(people, a.User) {
				people = append(people, a.User)
			}
		}
	}
	return people
}

// size is an entry's size in a prompt in bytes, about: of an earlier turn's
// result the prompt shows a piece.
func size(e chat.Entry) int {
	n := len(e.Text)
	if e.Role == chat.ToolRole {
		n = min(n, 1024)
	}
	for _, c := range e.Calls {
		n += min(len(c.Arguments), 1024)
	}
	return n + 128
}
