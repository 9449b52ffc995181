package credentials

import (
	"context"
	"fmt"
	"time"
)

// Intent is one process's right to spend a record's refresh token, once.
type Intent struct {
	Owner    Owner
	Revision int64
	token    string
}

// Intend writes down, before the provider is asked, that this process is about to
// spend the refresh token of a record in the state that was read, and answers its
// right to. d is how long it may take. Nobody else gets that right for this state
// any more: not now (ErrBusy; read the record again in a while), and not after d
// either, if nothing comes of it (ErrBroken). ErrChanged: somebody has renewed it
// already.
func (v *Vault) Intend(ctx context.Context, o Owner, revision int64, d time.Duration) (Intent, error) {
	if err := o.check(); err != nil {
		return Intent{}, fmt.Errorf("intend to renew account %s: %w", o.Key(), err)
	}
	i := Intent{o, revision, nonce()}
	got, err := v.run(ctx, v.intend, []string{v.account(o)}, revision, i.token, d.Milliseconds())
	if err == nil {
		err = outcome(got)
	}
	if err != nil {
		return Intent{}, fmt.Errorf("intend to renew account %s: %w", o.Key(), err)
	}
	return i, nil
}

// Settle keeps what the provider has answered: new tokens, or that it refused
// (Record.Refused). It may come after the intent's time, as long as nobody has
// connected the account anew or taken it out: ErrChanged, and then the new tokens
// are nobody's and should be ended at the provider. While the store is away it
// waits for it, a minute at most.
func (v *Vault) Settle(ctx context.Context, i Intent, record Record) (Record, error) {
	kept, err := v.keep(ctx, i.Owner, i.Revision, record, "settle", i.token)
	if err != nil {
		return Record{}, fmt.Errorf("settle account %s: %w", i.Owner.Key(), err)
	}
	return kept, nil
}

// Release takes an intent back. It is only for when the refresh token certainly was
// not spent: the provider was not reached at all. In doubt the intent stays, and
// the account has to be connected again.
func (v *Vault) Release(ctx context.Context, i Intent) error {
	got, err := v.run(ctx, v.release, []string{v.account(i.Owner)}, i.Revision, i.token)
	if err == nil {
		err = outcome(got)
	}
	if err != nil {
		return fmt.Errorf("release account %s: %w", i.Owner.Key(), err)
	}
	return nil
}
