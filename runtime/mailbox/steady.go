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

// steady remembers when the store last was in trouble: a call that it did not
// answer, refused for its own sake, or answered late.
type steady struct {
	slow     time.Duration
	mu       sync.Mutex
	trouble  time.Time
	answered time.Time // when the last call was made that went well
}

func (s *steady) heard(err error, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := time.Now(); {
	case err == nil && took < s.slow:
		s.answered = now.Add(-took)
	case err == nil || away(err):
		s.trouble = now
	}
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
// whose leases have ended: until the store has answered for one TTL. While it
// was away nobody could renew, and a holder that comes back goes on. It is 0
// when there was no trouble of late.
func (b *Box) Unsettled() time.Duration {
	b.steady.mu.Lock()
	defer b.steady.mu.Unlock()
	if b.steady.trouble.IsZero() {
		return 0
	}
	return max(0, b.opts.LeaseTTL-time.Since(b.steady.trouble))
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
