package credentials

import (
	"context"
	"fmt"
	"time"
)

// Permits of an owner, by when each goes, in the slot of his account.
func (s store) permits(o Owner) string {
	return s.shard(shardOf(o.Actor.Key())) + "permits:" + o.Key()
}

// Permit gives out the right to Put one account of an owner, once, until life is
// over. It is got no later than with the proof that the account is his. Putting
// spends it, and Delete takes back all that are out: whoever died in between, and
// whoever comes after him, puts nothing a second time, and nothing that its owner
// has disconnected. It is no secret: it is worth something to this store alone.
func (v *Vault) Permit(ctx context.Context, o Owner, life time.Duration) (string, error) {
	if err := o.check(); err != nil {
		return "", fmt.Errorf("permit account %s: %w", o.Key(), err)
	}
	permit := nonce()
	if _, err := v.run(ctx, v.permit, []string{v.permits(o)}, permit, life.Milliseconds()); err != nil {
		return "", fmt.Errorf("permit account %s: %w", o.Key(), err)
	}
	return permit, nil
}
