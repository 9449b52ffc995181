package histories

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// story is one turn as its log tells it, and as those who played know it.
type story struct {
	id      chat.TurnID
	actor   chat.Actor // who wrote what began it
	outcome mailbox.Outcome
	log     []item
	calls   map[string]asked // by id
}

// item is one item of a turn's log.
type item struct {
	taken  mailbox.Taken
	ts     chat.TS    // of the message
	own    chat.TS    // of the edit that corrects it, where it is one
	author chat.Actor // of the message
	entry  chat.Entry
}

// asked is a call that the model asked for, in the answer at a place of the log.
type asked struct {
	chat.ToolCall
	at   int
	held bool
}

// steer reports whether an item is a message that came while the turn was open.
func (i item) steer() bool { return i.taken == mailbox.TakenSteer || i.taken == mailbox.TakenContext }

// conflict reports whether somebody else had steered the turn before a place of
// its log.
func (s *story) conflict(before int) bool {
	return slices.ContainsFunc(s.log[:before], func(i item) bool { return i.steer() && i.author != s.actor })
}

// took reports whether the turn took a message in as its actor's own before a
// place.
func (s *story) took(ts chat.TS, before int) bool {
	return slices.ContainsFunc(s.log[:before], func(i item) bool {
		return i.ts == ts && i.author == s.actor && (i.taken == mailbox.TakenRequest || i.taken == mailbox.TakenSteer)
	})
}

// decided is the place at which an answer to a wait was taken up; -1: nowhere.
func (s *story) decided(wait string) int {
	return slices.IndexFunc(s.log, func(i item) bool { return i.entry.Decision != nil && i.entry.Decision.Wait == wait })
}

// begun reports whether an entry has journalled a call that was held back.
func (s *story) begun(call string) bool {
	return slices.ContainsFunc(s.log, func(i item) bool {
		return i.entry.Decision != nil && slices.Contains(i.entry.Decision.Begun, call)
	})
}

// answered is the place of an answer of the model's; -1: it was never written.
func (s *story) answered(n int) int {
	return slices.IndexFunc(s.log, func(i item) bool {
		return i.entry.Role == chat.AssistantRole && answerForm.FindString(i.entry.Text) == answerToken(n)
	})
}

func answerToken(n int) string { return fmt.Sprintf("[a%06d]", n) }

var answerForm = regexp.MustCompile(`\[a[0-9]{6}\]`)

// stories are all turns, by id.
func (o *oracle) stories() map[chat.TurnID]*story {
	all := map[chat.TurnID]*story{}
	_, err := o.box.History(context.Background(), o.in, 1<<40, func(t mailbox.ClosedTurn) bool {
		all[t.Turn] = o.story(t)
		return true
	})
	if err != nil {
		o.wrong("read the history: %v", err)
	}
	return all
}

func (o *oracle) story(t mailbox.ClosedTurn) *story {
	s := &story{id: t.Turn, outcome: t.Outcome, calls: map[string]asked{}}
	for _, i := range t.Log {
		one := item{taken: i.Taken, ts: i.TS, own: i.TS, author: i.Author}
		switch i.Taken {
		case mailbox.EntryItem:
			if json.Unmarshal(i.Body, &one.entry) != nil {
				o.wrong("turn %s holds an entry that is none: %s", t.Turn, i.Body)
			}
			for _, c := range one.entry.Calls {
				s.calls[c.ID] = asked{c, len(s.log), slices.Contains(one.entry.Held, c.ID)}
			}
		case mailbox.Deleted:
			one.taken = mailbox.Taken(i.Body)
			for _, m := range o.said {
				if slices.Contains(m.edits, one.ts) {
					one.ts = m.ID.TS // what it corrected is not told any more
				}
			}
		default:
			var m chat.Message
			if json.Unmarshal(i.Body, &m) == nil && m.Corrects != nil {
				one.ts = m.Corrects.TS
			}
		}
		if m := o.saidAt(one.ts); one.ts != "" && m.ID.TS != "" {
			one.author = m.Author
		}
		if one.taken == mailbox.TakenRequest && s.actor.IsZero() {
			s.actor = one.author
		}
		s.log = append(s.log, one)
	}
	for _, i := range s.log {
		if i.taken == mailbox.TakenRequest && i.author != s.actor {
			o.wrong("turn %s of %s began with a message of %s", s.id, s.actor.Key(), i.author.Key())
		}
	}
	if s.actor != t.Actor && len(s.log) > 0 && !s.actor.IsZero() {
		o.wrong("turn %s acts for %s, and %s wrote what began it", s.id, t.Actor.Key(), s.actor.Key())
	}
	return s
}
