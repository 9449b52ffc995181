package slackapp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/slackapp"
)

var errAway = errors.New("the store is away")

// stage is an edge with everything around it played by the test.
type stage struct {
	*slackapp.Edge
	t    *testing.T
	stop context.CancelFunc
	end  chan error

	mu      sync.Mutex
	batches [][]string        // texts, by call of Deliver
	acks    []string          // envelope ids, in order
	fail    map[string]error  // of Deliver, by text
	known   map[chat.TS]bool  // keys in the mailbox
	slack   map[chat.TS]any   // messages in Slack; an error is given back
	looked  []string          // look-ups and fetches
	keysErr error             // of Known
	told    []runtime.Outcome // by the notices
	gate    chan struct{}     // when set, Deliver waits for it
}

func newStage(t *testing.T, change ...func(*slackapp.EdgeOptions)) *stage {
	s := &stage{t: t, end: make(chan error, 1), fail: map[string]error{}, known: map[chat.TS]bool{}, slack: map[chat.TS]any{}}
	o := slackapp.EdgeOptions{Self: self, Inbox: s, Keys: s, Fetcher: s, Notices: s}
	for _, c := range change {
		c(&o)
	}
	s.Edge = slackapp.NewEdge(o)
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	go func() { s.end <- s.Run(ctx) }()
	t.Cleanup(stop)
	return s
}

func (s *stage) Deliver(_ context.Context, in []chat.Message) []runtime.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	var batch []string
	out := make([]runtime.Outcome, len(in))
	for i, m := range in {
		batch = append(batch, m.Text)
		out[i] = runtime.Outcome{Message: m, Disposition: chat.Start, Err: s.fail[m.Text]}
	}
	s.batches = append(s.batches, batch)
	if gate := s.gate; gate != nil {
		s.mu.Unlock()
		<-gate
		s.mu.Lock()
	}
	return out
}

func (s *stage) Known(_ context.Context, id chat.MessageID) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = append(s.looked, "known "+string(id.TS))
	return s.known[id.TS], s.keysErr
}

func (s *stage) Fetch(_ context.Context, channel chat.ChannelID, thread, ts chat.TS) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = append(s.looked, fmt.Sprintf("fetch %s %s %s", channel, thread, ts))
	switch m := s.slack[ts].(type) {
	case error:
		return nil, m
	case object:
		return json.Marshal(m)
	}
	return nil, nil
}

func (s *stage) Told(_ context.Context, outcomes []runtime.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, outcomes...)
}

// comes delivers an event in an envelope of the given id.
func (s *stage) comes(id string, event object) bool {
	return s.comesAs(id, "events_api", envelope(event))
}

func (s *stage) comesAs(id, kind string, payload []byte) bool {
	return s.Take(slackapp.Delivery{
		Envelope: slackapp.Envelope{ID: id, Type: kind, Payload: payload},
		Ack: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.acks = append(s.acks, id)
		},
	})
}

func (s *stage) wantAcks(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.acks, want) {
		s.t.Fatalf("acknowledged %q, want %q", s.acks, want)
	}
}

// wantDelivered compares the texts of all batches, one after the other.
func (s *stage) wantDelivered(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := slices.Concat(s.batches...); !slices.Equal(got, want) {
		s.t.Fatalf("delivered %q, want %q", got, want)
	}
}

func (s *stage) wantLooked(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.looked, want) {
		s.t.Fatalf("looked %q, want %q", s.looked, want)
	}
}
