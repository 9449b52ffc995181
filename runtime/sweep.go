package runtime

import (
	"context"
	"time"
)

// sweep lets one replica at a time look for what leases do not find: records
// that do not fit each other, and work that no index names.
func (r *Runtime) sweep(ctx context.Context) {
	tick := time.NewTicker(r.opts.SweepEvery)
	defer tick.Stop()
	var cursor int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		mine, err := r.opts.Box.Once(ctx, "sweep", r.opts.SweepEvery*3/4)
		if err == nil && mine {
			cursor, err = r.opts.Box.Sweep(ctx, cursor)
		}
		if err != nil && ctx.Err() == nil {
			r.opts.Logger.Warn("not swept", "err", err)
		}
	}
}
