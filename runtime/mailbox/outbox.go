package mailbox

import (
	"context"
	"fmt"
	"time"

	"reeve/runtime/chat"
)

// Posted is a part that is out.
type Posted struct {
	ID string
	// TS is the message that it became, in its conversation's channel; empty
	// when it stands elsewhere, or nowhere.
	TS chat.TS
}

// Sent removes posted parts from the conversation's outbox and keeps the
// sender's lease, or releases it with the last part. It answers what is left,
// oldest first, or ErrStale.
func (b *Box) Sent(ctx context.Context, l SendLease, done ...Posted) ([]chat.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	c := l.Conversation
	args := []any{b.keys.of(c), c.Key(), string(l.Token), b.opts.LeaseTTL.Milliseconds()}
	for _, p := range done {
		args = append(args, p.ID, string(p.TS))
	}
	v, err := b.one(ctx, &b.scripts.sent, []string{b.keys.conv(c), b.keys.out(c), b.keys.index(c)}, args...)
	if err != nil {
		return nil, fmt.Errorf("mark parts of %s as sent: %w", c.Key(), err)
	}
	if len(v) == 0 {
		return nil, fmt.Errorf("mark parts of %s as sent: %w", c.Key(), b.stale("sent"))
	}
	return b.parts(ctx, c, v[1:]), nil
}

// KeepSending renews the sender's lease.
func (b *Box) KeepSending(ctx context.Context, l SendLease) error {
	_, err := b.Sent(ctx, l)
	return err
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
