package mailbox

import (
	"context"
	"fmt"
	"time"

	"reeve/runtime/chat"
)

// HandBack asks that a message which a turn of somebody else's has taken in as
// context becomes its author's follow-up.
type HandBack struct {
	// Ref is the turn. Its token is set when its own run asks, and the step then
	// stands under its fence.
	Ref
	// Author is set when it is he who asks, by a button; whatever became of the
	// turn meanwhile.
	Author chat.Actor
	TS     chat.TS
	// Key names this asking: the same again is answered as it was.
	Key string
	// Next is taken when no turn runs.
	Next Next
}

// HandBackResult is what became of it.
type HandBackResult struct {
	Outcome HandBackOutcome
	Author  chat.Actor // of the message, if it is known
	Claimed *Claimed
}

// HandBackOutcome says whether a message was handed back, or why not.
type HandBackOutcome string

const (
	HandedBack    HandBackOutcome = "h"
	HandedAlready HandBackOutcome = "a"
	HandDeleted   HandBackOutcome = "d"
	HandOwn       HandBackOutcome = "o" // it is the turn's actor's own
	HandUnknown   HandBackOutcome = "u" // the turn has taken in no such message of another's
	HandNotYours  HandBackOutcome = "n" // somebody else's than he who asks
)

// HandBack hands a message back, once. A run that asks is answered ErrStale
// when its token is not the turn's any more.
func (b *Box) HandBack(ctx context.Context, h HandBack) (HandBackResult, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	if (h.Token == "") == h.Author.IsZero() {
		return HandBackResult{}, fmt.Errorf("hand back message %s: either its turn or its author asks", h.TS)
	}
	c, start := h.Conversation, time.Now()
	id := chat.MessageID{Team: c.Team, Channel: c.Channel, TS: h.TS}
	v, err := b.one(ctx, &b.scripts.handBack, []string{b.keys.conv(c), b.keys.turn(c, h.Turn), b.keys.message(id), b.keys.index(c)},
		b.keys.of(c), c.Key(), string(h.Turn), string(h.Token), h.Author.Key(), string(h.TS), h.Key,
		b.owner, nonce(), b.opts.LeaseTTL.Milliseconds(), string(h.Next.Turn), h.Next.Setup, bit(h.Next.Claim))
	if err != nil {
		return HandBackResult{}, fmt.Errorf("hand back message %s: %w", h.TS, err)
	}
	if len(v) < 2 {
		return HandBackResult{}, fmt.Errorf("hand back message %s: %w", h.TS, b.stale("hand_back"))
	}
	r := HandBackResult{Outcome: HandBackOutcome(str(v[0]))}
	r.Author, _ = chat.ParseActor(str(v[1]))
	if len(v) > 2 {
		r.Claimed, err = readClaimed(v[2], start)
	}
	return r, b.unread(ctx, c, err)
}
