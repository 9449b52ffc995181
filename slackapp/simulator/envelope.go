package simulator

import (
	"encoding/json"
	"slices"
	"time"
)

// EnvelopeState is where an envelope stands.
type EnvelopeState string

const (
	Waiting      EnvelopeState = "waiting" // no socket is open, or for its next attempt
	InFlight     EnvelopeState = "sent"
	Acknowledged EnvelopeState = "acked"
	GivenUp      EnvelopeState = "lost"
)

// Envelope is one payload and the attempts to deliver it.
type Envelope struct {
	ID              string          `json:"envelope_id"`
	Type            string          `json:"type"` // events_api, interactive, slash_commands
	Payload         json.RawMessage `json:"payload"`
	AcceptsResponse bool            `json:"accepts_response_payload"`
	State           EnvelopeState   `json:"state"`
	Attempts        []Attempt       `json:"attempts"`
	// Response is the payload of the acknowledgement, if it had one.
	Response json.RawMessage `json:"response,omitempty"`
	AckedAt  time.Time       `json:"acked_at,omitzero"`

	raw    []byte // sent as it is in the first attempt, when given
	cancel func() // of the running timer
}

// Attempt is one sending of an envelope.
type Attempt struct {
	Socket int       `json:"socket"`
	At     time.Time `json:"at"`
}

// retryWaits are Slack's: at once, after a minute, after five.
var retryWaits = [...]time.Duration{0, time.Minute, 5 * time.Minute}

func (e *Envelope) clone() *Envelope {
	c := *e
	c.Attempts = slices.Clone(e.Attempts)
	c.raw, c.cancel = nil, nil
	return &c
}

// dispatch takes an envelope up and makes the first attempt. The lock is held.
func (s *Server) dispatch(e *Envelope) *Envelope {
	s.envelopes = trimmed(append(s.envelopes, e))
	s.unsettled[e.ID] = e
	s.attempt(e)
	if s.network.duplicates > 0 {
		s.network.duplicates--
		s.redeliver(e)
	}
	return e
}

// attempt sends the envelope on one socket of the open ones, whichever. An
// event waits when there is none, since Slack retries it for minutes; what a
// person clicked is lost, and the person sees an error.
func (s *Server) attempt(e *Envelope) {
	c := s.pickSocket()
	if c == nil {
		if e.Type != "events_api" {
			s.giveUp(e)
			return
		}
		e.State = Waiting
		s.waiting = append(s.waiting, e)
		return
	}
	c.send(e.frame())
	e.State = InFlight
	e.Attempts = append(e.Attempts, Attempt{Socket: c.id, At: s.o.Now()})
	s.record(Event{Kind: Sent, Envelope: e.clone(), Socket: c.id})
	e.cancel = s.after(s.o.AckTimeout, func() { s.timedOut(e) })
}

func (s *Server) timedOut(e *Envelope) {
	tries := len(e.Attempts)
	if e.Type != "events_api" || tries > len(retryWaits) {
		s.record(Event{Kind: TimedOut, Envelope: e.clone()})
		s.giveUp(e)
		return
	}
	e.State = Waiting
	s.record(Event{Kind: TimedOut, Envelope: e.clone()})
	wait := time.Duration(float64(retryWaits[tries-1]) * s.o.RetryScale)
	e.cancel = s.after(wait, func() { s.attempt(e) })
}

func (s *Server) giveUp(e *Envelope) {
	e.State = GivenUp
	delete(s.unsettled, e.ID)
	s.record(Event{Kind: Lost, Envelope: e.clone()})
}

// acked settles an envelope. Whether Slack takes an acknowledgement that comes
// late or on another socket is not known; here it counts.
func (s *Server) acked(id string, response json.RawMessage, socket int) {
	e := s.unsettled[id]
	if e == nil {
		return
	}
	if s.network.ignoreAcks > 0 {
		s.network.ignoreAcks--
		return
	}
	if e.cancel != nil {
		e.cancel()
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w *Envelope) bool { return w == e })
	e.State, e.Response, e.AckedAt = Acknowledged, response, s.o.Now()
	delete(s.unsettled, id)
	s.record(Event{Kind: Acked, Envelope: e.clone(), Socket: socket})
}

// flush sends what waited for a socket, in its order.
func (s *Server) flush() {
	held := s.waiting
	s.waiting = nil
	for _, e := range held {
		s.attempt(e)
	}
}

// frame is what goes on the wire in the coming attempt.
func (e *Envelope) frame() []byte {
	n := len(e.Attempts)
	if n == 0 && e.raw != nil {
		return e.raw
	}
	out := map[string]any{}
	if e.raw != nil {
		_ = json.Unmarshal(e.raw, &out)
	} else {
		out["envelope_id"], out["type"], out["payload"], out["accepts_response_payload"] = e.ID, e.Type, e.Payload, e.AcceptsResponse
	}
	if e.Type == "events_api" {
		out["retry_attempt"], out["retry_reason"] = n, ""
		if n > 0 {
			out["retry_reason"] = "timeout"
		}
	}
	raw, _ := json.Marshal(out) // of values that were JSON before
	return raw
}

// Envelopes are copies of all envelopes so far, oldest first.
func (s *Server) Envelopes() []Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Envelope
	for _, e := range s.envelopes {
		out = append(out, *e.clone())
	}
	return out
}

// Acks are the acknowledged envelopes.
func (s *Server) Acks() []Envelope {
	return slices.DeleteFunc(s.Envelopes(), func(e Envelope) bool { return e.State != Acknowledged })
}

// Unacknowledged is how many envelopes wait, are in flight or will be retried.
func (s *Server) Unacknowledged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unsettled)
}
