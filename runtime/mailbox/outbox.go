package mailbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// Posted is a part with which the sender has done.
type Posted struct {
	ID string
	// TS is the message that it became, in its conversation's channel; empty
	// when it stands elsewhere, or nowhere.
	TS chat.TS
	// Unsent is set when it was not posted, and will not be.
	Unsent *Unsent
}

// Unsent is what becomes of a part that is not posted. It is set aside, and the
// actor of its turn is told by DM, once a turn.
type Unsent struct {
	Why string // for an operator
	// Tell is what the actor is told, as Markdown; empty: nothing.
	Tell string
	// Moved: Tell has all that the part says, so that nothing is set aside. An
	// actor who has no DM cannot be given it: then the part is.
	Moved bool
}

// Sent removes parts from the conversation's outbox and keeps the sender's
// lease, or releases it with the last part. It answers what is left, oldest
// first, or ErrStale.
func (b *Box) Sent(ctx context.Context, l SendLease, done ...Posted) ([]chat.Part, error) {
	return b.sent(ctx, l, b.opts.LeaseTTL, done)
}

// Release does the same and gives the lease up, with parts or without: another
// replica goes on with what is left at once.
func (b *Box) Release(ctx context.Context, l SendLease, done ...Posted) error {
	_, err := b.sent(ctx, l, 0, done)
	return err
}

func (b *Box) sent(ctx context.Context, l SendLease, keep time.Duration, done []Posted) ([]chat.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	c := l.Conversation
	args := []any{b.keys.of(c), c.Key(), string(l.Token), keep.Milliseconds()}
	for _, p := range done {
		why, instead, err := b.instead(ctx, c, p)
		if err != nil {
			return nil, fmt.Errorf("set aside part %s: %w", p.ID, err)
		}
		args = append(args, p.ID, string(p.TS), why, instead)
	}
	v, err := b.one(ctx, &b.scripts.sent, []string{b.keys.conv(c), b.keys.out(c), b.keys.index(c)}, args...)
	if err != nil {
		return nil, fmt.Errorf("mark parts of %s as sent: %w", c.Key(), err)
	}
	if len(v) < 2 {
		return nil, fmt.Errorf("mark parts of %s as sent: %w", c.Key(), b.stale("sent"))
	}
	if num(v[0]) == 2 {
		b.tasksDue()
	}
	if n := num(v[1]); n > 0 {
		b.opts.Count(CountAside, "out", int(n))
	}
	return b.parts(ctx, c, v[2:]), nil
}

// instead is why a part is set aside, if it is, and the part that goes to its
// turn's actor in its place, if one does.
func (b *Box) instead(ctx context.Context, c chat.Conversation, p Posted) (why, item string, err error) {
	if p.Unsent == nil {
		return "", "", nil
	}
	why = p.Unsent.Why
	if p.Unsent.Tell == "" {
		return why, "", nil
	}
	turn, number, _ := strings.Cut(p.ID, "/")
	key, err := b.rdb.HGet(ctx, b.keys.turn(c, chat.TurnID(turn)), "actor").Result()
	if err != nil && !isNil(err) && !redis.HasErrorPrefix(err, "WRONGTYPE") {
		return "", "", fmt.Errorf("read the actor of %s: %w", turn, err)
	}
	who, _ := chat.ParseActor(key)
	item, err = tell(chat.TurnID(turn), number+".dm", who, p.Unsent.Tell)
	if item != "" && p.Unsent.Moved {
		why = ""
	}
	return why, item, err
}

// sendLease is the sender's lease that a step has answered, if it has one for
// this process, and what is to be posted: the step's own parts, unless an earlier
// sender has left some.
func (b *Box) sendLease(ctx context.Context, c chat.Conversation, token, look any, start time.Time, parts []chat.Part) (*SendLease, []chat.Part) {
	if str(token) == "" {
		return nil, nil
	}
	l := &SendLease{Conversation: c, Token: Token(str(token)), Start: start, Look: num(look) == 1}
	if !l.Look {
		return l, parts
	}
	parts, err := b.Sent(ctx, *l)
	if err != nil {
		return nil, nil // the step stands; whoever finds the lease ended posts
	}
	return l, parts
}

// ClaimSending takes over an outbox whose sender is lost; ok is false when
// there is nothing to take.
func (b *Box) ClaimSending(ctx context.Context, c chat.Conversation) (l SendLease, parts []chat.Part, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.sendClaim, []string{b.keys.conv(c), b.keys.out(c), b.keys.index(c)},
		b.keys.of(c), c.Key(), nonce(), b.opts.LeaseTTL.Milliseconds())
	if err != nil {
		return SendLease{}, nil, false, fmt.Errorf("take over the outbox of %s: %w", c.Key(), err)
	}
	if len(v) < 2 {
		return SendLease{}, nil, false, nil
	}
	l = SendLease{Conversation: c, Token: Token(str(v[0])), Start: start, Look: true}
	return l, b.parts(ctx, c, v[1:]), true, nil
}
