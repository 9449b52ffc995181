package runtime

import (
	"encoding/json"
	"fmt"
	"slices"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// entriesOf reads one item of a turn's log. How a message was taken decides
// the authority of what its author typed, and nothing else does: an item that
// cannot be read, or that says nothing of itself, is no entry at all.
func entriesOf(turn chat.TurnID, position int, item mailbox.Item) []chat.Entry {
	id := fmt.Sprintf("%s.%d", turn, position)
	if item.Taken == mailbox.EntryItem {
		var e chat.Entry
		if json.Unmarshal(item.Body, &e) != nil {
			return nil
		}
		e.ID, e.Turn = id, turn
		return []chat.Entry{e}
	}
	if item.Taken == mailbox.Deleted {
		return []chat.Entry{deleted(id, turn, item)}
	}
	var m chat.Message
	if json.Unmarshal(item.Body, &m) != nil {
		return nil
	}
	var entries []chat.Entry
	switch item.Taken {
	case mailbox.TakenRequest:
		entries = m.Entries(turn, chat.Instruction, chat.Request)
	case mailbox.TakenSteer:
		entries = m.Entries(turn, chat.Instruction, chat.Steer)
	case mailbox.TakenContext:
		entries = m.Entries(turn, chat.Context, chat.Steer)
	case mailbox.TakenThread:
		entries = m.Entries(turn, chat.Context, chat.Thread)
	}
	for i := range entries {
		entries[i].ID = fmt.Sprintf("%s.%d", id, i)
	}
	return entries
}

// deletedText stands where the text of a message was that its author, or
// somebody else, has deleted.
const deletedText = "(This message was deleted.)"

// deleted is what is left of a deleted message: that it was there, and whose it
// was. It is nobody's request any more, but a conflict that it made stays one.
func deleted(id string, turn chat.TurnID, item mailbox.Item) chat.Entry {
	e := chat.Entry{
		ID: id, Turn: turn, Role: chat.UserRole, Origin: chat.Thread, Text: deletedText,
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

func entriesOfLog(turn chat.TurnID, from int, items []mailbox.Item) []chat.Entry {
	var entries []chat.Entry
	for i, item := range items {
		entries = append(entries, entriesOf(turn, from+i, item)...)
	}
	return entries
}

// shown is what a closed turn is in a later turn of actor: whole in his own
// later turns; in another's, its messages and its posted answers.
func shown(t mailbox.ClosedTurn, actor chat.Actor) []chat.Entry {
	var thread, entries []chat.Entry
	for _, e := range entriesOfLog(t.Turn, 0, t.Log) {
		switch {
		case e.Origin == chat.Thread: // it was said before the turn's first message
			e = e.Shown()
			e.Origin = chat.Thread
			thread = append(thread, e)
		case t.Actor == actor || e.Message != nil || e.Posted:
			if t.Actor == actor || !e.Private {
				entries = append(entries, e.Shown())
			}
		}
	}
	return append(thread, entries...)
}

// name gives entries the names of their authors. A message is stored before
// anybody is asked who wrote it; its turn runs when that is known.
func (r *Runtime) name(entries []chat.Entry) {
	for i, e := range entries {
		if e.Name != "" || e.Message == nil || !e.Author().IsPerson() {
			continue
		}
		if facts, ok := r.opts.Slack.Known(e.Author()); ok {
			entries[i].Name = facts.Name
		}
	}
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

// size is an entry's size in bytes, for budgets.
func size(e chat.Entry) int {
	n := len(e.Text)
	for _, c := range e.Calls {
		n += len(c.Arguments)
	}
	return n + 64
}
