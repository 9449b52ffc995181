package simulator

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Kind says what an Event tells.
type Kind string

const (
	MessagePosted   Kind = "message"
	MessageChanged  Kind = "message_changed"
	MessageDeleted  Kind = "message_deleted"
	EphemeralPosted Kind = "ephemeral"
	ReactionAdded   Kind = "reaction_added"
	ReactionRemoved Kind = "reaction_removed"
	FileShared      Kind = "file"
	ViewShown       Kind = "view"
	ViewRefused     Kind = "view_refused" // the app found errors in it; Data is its answer
	ViewClosed      Kind = "view_closed"
	SessionChanged  Kind = "session"
	Clicked         Kind = "click"

	// Called: a Web API call was answered.
	Called Kind = "call"
	// Held: a call waits at the Hold of the method that Reason names.
	Held Kind = "held"
	// Sent: an envelope went out on a socket; Acked and TimedOut end that
	// attempt. Lost: no further attempt will be made.
	Sent     Kind = "envelope"
	Acked    Kind = "ack"
	TimedOut Kind = "timeout"
	Lost     Kind = "lost"

	Connected    Kind = "connect"
	Disconnected Kind = "disconnect"

	// Annotated: the embedding program said something with Publish.
	Annotated Kind = "annotation"
)

// Event is one entry of the log. Only the fields that belong to its Kind are
// set; they are copies.
type Event struct {
	Seq  int64     `json:"seq"` // from 1, without gaps
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`

	Message   *Message   `json:"message,omitempty"`
	Previous  *Message   `json:"previous,omitempty"` // before a change
	Ephemeral *Ephemeral `json:"ephemeral,omitempty"`
	Reaction  *Reacted   `json:"reaction,omitempty"`
	File      *File      `json:"file,omitempty"`
	View      *View      `json:"view,omitempty"`
	Session   *Session   `json:"session,omitempty"`
	Click     *ClickMade `json:"click,omitempty"`
	Call      *Call      `json:"call,omitempty"`
	Envelope  *Envelope  `json:"envelope,omitempty"`
	Socket    int        `json:"socket,omitempty"`
	Reason    string     `json:"reason,omitempty"`

	// Name and Data are an annotation's.
	Name string          `json:"name,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

// logLimit is how many events are kept at least; a playground may run for days.
const logLimit = 20_000

type eventLog struct {
	events  []Event
	seq     int64
	changed chan struct{} // closed and replaced at each entry
}

// record appends to the log. The lock is held.
func (s *Server) record(e Event) {
	s.log.seq++
	e.Seq, e.Time = s.log.seq, s.o.Now()
	s.log.events = trimmed(append(s.log.events, e))
	close(s.log.changed)
	s.log.changed = make(chan struct{})
}

// trimmed drops the older half of what is kept once twice the limit is there.
func trimmed[T any](items []T) []T {
	if len(items) < 2*logLimit {
		return items
	}
	return slices.Clone(items[len(items)-logLimit:])
}

// Publish puts an annotation into the log: a fact that the embedding program
// knows and the page shows, such as a message's fate. Data must be good JSON.
func (s *Server) Publish(name string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(Event{Kind: Annotated, Name: name, Data: raw})
	return nil
}

// eventsAfter are the events with a greater number, and a channel that is
// closed at the next.
func (s *Server) eventsAfter(seq int64) ([]Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(s.log.events, seq+1, func(e Event, n int64) int { return int(e.Seq - n) })
	return slices.Clone(s.log.events[i:]), s.log.changed
}

// Events are the events with a number greater than seq.
func (s *Server) Events(seq int64) []Event {
	events, _ := s.eventsAfter(seq)
	return events
}

// Mark is the number of the newest event, for WaitAfter.
func (s *Server) Mark() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.seq
}

// waitAfter finds the first event past seq that match accepts.
func (s *Server) waitAfter(ctx context.Context, seq int64, match func(Event) bool) (Event, error) {
	for {
		events, changed := s.eventsAfter(seq)
		for _, e := range events {
			if match(e) {
				return e, nil
			}
			seq = e.Seq
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		case <-s.done:
			return Event{}, ErrClosed
		}
	}
}
