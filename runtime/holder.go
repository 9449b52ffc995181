package runtime

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"reeve/agent"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Why a run ends without the loop having ended its turn.
var (
	errStopped    = agent.ErrStopped
	errLeaseLost  = errors.New("the lease can no longer be trusted")
	errHandedOver = errors.New("the turn is handed over")
)

// holder is a turn that this process runs: its lease, and what it is told.
type holder struct {
	ref     mailbox.Ref
	actor   chat.Actor
	steered atomic.Bool
	// handedBack are messages that this run has handed back; under the Runtime's lock.
	handedBack []chat.MessageID
	// held ends when the run may write no more, and what it runs in besides by
	// a stop: a call that has started outlives that for a while.
	held context.Context
	drop context.CancelCauseFunc
	stop context.CancelCauseFunc
	// until is how long the lease may be trusted, and end cancels the run then.
	until atomic.Pointer[time.Time]
	end   *time.Timer
}

// hold makes a holder of a claim and a context that ends with its trust, its
// time budget, a stop, or the end of the process.
func (r *Runtime) hold(c *mailbox.Claimed) (context.Context, *holder, func()) {
	held, drop := context.WithCancelCause(context.Background())
	ctx, stop := context.WithCancelCause(held)
	h := &holder{
		ref:   mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token},
		actor: c.Actor, held: held, drop: drop, stop: stop,
	}
	h.steered.Store(c.Unread > 0)
	h.end = time.AfterFunc(time.Hour, func() { drop(errLeaseLost) })
	h.trust(r.opts.Box.Trusted(c.Start))
	spent := time.AfterFunc(r.opts.TurnTimeout-c.Ran, func() { drop(&agent.Failure{Kind: agent.TimeSpent}) })
	unbind := context.AfterFunc(r.cut, func() { drop(errHandedOver) })
	if c.Stop != nil {
		stop(errStopped)
	}
	r.mu.Lock()
	r.holders[c.Turn] = h
	for _, s := range r.early.of(c.Turn) {
		h.tell(s)
	}
	r.mu.Unlock()
	return ctx, h, func() {
		r.mu.Lock()
		if r.holders[c.Turn] == h { // a later run of the turn may be here already
			delete(r.holders, c.Turn)
		}
		r.mu.Unlock()
		h.end.Stop()
		spent.Stop()
		unbind()
		stop(context.Canceled)
		drop(context.Canceled)
	}
}

// trust lets the run go on until then.
func (h *holder) trust(until time.Time) {
	h.until.Store(&until)
	h.end.Reset(time.Until(until))
}

// slept reports whether the wall clock has passed the lease's end: the timer,
// which goes by the other clock, stands still while a machine sleeps.
func (h *holder) slept() bool { return time.Now().Round(0).After(h.until.Load().Round(0)) }

// tell passes a signal on to the run.
func (h *holder) tell(s mailbox.Signal) {
	switch {
	case s.Stop != "":
		h.stop(errStopped)
	case s.Steer != "":
		h.steered.Store(true)
	}
}

// early are the last signals of turns that do not run here: a signal may be
// faster than the answer to the claim that it follows.
type early struct {
	last [64]mailbox.Signal
	next int
}

func (e *early) add(s mailbox.Signal) {
	e.last[e.next%len(e.last)] = s
	e.next++
}

func (e *early) of(turn chat.TurnID) []mailbox.Signal {
	var list []mailbox.Signal
	for _, s := range e.last {
		if s.Stop == turn || s.Steer == turn {
			list = append(list, s)
		}
	}
	return list
}

// signal applies one signal.
func (r *Runtime) signal(s mailbox.Signal) {
	if s.Work != nil || s.Began || s.Tasks { // what was offered before it began was not heard
		r.look()
		return
	}
	turn := s.Stop
	if turn == "" {
		turn = s.Steer
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.holders[turn]; h != nil {
		h.tell(s)
	} else {
		r.early.add(s)
	}
}

// held are the turns that run here now.
func (r *Runtime) held() []*holder {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := make([]*holder, 0, len(r.holders))
	for _, h := range r.holders {
		held = append(held, h)
	}
	return held
}
