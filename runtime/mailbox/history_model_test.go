package mailbox_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// mailboxState is a conversation of a mailbox that serves one client at a time:
// the rules again, in plain Go. It knows no stops, no parked turns and no
// leases that end; its values are never changed.
type mailboxState struct {
	known  []chat.Message // accepted
	wait   []chat.Message // by ts
	run    *turnState
	closed []string // the logs of ended turns
	ended  []mailbox.Token
}

type turnState struct {
	id     chat.TurnID
	actor  chat.Actor
	token  mailbox.Token // none: it was handed over
	handed mailbox.Token
	log    []string
	steers []chat.Message
	// open are the steers that were read and not answered, with their place.
	open map[int]chat.Message
}

var historyModel = porcupine.Model{
	Init: func() any { return mailboxState{} },
	Step: func(state, in, out any) (bool, any) {
		s := state.(mailboxState)
		answer := s.apply(in.(historyIn), out.(historyOut))
		return answer == out.(historyOut), s
	},
	Equal: reflect.DeepEqual,
}

// apply makes a call on a copy of what it changes, and says what it has to be
// answered. Only tokens are taken from what was answered: they are random.
func (s *mailboxState) apply(in historyIn, told historyOut) (out historyOut) {
	if t := s.run; t != nil {
		copied := *t
		copied.log, copied.steers = slices.Clone(t.log), slices.Clone(t.steers)
		copied.open = map[int]chat.Message{}
		for at, m := range t.open {
			copied.open[at] = m
		}
		s.run = &copied
	}
	s.wait = slices.Clone(s.wait)
	held := s.run != nil && s.run.token != "" && s.run.token == in.token()
	switch in.what {
	case "put":
		return s.put(in, told)
	case "claim":
		if s.run != nil && s.run.token == "" {
			return s.give(told)
		}
		return s.next(historyIn{room: true, turn: in.turn}, told)
	case "read":
		for _, log := range s.closed {
			out.log += log + "\n"
		}
		return out
	}
	switch again := in.token(); {
	case held:
	case in.what == "hand over" && s.run != nil && s.run.handed == again,
		(in.what == "done" || in.what == "failed") && slices.Contains(s.ended, again):
		// Asked again, its last call is answered as it was.
		if in.what != "hand over" {
			out.answer = "closed"
		}
		return out
	default:
		return historyOut{answer: "stale"}
	}
	switch in.what {
	case "commit":
		out.taken = s.take()
	case "hand over":
		s.run.token, s.run.handed = "", in.token()
	case "done":
		s.run.open = map[int]chat.Message{}
		if len(s.run.steers) > 0 {
			out.taken = s.take()
			return out
		}
		return s.end(in, told)
	case "failed":
		for at, m := range s.run.open {
			s.run.log[at] = "struck " + string(m.ID.TS)
			s.queue(m)
		}
		for _, m := range s.run.steers {
			s.queue(m)
		}
		return s.end(in, told)
	}
	return out
}

func (s *mailboxState) put(in historyIn, told historyOut) (out historyOut) {
	m := in.message
	if slices.ContainsFunc(s.known, func(k chat.Message) bool { return k.ID == m.ID }) {
		return historyOut{answer: string(chat.Duplicate)}
	}
	state := chat.State{Column: chat.NoneRuns}
	switch {
	case s.run == nil:
	case s.run.actor == m.Author:
		state.Column = chat.OwnRuns
	default:
		state.Column = chat.OtherRuns
	}
	mine := 0
	for _, w := range s.wait {
		if w.Author == m.Author {
			mine++
			state.OlderOwnWaiting = state.OlderOwnWaiting || w.ID.TS < m.ID.TS
		}
	}
	s.known = append(slices.Clip(s.known), m)
	d := runtime.Decide(state, m, historyPolicy)
	switch d {
	case chat.Start, chat.Wait:
		s.queue(m)
		waited := len(s.wait)
		out = s.next(in, told)
		out.answer = string(chat.Wait)
		if len(s.wait) < waited && !slices.ContainsFunc(s.wait, func(w chat.Message) bool { return w.ID == m.ID }) {
			out.answer = string(chat.Start)
		}
		return out
	default:
		s.run.steers = byTime(append(s.run.steers, m))
		return historyOut{answer: string(d)}
	}
}

func byTime(list []chat.Message) []chat.Message {
	slices.SortFunc(list, func(a, b chat.Message) int { return strings.Compare(string(a.ID.TS), string(b.ID.TS)) })
	return list
}

func (s *mailboxState) queue(m chat.Message) { s.wait = byTime(append(s.wait, m)) }

// next gives out the turn that the first contiguous messages of one author make.
func (s *mailboxState) next(in historyIn, told historyOut) (out historyOut) {
	if s.run != nil || len(s.wait) == 0 || !in.room {
		return out
	}
	s.run = &turnState{id: in.turn, actor: s.wait[0].Author, open: map[int]chat.Message{}}
	for len(s.wait) > 0 && s.wait[0].Author == s.run.actor {
		s.run.log = append(s.run.log, "request "+string(s.wait[0].ID.TS))
		s.wait = s.wait[1:]
	}
	return s.give(told)
}

func (s *mailboxState) give(told historyOut) historyOut {
	s.run.token, s.run.handed = told.token, ""
	return historyOut{next: s.run.id, token: told.token, actor: s.run.actor.User, log: strings.Join(s.run.log, ", ")}
}

// take reads the steers that wait.
func (s *mailboxState) take() string {
	from := len(s.run.log)
	for _, m := range s.run.steers {
		how := "steer_context"
		if m.Author == s.run.actor {
			how = "steer"
		}
		s.run.open[len(s.run.log)] = m
		s.run.log = append(s.run.log, fmt.Sprint(how, " ", m.ID.TS))
	}
	s.run.steers = nil
	return strings.Join(s.run.log[from:], ", ")
}

func (s *mailboxState) end(in historyIn, told historyOut) historyOut {
	s.ended = append(slices.Clip(s.ended), in.token())
	s.closed = append(slices.Clip(s.closed), strings.Join(s.run.log, ", "))
	s.run = nil
	out := s.next(in, told)
	out.answer = "closed"
	return out
}
