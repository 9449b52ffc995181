package credentials

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Flow is a connection that is under way. Its value is sealed as tokens are; its
// id, which may be a secret of its own (such as OAuth's state), is kept as a hash
// alone. It goes by itself when its time is over.
type Flow struct {
	ID       string
	Owner    Owner
	Revision int64
	Value    []byte
}

func (s store) flow(id string) string {
	sum := sha256.Sum256([]byte(id))
	name := hex.EncodeToString(sum[:16])
	return s.shard(shardOf(name)) + "flow:" + name
}

func (v *Vault) flowBinding(ctx context.Context, o Owner, id string) (Binding, error) {
	b, err := v.binding(ctx, o)
	b.Purpose, b.Name = flowPurpose, id
	return b, err
}

// AddFlow keeps a new flow for as long as it lives. ErrChanged: there is one of that id.
func (v *Vault) AddFlow(ctx context.Context, id string, o Owner, value []byte, life time.Duration) (Flow, error) {
	f, err := v.writeFlow(ctx, Flow{ID: id, Owner: o, Value: value}, life)
	if err != nil {
		return Flow{}, fmt.Errorf("add flow of %s: %w", o.Key(), err)
	}
	return f, nil
}

// SwapFlow keeps another value of a flow, if it still is as it was read, and leaves
// it the time that it has. ErrChanged: it is not, or is gone.
func (v *Vault) SwapFlow(ctx context.Context, f Flow, value []byte) (Flow, error) {
	if f.Revision == 0 {
		return Flow{}, fmt.Errorf("swap flow of %s: %w", f.Owner.Key(), ErrNone)
	}
	f.Value = value
	kept, err := v.writeFlow(ctx, f, 0)
	if err != nil {
		return Flow{}, fmt.Errorf("swap flow of %s: %w", f.Owner.Key(), err)
	}
	return kept, nil
}

func (v *Vault) writeFlow(ctx context.Context, f Flow, life time.Duration) (Flow, error) {
	if err := f.Owner.check(); err != nil {
		return Flow{}, err
	}
	if f.ID == "" {
		return Flow{}, errors.New("it has no id")
	}
	b, err := v.flowBinding(ctx, f.Owner, f.ID)
	if err != nil {
		return Flow{}, err
	}
	sealed, err := v.ring.Seal(b, f.Value)
	if err != nil {
		return Flow{}, err
	}
	over := ""
	if f.Revision != 0 {
		over = strconv.FormatInt(f.Revision, 10)
	}
	f.Revision = revision()
	got, err := v.run(ctx, v.flowWrite, []string{v.flow(f.ID)}, over, f.Revision, f.Owner.Key(), sealed, life.Milliseconds())
	if err == nil {
		err = outcome(got)
	}
	return f, err
}

// Flow reads a flow. ErrNone: there is none, or its time is over.
func (v *Vault) Flow(ctx context.Context, id string) (Flow, error) {
	f, err := v.readFlow(ctx, id)
	if err != nil {
		return Flow{}, fmt.Errorf("read flow: %w", err)
	}
	return f, nil
}

func (v *Vault) readFlow(ctx context.Context, id string) (Flow, error) {
	fields, err := v.redis.HMGet(ctx, v.flow(id), "rev", "owner", "sealed").Result()
	switch {
	case err != nil && !errors.Is(err, redis.Nil):
		return Flow{}, err
	case id == "" || len(fields) != 3 || fields[0] == nil:
		return Flow{}, ErrNone
	}
	owner, ok := ParseOwner(text(fields[1]))
	if !ok {
		return Flow{}, ErrDamaged
	}
	b, err := v.flowBinding(ctx, owner, id)
	if err != nil {
		return Flow{}, err
	}
	value, err := v.ring.Open(b, []byte(text(fields[2])))
	if err != nil {
		return Flow{}, err
	}
	return Flow{ID: id, Owner: owner, Revision: number(fields[0]), Value: value}, nil
}

// TakeFlow ends a flow that is as it was read. Of all who try, one does; the others
// get ErrChanged.
func (v *Vault) TakeFlow(ctx context.Context, f Flow) error {
	// Its answer must not be lost and asked for again: the second time it would say
	// that somebody else was faster.
	got, err := v.flowTake.Run(ctx, v.redis, []string{v.flow(f.ID)}, f.Revision).Slice()
	if err == nil {
		err = outcome(got)
	}
	if err != nil {
		return fmt.Errorf("take flow of %s: %w", f.Owner.Key(), err)
	}
	return nil
}
