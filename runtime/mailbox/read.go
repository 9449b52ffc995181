package mailbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// ClosedTurn is a turn of a conversation's history.
type ClosedTurn struct {
	Turn    chat.TurnID
	Number  int64 // closing number
	Actor   chat.Actor
	Outcome Outcome
	Log     []Item
}

// historyBatch is how many closed turns the first round trip brings, which is
// enough for most; each later one brings twice as many, up to historyMost.
const (
	historyBatch = 8
	historyMost  = 64
)

// History reads closed turns of a conversation, newest first, from closing
// number upTo on down. It asks for more while more answers true; what was
// never read is its cost saved. missing says that older ones were left.
func (b *Box) History(ctx context.Context, c chat.Conversation, upTo int64, more func(ClosedTurn) bool) (missing bool, err error) {
	for batch := int64(historyBatch); upTo > 0; batch = min(2*batch, historyMost) {
		turns, err := b.historyPage(ctx, c, upTo, batch)
		if err != nil || len(turns) == 0 {
			return false, err
		}
		for _, t := range turns {
			if !more(t) {
				return true, nil
			}
		}
		upTo = turns[len(turns)-1].Number - 1
	}
	return false, nil
}

func (b *Box) historyPage(ctx context.Context, c chat.Conversation, upTo, batch int64) ([]ClosedTurn, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	ids, err := b.rdb.ZRevRangeByScoreWithScores(ctx, b.keys.closed(c), &redis.ZRangeBy{
		Min: "-inf", Max: strconv.FormatInt(upTo, 10), Count: batch,
	}).Result()
	if err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", c.Key(), err)
	}
	heads, logs := make([]*redis.SliceCmd, len(ids)), make([]*redis.StringSliceCmd, len(ids))
	if len(ids) == 0 {
		return nil, nil
	}
	_, err = b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, z := range ids {
			t := chat.TurnID(z.Member.(string))
			heads[i] = p.HMGet(ctx, b.keys.turn(c, t), "actor", "state")
			logs[i] = p.LRange(ctx, b.keys.log(c, t), 0, -1)
		}
		return nil
	})
	if err != nil && !broken(err) { // what cannot be read leaves a gap
		return nil, fmt.Errorf("read the history of %s: %w", c.Key(), err)
	}
	turns := make([]ClosedTurn, len(ids))
	for i, z := range ids {
		head := heads[i].Val()
		if len(head) < 2 {
			head = []any{"", ""}
		}
		actor, _ := chat.ParseActor(str(head[0]))
		items := make([]any, 0, len(logs[i].Val()))
		for _, s := range logs[i].Val() {
			items = append(items, s)
		}
		turns[i] = ClosedTurn{chat.TurnID(z.Member.(string)), int64(z.Score), actor, Outcome(str(head[1])), readItems(items)}
	}
	return turns, nil
}

// ReadTurn reads one turn, open or ended; ok is false when it is not kept any
// more. Of one that is open the number is 0, and the outcome its state.
func (b *Box) ReadTurn(ctx context.Context, c chat.Conversation, turn chat.TurnID) (t ClosedTurn, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	var head *redis.SliceCmd
	var log *redis.StringSliceCmd
	_, err = b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		head = p.HMGet(ctx, b.keys.turn(c, turn), "actor", "state", "number")
		log = p.LRange(ctx, b.keys.log(c, turn), 0, -1)
		return nil
	})
	if err != nil {
		return ClosedTurn{}, false, fmt.Errorf("read turn %s: %w", turn, err)
	}
	f := head.Val()
	actor, ok := chat.ParseActor(str(f[0]))
	items := make([]any, 0, len(log.Val()))
	for _, s := range log.Val() {
		items = append(items, s)
	}
	return ClosedTurn{turn, num(f[2]), actor, Outcome(str(f[1])), readItems(items)}, ok, nil
}

// Fact reads a cached fact of a person's account; nil when none is cached.
func (b *Box) Fact(ctx context.Context, who chat.Actor) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	raw, err := b.rdb.Get(ctx, b.keys.fact(who)).Bytes()
	if isNil(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a fact of %s: %w", who.Key(), err)
	}
	return raw, nil
}

// KeepFact caches a fact for a while.
func (b *Box) KeepFact(ctx context.Context, who chat.Actor, fact []byte, ttl time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	if err := b.rdb.Set(ctx, b.keys.fact(who), fact, ttl).Err(); err != nil {
		return fmt.Errorf("keep a fact of %s: %w", who.Key(), err)
	}
	return nil
}

// Once answers true the first time that it is asked for a name within ttl, on
// whatever replica.
func (b *Box) Once(ctx context.Context, name string, ttl time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	first, err := b.rdb.SetNX(ctx, b.keys.once(name), "1", ttl).Result()
	if err != nil {
		return false, fmt.Errorf("ask once for %s: %w", name, err)
	}
	return first, nil
}
