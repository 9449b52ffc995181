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
	// For is what it waited for, as it was given, and Ended how that ended.
	For   []byte
	Ended chat.Ending
}

// Park is a run's last write before its turn waits.
type Park struct {
	Ref
	Number int64
	// For is what the turn waits for, opaque to the store: a chat.Asking as JSON.
	For []byte
	// Within is for how long it waits at most, by the store's clock: then the
	// wait ends by time. 0: until somebody ends it.
	Within  time.Duration
	Entries [][]byte
	// Parts are posted in the same step: whoever is to be asked is asked.
	Parts []chat.Part
	// Card is the id of the one among Parts that asks; empty: none does. When it
	// cannot be posted, the wait ends as chat.ByNoCard.
	Card string
	// Void takes the place of the card when the wait ends in any other way than by
	// EndWait with parts, and when a stop, or an abandon, comes between such an
	// answer and the worker that takes it up. Its card is what it is to show; how and
	// when the wait ended is put in by the step that ends it, which queues the
	// part too. Its ID is its own in the turn, and no id of Parts. nil: nothing is
	// said.
	Void *chat.Part
	// Leave are authors whose unread steers the turn does not wait for, since it
	// cannot be found out whether they may instruct: these become their follow-ups.
	Leave []chat.Actor
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
	// Unread: one of the steers may be read. Unchecked are those of which that is
	// not known.
	Unread    bool
	Unchecked []Unchecked
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
	void, err := p.void()
	if err != nil {
		return Parking{}, fmt.Errorf("park turn %s: %w", p.Turn, err)
	}
	args := []any{b.keys.of(c), c.Key(), string(p.Turn), string(p.Token), p.Number, p.For, b.owner, nonce(),
		b.opts.LeaseTTL.Milliseconds(), string(p.Next.Turn), p.Next.Setup, bit(p.Next.Claim), p.Within.Milliseconds(),
		p.Card, void, kindOfWait(string(p.For)), actorList(p.Leave), len(p.Entries)}
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
		return Parking{Unread: num(v[1]) == 1, Unchecked: readUnchecked(v[2])}, nil
	}
	out := Parking{Parked: true}
	out.Send, out.Parts = b.sendLease(ctx, c, v[2], v[3], start, parts)
	out.Next, err = readClaimed(v[1], start)
	return out, b.unread(ctx, c, err)
}
