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

	"reeve/runtime/chat"
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

// flowName is a flow's id, without telling it.
func flowName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func (s store) flow(name string) string    { return s.shard(shardOf(name)) + "flow:" + name }
func (s store) flows(shard int) string     { return s.shard(shard) + "flows" }
func (s store) flowKeys(n string) []string { return []string{s.flow(n), s.flows(shardOf(n))} }

func flowBinding(deployment string, o Owner, name string) Binding {
	return Binding{Purpose: flowPurpose, Deployment: deployment, Team: o.Actor.Team, User: o.Actor.User, Provider: o.Provider, Name: name}
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
	deployment, err := v.deployment(ctx, callTimeout)
	if err != nil {
		return Flow{}, err
	}
	name := flowName(f.ID)
	sealed, err := v.ring.Seal(flowBinding(deployment, f.Owner, name), f.Value)
	if err != nil {
		return Flow{}, err
	}
	over := ""
	if f.Revision != 0 {
		over = strconv.FormatInt(f.Revision, 10)
	}
	f.Revision = revision()
	got, err := v.run(ctx, v.flowWrite, v.flowKeys(name), name, over, f.Revision, f.Owner.Key(), sealed, life.Milliseconds())
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
	fields, err := v.redis.HMGet(ctx, v.flow(flowName(id)), "rev", "owner", "sealed").Result()
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
	deployment, err := v.deployment(ctx, callTimeout)
	if err != nil {
		return Flow{}, err
	}
	value, err := v.ring.Open(flowBinding(deployment, owner, flowName(id)), []byte(text(fields[2])))
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
	got, err := v.flowTake.Run(ctx, v.redis, v.flowKeys(flowName(f.ID)), flowName(f.ID), f.Revision).Slice()
	if err == nil {
		err = outcome(got)
	}
	if err != nil {
		return fmt.Errorf("take flow of %s: %w", f.Owner.Key(), err)
	}
	return nil
}

// keptFlow is a flow as it is kept.
type keptFlow struct {
	name, owner, revision, sealed string
}

// eachFlow calls f with every flow of a shard.
func (v *Vault) eachFlow(ctx context.Context, shard int, f func(keptFlow) error) error {
	names, err := v.redis.ZRange(ctx, v.flows(shard), 0, -1).Result()
	if err != nil {
		return err
	}
	for _, name := range names {
		fields, err := v.redis.HMGet(ctx, v.flow(name), "owner", "rev", "sealed").Result()
		if err != nil {
			return err
		}
		if fields[0] == nil {
			continue // its time is over
		}
		if err := f(keptFlow{name, text(fields[0]), text(fields[1]), text(fields[2])}); err != nil {
			return err
		}
	}
	return nil
}

// Flows is how many flows of a person are under way.
func (v *Vault) Flows(ctx context.Context, actor chat.Actor) (n int, err error) {
	err = v.flowsOf(ctx, actor, func(keptFlow) error { n++; return nil })
	return n, err
}

// EndFlows takes out a person's flows, wherever they stand. What a process is at
// with one of them puts no account any more.
func (v *Vault) EndFlows(ctx context.Context, actor chat.Actor) error {
	return v.flowsOf(ctx, actor, func(f keptFlow) error {
		pipe := v.redis.TxPipeline()
		pipe.Del(ctx, v.flow(f.name))
		pipe.ZRem(ctx, v.flows(shardOf(f.name)), f.name)
		_, err := pipe.Exec(ctx)
		if o, ok := ParseOwner(f.owner); ok && err == nil {
			err = v.redis.Del(ctx, v.permits(o)).Err()
		}
		return err
	})
}

func (v *Vault) flowsOf(ctx context.Context, actor chat.Actor, f func(keptFlow) error) error {
	for shard := range shards {
		err := v.eachFlow(ctx, shard, func(k keptFlow) error {
			if o, ok := ParseOwner(k.owner); !ok || o.Actor != actor {
				return nil
			}
			return f(k)
		})
		if err != nil {
			return fmt.Errorf("look for flows of %s: %w", actor.Key(), err)
		}
	}
	return nil
}
