package mailbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reeve/runtime/chat"
)

// ErrNotOpen says that a turn has ended already.
var ErrNotOpen = errors.New("the turn has ended")

// ErrNotUntouched says that a turn is not one that waits because nobody had
// touched it.
var ErrNotUntouched = errors.New("the turn does not wait for being resumed")

// Abandon ends an open turn for an operator, whoever holds it. Its actor is
// told in the same step; a worker that still runs it is refused from there on.
// It is ErrNotOpen when the turn has ended.
func (b *Box) Abandon(ctx context.Context, c chat.Conversation, turn chat.TurnID) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	actor, err := b.rdb.HGet(ctx, b.keys.turn(c, turn), "actor").Result()
	if err != nil && !isNil(err) {
		return fmt.Errorf("abandon turn %s: %w", turn, err)
	}
	who, _ := chat.ParseActor(actor)
	part, err := tell(turn, "o", b.concerned(ctx, c, turn, who), tellEnded(turn))
	if err != nil {
		return fmt.Errorf("abandon turn %s: %w", turn, err)
	}
	v, err := b.one(ctx, &b.scripts.abandon, []string{b.keys.turn(c, turn), b.keys.conv(c), b.keys.index(c)},
		b.keys.of(c), c.Key(), string(turn), part)
	if err != nil {
		return fmt.Errorf("abandon turn %s: %w", turn, err)
	}
	if len(v) == 0 || num(v[0]) != 1 {
		return fmt.Errorf("abandon turn %s: %w", turn, ErrNotOpen)
	}
	return nil
}

// Resume lets a turn go on that waits because nobody had touched it. Whoever
// has room runs it. It is ErrNotUntouched for any other turn.
func (b *Box) Resume(ctx context.Context, c chat.Conversation, turn chat.TurnID) error {
	callCtx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	f, err := b.rdb.HMGet(callCtx, b.keys.turn(c, turn), "wait", "wait_id").Result()
	var end WaitEnd
	if err == nil && str(f[0]) == untouched {
		end, err = b.endWait(ctx, EndingWait{
			Conversation: c, Turn: turn, Wait: WaitID(str(f[1])), Ending: chat.Ending{How: chat.ByOperator},
		})
	}
	if err != nil {
		return fmt.Errorf("resume turn %s: %w", turn, err)
	}
	if !end.Ended {
		return fmt.Errorf("resume turn %s: %w", turn, ErrNotUntouched)
	}
	return nil
}

// dayKept is how long a day's count of tokens is kept, in whatever zone that
// day is.
const dayKept = 48 * time.Hour

// Tokens is how many tokens an actor's turns have spent on a day, on all
// replicas together.
func (b *Box) Tokens(ctx context.Context, who chat.Actor, day string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	n, err := b.rdb.Get(ctx, b.keys.tokens(who, day)).Int()
	if err != nil && !isNil(err) {
		return 0, fmt.Errorf("read the tokens of %s: %w", who.Key(), err)
	}
	return n, nil
}

// AddTokens counts tokens that an actor's turn has spent.
func (b *Box) AddTokens(ctx context.Context, who chat.Actor, day string, n int) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	key := b.keys.tokens(who, day)
	if err := b.rdb.IncrBy(ctx, key, int64(n)).Err(); err != nil {
		return fmt.Errorf("count the tokens of %s: %w", who.Key(), err)
	}
	return b.rdb.Expire(ctx, key, dayKept).Err()
}
