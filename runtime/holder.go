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
	errStopped    = errors.New("the turn was stopped")
	errLeaseLost  = errors.New("the lease can no longer be trusted")
	errHandedOver = errors.New("the turn is handed over")
)

// holder is a turn that this process runs: its lease, and what it is told.
type holder struct {
	ref     mailbox.Ref
	actor   chat.Actor
	steered atomic.Bool
	cancel  context.CancelCauseFunc
	// trust cancels the run when the lease can no longer be trusted.
	trust *time.Timer
}

// hold makes a holder of a claim and a context that ends with its trust, its
// time budget, a stop, or the end of the process.
func (r *Runtime) hold(c *mailbox.Claimed) (context.Context, *holder, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	h := &holder{
		ref:   mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token},
		actor: c.Actor, cancel: cancel,
	}
	h.trust = time.AfterFunc(time.Until(r.opts.Box.Trusted(c.Start)), func() { cancel(errLeaseLost) })
	spent := time.AfterFunc(r.opts.TurnTimeout-c.Ran, func() { cancel(&agent.Failure{Kind: agent.TimeSpent}) })
	unbind := context.AfterFunc(r.cut, func() { cancel(errHandedOver) })
	r.mu.Lock()
	r.holders[c.Turn] = h
	r.mu.Unlock()
	return ctx, h, func() {
		r.mu.Lock()
		delete(r.holders, c.Turn)
		r.mu.Unlock()
		h.trust.Stop()
		spent.Stop()
		unbind()
		cancel(context.Canceled)
	}
}

// renew keeps the leases of all turns that run here, in one round trip each
// time. The answers also carry stops and steers whose signal was lost.
func (r *Runtime) renew(ctx context.Context) {
	tick := time.NewTicker(r.opts.RenewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.renewAll(ctx)
		}
	}
}

func (r *Runtime) renewAll(ctx context.Context) {
	r.mu.Lock()
	held := make([]*holder, 0, len(r.holders))
	for _, h := range r.holders {
		held = append(held, h)
	}
	r.mu.Unlock()
	if len(held) == 0 {
		return
	}
	refs := make([]mailbox.Ref, len(held))
	for i, h := range held {
		refs[i] = h.ref
	}
	start := time.Now()
	pulses, errs := r.opts.Box.Renew(ctx, refs)
	for i, h := range held {
		switch {
		case errors.Is(errs[i], mailbox.ErrStale):
			h.cancel(errLeaseLost)
		case errs[i] != nil:
			r.opts.Logger.Warn("lease not renewed", "turn", h.ref.Turn, "err", errs[i])
		default:
			h.trust.Reset(time.Until(r.opts.Box.Trusted(start)))
			if pulses[i].Unread > 0 {
				h.steered.Store(true)
			}
			if pulses[i].Stop != nil {
				h.cancel(errStopped)
			}
		}
	}
}

// listen takes the signals of other processes.
func (r *Runtime) listen(ctx context.Context) {
	_ = r.opts.Box.Signals(ctx, r.signal)
}

// signal applies one signal. A turn that is not ours (any more) is none of our
// business.
func (r *Runtime) signal(s mailbox.Signal) {
	if s.Work != nil {
		r.look()
		return
	}
	turn := s.Stop
	if turn == "" {
		turn = s.Steer
	}
	r.mu.Lock()
	h := r.holders[turn]
	r.mu.Unlock()
	switch {
	case h == nil:
	case s.Stop != "":
		h.cancel(errStopped)
	default:
		h.steered.Store(true)
	}
}
