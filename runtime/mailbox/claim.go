package mailbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"reeve/runtime/chat"
)

// ClaimResult is what a claim found.
type ClaimResult struct {
	// Claimed is the turn to run, or nil.
	Claimed *Claimed
	// Exhausted is a turn that has lost all its workers; close it as Abandoned.
	Exhausted *Exhausted
	// Untouched: nobody had touched for long what was to be claimed. It is
	// parked, and its actor told by Parts, which this process is to post when
	// Send is set.
	Untouched bool
	Send      *SendLease
	Parts     []chat.Part
	// Later is how long the running turn's lease still holds, if one runs.
	Later time.Duration
}

// Exhausted is a turn that is to be abandoned, under a lease of this process.
type Exhausted struct {
	Ref
	Actor   chat.Actor
	Commits int64
}

// Claim takes what is due in a conversation: the turn of a lost worker, or the
// next one in its order.
func (b *Box) Claim(ctx context.Context, c chat.Conversation, next Next, maxAttempts int) (ClaimResult, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	start := time.Now()
	lostBy := ""
	if !next.LostBy.IsZero() {
		lostBy = strconv.FormatInt(next.LostBy.UnixMilli(), 10)
	}
	claim := func(actor, part string) ([]any, error) {
		return b.one(ctx, &b.scripts.claim, []string{b.keys.conv(c), b.keys.index(c)}, b.keys.of(c), c.Key(), b.owner, nonce(),
			b.opts.LeaseTTL.Milliseconds(), string(next.Turn), next.Setup, maxAttempts, actor, part, lostBy,
			string(next.Due))
	}
	v, err := claim("", "")
	if err == nil && len(v) > 2 && str(v[0]) == "untouched" {
		turn := chat.TurnID(str(v[1]))
		who, _ := chat.ParseActor(str(v[2]))
		var part string
		if part, err = tell(turn, "u", who, tellUntouched(turn)); err == nil {
			v, err = claim(str(v[2]), part)
		}
	}
	if err != nil {
		return ClaimResult{}, fmt.Errorf("claim in %s: %w", c.Key(), err)
	}
	if len(v) == 0 {
		return ClaimResult{}, fmt.Errorf("claim in %s: an empty answer", c.Key())
	}
	switch str(v[0]) {
	case "claimed":
		got, err := readClaimed(v[1], start)
		return ClaimResult{Claimed: got}, b.unread(ctx, c, err)
	case "exhausted":
		actor, _ := chat.ParseActor(str(v[2]))
		return ClaimResult{Exhausted: &Exhausted{Ref{c, chat.TurnID(str(v[1])), Token(str(v[3]))}, actor, num(v[4])}}, nil
	case "parked":
		b.opts.Count(CountUntouched, "", 1)
		r := ClaimResult{Untouched: true}
		if token := str(v[1]); token != "" {
			r.Send = &SendLease{Conversation: c, Token: Token(token), Start: start, Look: num(v[2]) == 1}
			if r.Parts, err = b.Sent(ctx, *r.Send); err != nil {
				r.Send = nil // whoever finds the lease ended posts
			}
		}
		return r, nil
	case "later":
		return ClaimResult{Later: time.Duration(num(v[1])) * time.Millisecond}, nil
	}
	return ClaimResult{}, nil
}

// Parking is what a park found.
type Parking struct {
	// Parked: the turn waits. Otherwise a steer waits to be read first, or the
	// turn is being stopped.
	Parked bool
	Stop   *Stop
	Next   *Claimed
}

// Park makes a turn wait for something outside. It holds nobody meanwhile.
func (b *Box) Park(ctx context.Context, r Ref, number int64, wait []byte, next Next, entries ...[]byte) (Parking, error) {
	ctx, cancel := context.WithTimeout(ctx, b.runTimeout())
	defer cancel()
	c := r.Conversation
	args := []any{b.keys.of(c), c.Key(), string(r.Turn), string(r.Token), number, wait, b.owner, nonce(),
		b.opts.LeaseTTL.Milliseconds(), string(next.Turn), next.Setup, bit(next.Claim)}
	for _, e := range entries {
		args = append(args, e)
	}
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.park, []string{b.keys.turn(c, r.Turn), b.keys.log(c, r.Turn), b.keys.conv(c), b.keys.index(c)}, args...)
	if err != nil {
		return Parking{}, fmt.Errorf("park turn %s: %w", r.Turn, err)
	}
	switch {
	case len(v) == 0:
		return Parking{}, fmt.Errorf("park turn %s: %w", r.Turn, b.stale("park"))
	case str(v[0]) == "stopping":
		return Parking{Stop: readStop(v[1], v[2])}, nil
	case str(v[0]) == "open":
		return Parking{}, nil
	}
	got, err := readClaimed(v[1], start)
	return Parking{Parked: true, Next: got}, b.unread(ctx, c, err)
}

// EndWait puts a parked turn into the queue. ended is false when it waits no
// more: something else has ended the wait.
func (b *Box) EndWait(ctx context.Context, c chat.Conversation, turn chat.TurnID, how []byte, next Next) (ended bool, got *Claimed, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.endWait, []string{b.keys.turn(c, turn), b.keys.conv(c), b.keys.index(c)},
		b.keys.of(c), c.Key(), string(turn), how, b.owner, nonce(), b.opts.LeaseTTL.Milliseconds(),
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
