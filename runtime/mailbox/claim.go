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
		if part, err = tell(turn, "u", b.concerned(ctx, c, turn, who), tellUntouched(turn)); err == nil {
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
			l := SendLease{Conversation: c, Token: Token(token), Start: start, Look: num(v[2]) == 1}
			if r.Parts, err = b.Sent(ctx, l); err == nil {
				r.Send = &l // otherwise whoever finds the lease ended posts
			}
		}
		return r, nil
	case "later":
		return ClaimResult{Later: time.Duration(num(v[1])) * time.Millisecond}, nil
	}
	return ClaimResult{}, nil
}
