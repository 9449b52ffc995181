package mailbox

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// Posted is a part with which the sender has done.
type Posted struct {
	ID string
	// Channel and TS are the message that it became, in a channel or in a DM;
	// empty: it stands nowhere. An empty Channel is that of its conversation.
	Channel chat.ChannelID
	TS      chat.TS
	// Card: it has buttons. Where it stands is kept, so that it can be edited.
	Card bool
	// DM: it was addressed to a person. What is written below it begins nothing.
	DM bool
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
		own, place := p.TS, ""
		if p.Channel != "" && p.Channel != c.Channel {
			own = ""
		}
		if p.Card && p.TS != "" {
			place = string(cmp.Or(p.Channel, c.Channel)) + " " + string(p.TS)
		}
		args = append(args, p.ID, string(own), why, instead, place, p.below())
	}
	b.known(ctx, c, done)
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

// below says what a part is to whoever replies below it.
func (p Posted) below() string {
	switch {
	case p.DM && p.Card:
		return BelowCard
	case p.DM:
		return BelowNotice
	}
	return ""
}

// known writes down, beside the outbox, which messages of DMs in other shards are
// ours, so that a reply below one, or a reaction to one, is known to be one. That it
// fails holds nothing up: the reply is then taken for a request of its own.
func (b *Box) known(ctx context.Context, c chat.Conversation, done []Posted) {
	pipe := b.rdb.TxPipeline()
	for _, p := range done {
		if p.TS == "" || p.below() == "" || p.Channel == "" || p.Channel == c.Channel {
			continue
		}
		turn, _, _ := strings.Cut(p.ID, "/")
		key := b.keys.message(chat.MessageID{Team: c.Team, Channel: p.Channel, TS: p.TS})
		// It has a state of its own: its turn is in another shard, and a reaction to
		// it is put there (see put.go).
		pipe.HSet(ctx, key, "v", 1, "state", "notice", "first", "i", "turn", turn, "below", p.below(), "of", c.Key())
		pipe.PExpire(ctx, key, messageKeyLife)
	}
	if pipe.Len() == 0 {
		return
	}
	if _, err := pipe.Exec(ctx); err != nil {
		slog.Warn("what is below a post in a DM will be taken for a request", "conversation", c.Key(), "err", err)
	}
}

// PostedAt is where a card was posted; ok is false when that is not known: it has
// not been, or was longer ago than messages are known for.
func (b *Box) PostedAt(ctx context.Context, c chat.Conversation, part string) (channel chat.ChannelID, ts chat.TS, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	at, err := b.rdb.Get(ctx, b.keys.place(c, part)).Result()
	if err != nil && !isNil(err) {
		return "", "", false, fmt.Errorf("read where part %s stands: %w", part, err)
	}
	where, when, ok := strings.Cut(at, " ")
	return chat.ChannelID(where), chat.TS(when), ok, nil
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
	item, err = tell(chat.TurnID(turn), number+".dm", b.concerned(ctx, c, chat.TurnID(turn), who), p.Unsent.Tell)
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
