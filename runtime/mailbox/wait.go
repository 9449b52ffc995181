package mailbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"reeve/runtime/chat"
)

// WaitID names one wait of a turn. A turn may wait several times, and whatever
// ends one wait (a click that comes late, say) must not end another: so whoever
// can end one carries its name.
type WaitID string

// Waited is the last wait of a turn that was parked.
type Waited struct {
	ID WaitID
	// For is what it waited for, and Ended how that ended, as they were given.
	For, Ended []byte
}

// WaitExpired is how a wait ended whose time was over.
const WaitExpired = "expired"

// Park is a run's last write before its turn waits.
type Park struct {
	Ref
	Number int64
	// For is what the turn waits for, opaque to the store.
	For []byte
	// Within is for how long it waits at most, by the store's clock: then the
	// wait ends as WaitExpired. 0: until somebody ends it.
	Within  time.Duration
	Entries [][]byte
	// Parts are posted in the same step: whoever is to be asked is asked.
	Parts []chat.Part
	Next  Next
}

// ID is what the wait will be named. It is known before the turn is parked, so
// that what asks for an answer can carry it.
func (p Park) ID() WaitID { return WaitID(strconv.FormatInt(p.Number, 10)) }

// Parking is what a park found.
type Parking struct {
	// Parked: the turn waits. Otherwise a steer waits to be read first, or the
	// turn is being stopped, and nothing was written.
	Parked bool
	Stop   *Stop
	// Send is set when this process is to post Parts: all that stands in the
	// outbox, oldest first.
	Send  *SendLease
	Parts []chat.Part
	Next  *Claimed
}

// Park makes a turn wait for something outside. It holds nobody meanwhile.
func (b *Box) Park(ctx context.Context, p Park) (Parking, error) {
	ctx, cancel := context.WithTimeout(ctx, b.runTimeout())
	defer cancel()
	c := p.Conversation
	args := []any{b.keys.of(c), c.Key(), string(p.Turn), string(p.Token), p.Number, p.For, b.owner, nonce(),
		b.opts.LeaseTTL.Milliseconds(), string(p.Next.Turn), p.Next.Setup, bit(p.Next.Claim), p.Within.Milliseconds(), len(p.Entries)}
	for _, e := range p.Entries {
		args = append(args, e)
	}
	parts, items, err := partItems(p.Parts)
	if err != nil {
		return Parking{}, fmt.Errorf("park turn %s: %w", p.Turn, err)
	}
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.park, []string{b.keys.turn(c, p.Turn), b.keys.log(c, p.Turn), b.keys.conv(c),
		b.keys.out(c), b.keys.index(c)}, append(args, items...)...)
	if err != nil {
		return Parking{}, fmt.Errorf("park turn %s: %w", p.Turn, err)
	}
	switch {
	case len(v) == 0:
		return Parking{}, fmt.Errorf("park turn %s: %w", p.Turn, b.stale("park"))
	case str(v[0]) == "stopping":
		return Parking{Stop: readStop(v[1], v[2])}, nil
	case str(v[0]) == "open":
		return Parking{}, nil
	}
	out := Parking{Parked: true}
	out.Send, out.Parts = b.sendLease(ctx, c, v[2], v[3], start, parts)
	out.Next, err = readClaimed(v[1], start)
	return out, b.unread(ctx, c, err)
}

// EndWait puts a parked turn into the queue. ended is false when it does not
// wait, or not in this wait: something else has ended it.
func (b *Box) EndWait(ctx context.Context, c chat.Conversation, turn chat.TurnID, wait WaitID, how []byte, next Next) (ended bool, got *Claimed, err error) {
	if wait == "" {
		return false, nil, fmt.Errorf("end the wait of turn %s: which one is not said", turn)
	}
	return b.endWait(ctx, c, turn, wait, how, next)
}

// ExpireWait puts a parked turn into the queue if the time of its wait is over.
func (b *Box) ExpireWait(ctx context.Context, c chat.Conversation, turn chat.TurnID, next Next) (ended bool, got *Claimed, err error) {
	return b.endWait(ctx, c, turn, "", []byte(WaitExpired), next)
}

func (b *Box) endWait(ctx context.Context, c chat.Conversation, turn chat.TurnID, wait WaitID, how []byte, next Next) (ended bool, got *Claimed, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.endWait, []string{b.keys.turn(c, turn), b.keys.conv(c), b.keys.index(c)},
		b.keys.of(c), c.Key(), string(turn), string(wait), how, b.owner, nonce(), b.opts.LeaseTTL.Milliseconds(),
		string(next.Turn), next.Setup, bit(next.Claim))
	if err != nil {
		return false, nil, fmt.Errorf("end the wait of turn %s: %w", turn, err)
	}
	if len(v) < 2 || num(v[0]) == 0 {
		return false, nil, nil
	}
	got, err = readClaimed(v[1], start)
	return true, got, b.unread(ctx, c, err)
}
