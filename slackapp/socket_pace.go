package slackapp

import (
	"context"
	"math/rand/v2"
	"time"

	"golang.org/x/time/rate"
)

// pace says when a socket may be dialled. slack-go redials at once whatever
// happens; a server that takes a socket and throws it out again
// (too_many_websockets) would be dialled hundreds of times a second.
type pace struct {
	// dials bounds all sockets of this process together.
	dials *rate.Limiter
	// first is the wait after a failure; it doubles up to most. A socket that
	// stood for stable ends the series.
	first, most, stable time.Duration
}

func newPace() *pace {
	return &pace{
		dials: rate.NewLimiter(rate.Every(5*time.Second), 4),
		first: 500 * time.Millisecond, most: 30 * time.Second, stable: 30 * time.Second,
	}
}

// wait is how long to wait after the given number of failures in a row, with
// a jitter of a half, so that replicas do not come back together.
func (p *pace) wait(failures int) time.Duration {
	if failures == 0 {
		return rand.N(100 * time.Millisecond)
	}
	d := p.most
	if failures < 16 {
		d = min(p.first<<(failures-1), p.most)
	}
	return d/2 + rand.N(d/2+1)
}

// ended is how one connection ended.
type ended struct {
	up  time.Duration // how long it stood; 0 when it never did
	err error
	// after is how long Slack asked to wait.
	after time.Duration
}

// supervise keeps one socket connected: it calls connect again and again, as
// fast as the pace allows, until ctx ends or a token is refused. ready is asked
// before each dial and may wait.
func (p *pace) supervise(ctx context.Context, ready func(context.Context) error,
	connect func(context.Context) ended, lost func(e ended, retry time.Duration)) error {
	for failures := 0; ; {
		if err := ready(ctx); err != nil {
			return err
		}
		if err := p.dials.Wait(ctx); err != nil {
			return err
		}
		e := connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if auth := asAuthError(e.err, appToken); auth != nil {
			return auth
		}
		if failures++; e.up >= p.stable {
			failures = 0
		}
		wait := max(p.wait(failures), e.after)
		lost(e, wait)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
