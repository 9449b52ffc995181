package mailbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// MaxGap is how far reading back goes at most. It is less than a message is
// known: what is read again later than that would be taken for new.
const MaxGap = 7 * 24 * time.Hour

// touchedFor is how long before a gap a thread may have been spoken in last, to
// be read back.
const touchedFor = 7 * 24 * time.Hour

// Sign says that this process can acknowledge: a socket stands, and the store
// can be written if this is.
type Sign struct {
	// Silent is how long nothing was heard from Slack, pings included.
	Silent time.Duration
	// NewSocket: a socket was opened since the last sign.
	NewSocket bool
	// GapAfter is the longest pause between two signs, of whatever processes,
	// that is no gap; DeafAfter the longest silence before a new socket.
	GapAfter, DeafAfter time.Duration
	// Lease is how long the right to read back lasts without another sign.
	Lease time.Duration
}

// Gap is a time in which nobody could acknowledge, and which is not read back.
// It is one record: a later gap prolongs one that stands.
type Gap struct {
	Number int64
	From   time.Time // by the store's clock, and at most MaxGap ago
	// Opened: this sign was the one that opened or prolonged it.
	Opened bool
	// Mine: this process has the right to read it back, until Sign.Lease after
	// the sign was sent.
	Mine bool
}

// Stamp gives a sign of life, by the store's clock, and answers the gap that
// stands, or nil. The first sign ever opens none.
func (b *Box) Stamp(ctx context.Context, s Sign) (*Gap, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	deaf := time.Duration(0)
	if s.NewSocket {
		deaf = s.DeafAfter
	}
	v, err := b.one(ctx, &b.scripts.stamp, []string{b.keys.alive()}, b.keys.prefix, b.owner,
		s.Silent.Milliseconds(), s.GapAfter.Milliseconds(), deaf.Milliseconds(), s.Lease.Milliseconds(), nonce())
	if err != nil {
		return nil, fmt.Errorf("give a sign of life: %w", err)
	}
	if len(v) < 5 {
		return nil, nil
	}
	return &Gap{
		Opened: num(v[1]) == 1, Number: num(v[2]), Mine: num(v[4]) == 1,
		From: time.UnixMilli(max(num(v[3]), num(v[0])-MaxGap.Milliseconds())),
	}, nil
}

// CloseGap says that a gap of ours was read back. false: it stands on, because
// it was prolonged meanwhile or is another's.
func (b *Box) CloseGap(ctx context.Context, g Gap) (closed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	v, err := b.one(ctx, &b.scripts.closeGap, []string{b.keys.alive()}, b.keys.prefix, b.owner, g.Number)
	if err != nil {
		return false, fmt.Errorf("close gap %d: %w", g.Number, err)
	}
	return len(v) > 0 && num(v[0]) == 1, nil
}

// Touched are the threads in which somebody spoke in the seven days before a
// time or since, those of last first: of each of our conversations the thread
// that it stands in, and in DMs each thread that belongs to one.
func (b *Box) Touched(ctx context.Context, before time.Time) ([]chat.Conversation, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	cmds := make([]*redis.ZSliceCmd, shards)
	oldest := strconv.FormatInt(before.Add(-touchedFor).UnixMilli(), 10)
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range shards {
			cmds[n] = p.ZRangeByScoreWithScores(ctx, b.keys.touched(n), &redis.ZRangeBy{Min: oldest, Max: "+inf"})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read which conversations were touched: %w", err)
	}
	var all []redis.Z
	for _, cmd := range cmds {
		all = append(all, cmd.Val()...)
	}
	slices.SortStableFunc(all, func(a, b redis.Z) int {
		return cmp.Compare(b.Score, a.Score)
	})
	touched := make([]chat.Conversation, 0, len(all))
	for _, z := range all {
		if c, ok := chat.ParseConversation(z.Member.(string)); ok {
			touched = append(touched, c)
		}
	}
	return touched, nil
}
