package histories

import (
	"context"
	"errors"
	"slices"

	"reeve/agent"
	"reeve/runtime/chat"
)

// errDied is how a run ends whose worker is lost: it writes nothing more.
var errDied = errors.New("the worker is lost")

// Run implements runtime.Agent.
func (h *house) Run(ctx context.Context, turn agent.Turn, log agent.Log) error {
	var number int
	h.note(func() {
		h.runs++
		number = h.runs
		h.latest[turn.ID] = number
		h.active[turn.ID]++
		h.actors[turn.ID] = slices.Index(people, turn.Actor)
		delete(h.dead, turn.ID)
	})
	m := &mortal{Log: log, house: h}
	err := h.loop.Run(context.WithValue(ctx, turnKey{}, turn.ID), turn, m)
	h.note(func() {
		if h.active[turn.ID]--; h.active[turn.ID] == 0 {
			delete(h.active, turn.ID)
		}
		if errors.Is(err, errDied) && h.latest[turn.ID] == number {
			h.dead[turn.ID] = true
			h.deaths++
		}
	})
	return err
}

type turnKey struct{}

// mortal is the log of a run whose worker may be lost before or after each step.
type mortal struct {
	agent.Log
	house *house
	dead  bool
}

// dies reports whether the worker is lost here, or was before.
func (m *mortal) dies() bool {
	m.house.note(func() {
		if m.house.dieIn > 0 {
			m.house.dieIn--
			m.dead = m.dead || m.house.dieIn == 0
		}
	})
	return m.dead
}

func (m *mortal) Commit(ctx context.Context, entries ...chat.Entry) error {
	if m.dies() {
		return errDied
	}
	if err := m.Log.Commit(ctx, entries...); err != nil || !m.dies() {
		return err
	}
	return errDied
}

func (m *mortal) Boundary(ctx context.Context, entries ...chat.Entry) ([]chat.Entry, error) {
	if m.dies() {
		return nil, errDied
	}
	steers, err := m.Log.Boundary(ctx, entries...)
	if err != nil || !m.dies() {
		return steers, err
	}
	return nil, errDied
}

func (m *mortal) Park(ctx context.Context, asking chat.Asking, entries ...chat.Entry) (bool, error) {
	if m.dies() {
		return false, errDied
	}
	parked, err := m.Log.Park(ctx, asking, entries...)
	if err != nil || parked || !m.dies() { // parked, no worker is needed
		return parked, err
	}
	return false, errDied
}

func (m *mortal) Close(ctx context.Context, answer chat.Entry) ([]chat.Entry, bool, error) {
	if m.dies() {
		return nil, false, errDied
	}
	steers, closed, err := m.Log.Close(ctx, answer)
	if err != nil || closed || !m.dies() {
		return steers, closed, err
	}
	return nil, false, errDied
}

// ask is one request to the model.
type ask struct {
	n     int
	turn  chat.TurnID
	ctx   context.Context
	req   agent.Request
	reply chan agent.Reply
	// answered: the model has answered. Calls are those that it asked for.
	answered bool
	calls    []call
	// stale: the lease of its run has ended meanwhile.
	stale bool
}

func (a *ask) waits() bool { return !a.answered && a.ctx.Err() == nil }

// Complete implements agent.Model.
func (h *house) Complete(ctx context.Context, req agent.Request) (agent.Reply, error) {
	turn, _ := ctx.Value(turnKey{}).(chat.TurnID)
	a := &ask{turn: turn, ctx: ctx, req: req, reply: make(chan agent.Reply, 1)}
	h.note(func() {
		a.n = len(h.asks)
		h.asks = append(h.asks, a)
	})
	select {
	case r := <-a.reply:
		return r, nil
	case <-ctx.Done():
		h.note(func() {})
		return agent.Reply{}, ctx.Err()
	}
}
