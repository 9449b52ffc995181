// Package scripted holds models and logs that do as they are told: a provider
// on loopback that tests script, an in-memory log, and the small demo model of
// the playground.
package scripted

import (
	"context"
	"slices"
	"sync"

	"reeve/agent"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// Log is an agent.Log in memory.
type Log struct {
	// Before is called at the begin of each step ("commit", "boundary", "park",
	// "close"), without a lock held; its error is the step's.
	Before func(step string) error

	mu      sync.Mutex
	entries []chat.Entry
	waiting []chat.Entry
	closed  bool
	asked   []chat.Asking
}

var _ agent.Log = (*Log)(nil)

// Steer lets entries wait for the next boundary. It reports whether the turn
// was still open.
func (l *Log) Steer(entries ...chat.Entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.waiting = append(l.waiting, entries...)
	}
	return !l.closed
}

// Entries are what stands in the log.
func (l *Log) Entries() []chat.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// Answers are the texts that were queued for posting, in their order.
func (l *Log) Answers() []string {
	var texts []string
	for _, e := range l.Entries() {
		if e.Posted {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// Closed reports whether the turn is done.
func (l *Log) Closed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Commit implements agent.Log.
func (l *Log) Commit(_ context.Context, entries ...chat.Entry) error {
	_, _, err := l.step("commit", entries, false)
	return err
}

// Boundary implements agent.Log.
func (l *Log) Boundary(_ context.Context, entries ...chat.Entry) ([]chat.Entry, error) {
	steers, _, err := l.step("boundary", entries, true)
	return steers, err
}

// Held implements agent.Log: it never ends.
func (l *Log) Held() context.Context { return context.Background() }

// Steered implements agent.Log.
func (l *Log) Steered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) > 0
}

// Close implements agent.Log.
func (l *Log) Close(_ context.Context, answer chat.Entry) ([]chat.Entry, bool, error) {
	return l.step("close", []chat.Entry{answer}, true)
}

func (l *Log) step(name string, entries []chat.Entry, take bool) (steers []chat.Entry, closed bool, err error) {
	if l.Before != nil {
		if err := l.Before(name); err != nil {
			return nil, false, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entries...)
	if take {
		steers, l.waiting = l.waiting, nil
		l.entries = append(l.entries, steers...)
	}
	l.closed = name == "close" && len(steers) == 0
	return slices.Clone(steers), l.closed, nil
}

// Model answers each request with the next of its functions, and the last one
// again when they are used up.
type Model struct {
	mu       sync.Mutex
	replies  []func(context.Context, agent.Request) (agent.Reply, error)
	requests []agent.Request
}

// Says is a model that gives these replies.
func Says(replies ...agent.Reply) *Model {
	m := &Model{}
	for _, r := range replies {
		m.replies = append(m.replies, func(context.Context, agent.Request) (agent.Reply, error) { return r, nil })
	}
	return m
}

// Does is a model that answers with these functions.
func Does(replies ...func(context.Context, agent.Request) (agent.Reply, error)) *Model {
	return &Model{replies: replies}
}

// Complete implements agent.Model.
func (m *Model) Complete(ctx context.Context, req agent.Request) (agent.Reply, error) {
	m.mu.Lock()
	reply := m.replies[min(len(m.requests), len(m.replies)-1)]
	m.requests = append(m.requests, req)
	m.mu.Unlock()
	return reply(ctx, req)
}

// Requests are what the model was asked, in order.
func (m *Model) Requests() []agent.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Park implements agent.Log: it keeps what is asked, unless a steer waits.
func (l *Log) Park(_ context.Context, asking chat.Asking, entries ...chat.Entry) (bool, error) {
	if l.Before != nil {
		if err := l.Before("park"); err != nil {
			return false, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > 0 {
		return false, nil
	}
	l.entries = append(l.entries, entries...)
	l.asked = append(l.asked, asking)
	return true, nil
}

// Asked is what the turn was parked for, in order.
func (l *Log) Asked() []chat.Asking {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked)
}

// Unasked is the part of agent.Tools that lets every call pass.
type Unasked struct{}

// Weigh implements agent.Tools.
func (Unasked) Weigh(context.Context, plugins.Asked) plugins.Weighed { return plugins.Weighed{} }

// Decided implements agent.Tools.
func (Unasked) Decided(context.Context, plugins.Run, chat.Decision) error { return nil }
