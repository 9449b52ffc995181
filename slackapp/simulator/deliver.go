package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrUnacknowledged: an envelope's first attempt timed out or could not be
// made.
var ErrUnacknowledged = errors.New("envelope not acknowledged in time")

// redeliver sends the same payload again as an envelope of its own, with the
// same event_id: Slack does so when it lost track of an acknowledgement.
func (s *Server) redeliver(e *Envelope) *Envelope {
	again := &Envelope{ID: uuid(), Type: e.Type, Payload: e.Payload, AcceptsResponse: e.AcceptsResponse}
	s.envelopes = append(s.envelopes, again)
	s.unsettled[again.ID] = again
	s.attempt(again)
	return again
}

// Redeliver sends the payload of an earlier envelope again.
func (s *Server) Redeliver(envelopeID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.envelopes {
		if e.ID == envelopeID {
			s.redeliver(e)
			return nil
		}
	}
	return fmt.Errorf("redeliver envelope %s: no such envelope", envelopeID)
}

// Deliver sends an envelope as it is given and returns once its first attempt
// is acknowledged, or with ErrUnacknowledged once that timed out (its retries
// go on). It must be a JSON object with an envelope_id and a type; SendFrame
// takes anything.
func (s *Server) Deliver(ctx context.Context, raw []byte) (Envelope, error) {
	e := &Envelope{raw: slices.Clone(raw)}
	var head struct {
		ID      string          `json:"envelope_id"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
		Accepts bool            `json:"accepts_response_payload"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return Envelope{}, fmt.Errorf("deliver envelope: %w", err)
	}
	if head.ID == "" || head.Type == "" {
		return Envelope{}, errors.New("deliver envelope: envelope_id and type are needed")
	}
	e.ID, e.Type, e.Payload, e.AcceptsResponse = head.ID, head.Type, head.Payload, head.Accepts
	return s.deliver(ctx, e)
}

// DeliverPayload wraps a payload into a fresh envelope of a type and delivers
// it as Deliver does.
func (s *Server) DeliverPayload(ctx context.Context, kind string, payload any) (Envelope, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return Envelope{}, fmt.Errorf("deliver payload: %w", err)
	}
	return s.deliver(ctx, &Envelope{ID: uuid(), Type: kind, Payload: raw})
}

// DeliverEvent wraps an inner event of a channel ("" for none) as Slack's
// Events API does and delivers it.
func (s *Server) DeliverEvent(ctx context.Context, channel string, inner map[string]any) (Envelope, error) {
	s.mu.Lock()
	payload := s.eventCallback(s.world.Channels[channel], inner)
	s.mu.Unlock()
	return s.DeliverPayload(ctx, "events_api", payload)
}

func (s *Server) deliver(ctx context.Context, e *Envelope) (Envelope, error) {
	s.mu.Lock()
	mark := s.log.seq
	s.dispatch(e)
	s.mu.Unlock()
	end, err := s.WaitAfter(ctx, mark, func(ev Event) bool {
		return (ev.Kind == Acked || ev.Kind == TimedOut || ev.Kind == Lost) && ev.Envelope.ID == e.ID
	})
	switch {
	case err != nil:
		return Envelope{}, err
	case end.Kind != Acked:
		return *end.Envelope, ErrUnacknowledged
	}
	return *end.Envelope, nil
}
