package mailbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// slow is how long an answer may take before the store counts as away: a
// second, or less where leases are so short that one could end before.
func (o Options) slow() time.Duration {
	return max(min(time.Second, o.LeaseTTL/4), 200*time.Millisecond)
}

// steady watches whether live workers could keep their leases. The store is in
// trouble while calls are not answered, refused for its own sake, or answered
// late. A worker that renews in time keeps its lease through four tenths of a
// TTL of it; more may have cost live workers their leases, and then they are
// given one TTL of answers. Time in trouble is a debt, two and a half times what
// it took, which answers pay back: trouble that comes again and again, but is
// short, is so never taken for an outage.
type steady struct {
	slow, ttl time.Duration

	mu       sync.Mutex
	answered time.Time     // when the last call was made that went well
	trouble  time.Time     // when a call last did not
	away     bool          // nothing went well since
	debt     time.Duration // at the time at; one TTL at most
	at       time.Time
	owing    bool // the debt was a TTL, and is not paid back
}

func (s *steady) heard(err error, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	start, late := now.Add(-took), took >= s.slow
	switch {
	case err == nil && !late:
		s.pass(now)
		s.away, s.answered = false, start
	case err == nil || away(err):
		if !s.away {
			// Others may have been answered while this call was not.
			if s.answered.After(start) {
				start = s.answered
			}
			s.pass(start)
			s.away = true
		}
		s.pass(now)
		s.away, s.trouble = err != nil, now
	}
}

// pass brings the debt up to a time.
func (s *steady) pass(to time.Time) {
	s.debt, s.owing = s.owed(to)
	if to.After(s.at) {
		s.at = to
	}
}

// owed is the debt at a time, and whether it is still to be paid back.
func (s *steady) owed(at time.Time) (time.Duration, bool) {
	took := max(0, at.Sub(s.at))
	if s.away {
		debt := min(s.ttl, s.debt+min(s.ttl, took)*5/2)
		return debt, s.owing || debt == s.ttl
	}
	debt := max(0, s.debt-took)
	return debt, s.owing && debt > 0
}

func (s *steady) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *steady) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		start := time.Now()
		err := next(ctx, cmd)
		s.heard(err, time.Since(start))
		return err
	}
}

func (s *steady) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		start := time.Now()
		err := next(ctx, cmds)
		s.heard(err, time.Since(start))
		return err
	}
}

// Unsettled is for how long this process is still to leave alone the turns
// whose leases have ended, if the store goes on answering: after trouble that
// may have cost a live worker its lease, one TTL. While the store was away nobody
// could renew, and a holder that comes back goes on. It is 0 when there was no
// such trouble of late.
func (b *Box) Unsettled() time.Duration {
	b.steady.mu.Lock()
	defer b.steady.mu.Unlock()
	debt, owing := b.steady.owed(time.Now())
	if !owing {
		return 0
	}
	return debt
}

// Troubled reports whether a call went badly for the store's sake within the
// last TTL.
func (b *Box) Troubled() bool {
	b.steady.mu.Lock()
	defer b.steady.mu.Unlock()
	return !b.steady.trouble.IsZero() && time.Since(b.steady.trouble) < b.opts.LeaseTTL
}

// Away reports whether no call went well since one did not.
func (b *Box) Away() bool {
	b.steady.mu.Lock()
	defer b.steady.mu.Unlock()
	return b.steady.away
}

// Answered is how long ago the last call was made that the store answered well.
func (b *Box) Answered() time.Duration {
	b.steady.mu.Lock()
	defer b.steady.mu.Unlock()
	return time.Since(b.steady.answered)
}

// Ping asks the store for a sign of life, which Unsettled counts.
func (b *Box) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.slow())
	defer cancel()
	if err := b.rdb.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping redis: %w", err)
	}
	return nil
}

// away reports whether an error says that the store is away, or takes no
// writes, rather than something about the call.
func away(err error) bool { return passing(err) || refused(err) }

// passing reports whether an error says nothing about whether the call was
// carried out.
func passing(err error) bool {
	var answer redis.Error
	return err != nil && !errors.As(err, &answer) && !errors.Is(err, redis.ErrClosed) && !errors.Is(err, context.Canceled)
}

// refused reports whether the store did not carry the call out, for a reason
// that passes. In a Cluster the client has then learned the slot's place.
func refused(err error) bool {
	for _, prefix := range []string{"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "LOADING", "READONLY",
		"MASTERDOWN", "NOREPLICAS", "MISCONF", "OOM"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}
