package runtime

import (
	"context"
	"errors"
	"time"

	"reeve/runtime/mailbox"
)

// renew keeps the leases of all turns that run here, in one round trip each
// time. The answers also carry stops and steers whose signal was lost.
func (r *Runtime) renew(ctx context.Context) {
	every(ctx, r.opts.RenewEvery, func(ctx context.Context) {
		r.renewAll(ctx)
		r.renewTasks(ctx)
	})
}

func (r *Runtime) renewAll(ctx context.Context) {
	held := r.held()
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
			h.drop(errLeaseLost)
		case errs[i] != nil:
			r.opts.Logger.Warn("lease not renewed", "turn", h.ref.Turn, "err", errs[i])
		default:
			h.trust(r.opts.Box.Trusted(start))
			if pulses[i].Unread > 0 {
				h.steered.Store(true)
			}
			if pulses[i].Stop != nil {
				h.stop(errStopped)
			}
		}
	}
}

// watch looks at the clocks, and asks whether the store answers, unless it just
// has: one that was away while nobody asked it would make lost workers of all
// that it kept waiting. While it is away it is asked again soon, so that a
// moment of trouble counts as one.
func (r *Runtime) watch(ctx context.Context) {
	quiet := r.opts.Box.LeaseTTL() * 9 / 40 // a little more than the pause between signs of life
	every(ctx, quiet/9, func(ctx context.Context) {
		for _, h := range r.held() {
			if h.slept() {
				h.drop(errLeaseLost)
			}
		}
		if r.opts.Box.Answered() < quiet && !r.opts.Box.Away() {
			return
		}
		was := r.opts.Box.Away()
		if err := r.opts.Box.Ping(ctx); err != nil && ctx.Err() == nil && !was {
			r.opts.Logger.Warn("store not reached", "err", err)
		}
	})
}

// listen takes the signals of other processes.
func (r *Runtime) listen(ctx context.Context) {
	_ = r.opts.Box.Signals(ctx, r.signal)
}

func every(ctx context.Context, pause time.Duration, f func(context.Context)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f(ctx)
		}
	}
}
