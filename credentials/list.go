package credentials

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// Account is an account as it is listed: without its secrets, and by what stands in
// the clear. Nothing is decided by it.
type Account struct {
	Owner
	Shown
	// Key is the version of the key with which it is sealed; empty: it cannot be told.
	Key string
	// Broken: see Broken.
	Broken bool
}

// List are the accounts of one person.
func (v *Vault) List(ctx context.Context, actor chat.Actor) ([]Account, error) {
	if !actor.IsPerson() {
		return nil, fmt.Errorf("list accounts of %s: %w", actor.Key(), ErrNobody)
	}
	var all []Account
	err := v.page(ctx, shardOf(actor.Key()), "["+actor.Key()+":", "("+actor.Key()+";", func(k keptAccount) error {
		all = append(all, k.Account)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list accounts of %s: %w", actor.Key(), err)
	}
	return all, nil
}

// Each calls f with every account that there is.
func (v *Vault) Each(ctx context.Context, f func(Account) error) error {
	return v.each(ctx, func(k keptAccount) error { return f(k.Account) })
}

// keptAccount is an account with what is sealed of it.
type keptAccount struct {
	Account
	sealed string
}

func (v *Vault) each(ctx context.Context, f func(keptAccount) error) error {
	for shard := range shards {
		if err := v.page(ctx, shard, "-", "+", f); err != nil {
			return fmt.Errorf("read accounts: %w", err)
		}
	}
	return nil
}

// pageOf is how many accounts one round trip reads.
const pageOf = 100

// page reads the accounts of one shard whose names stand between two, in order.
func (v *Vault) page(ctx context.Context, shard int, from, to string, f func(keptAccount) error) error {
	for {
		names, err := v.redis.ZRangeByLex(ctx, v.accounts(shard), &redis.ZRangeBy{Min: from, Max: to, Count: pageOf}).Result()
		if err != nil {
			return err
		}
		cmds := map[string]*redis.SliceCmd{}
		pipe := v.redis.Pipeline()
		for _, name := range names {
			if o, ok := ParseOwner(name); ok {
				cmds[name] = pipe.HMGet(ctx, v.account(o), "sealed", "shown", "until")
			}
		}
		if len(cmds) > 0 {
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
		}
		now := time.Now()
		for _, name := range names {
			cmd := cmds[name]
			if cmd == nil || cmd.Val()[0] == nil {
				continue
			}
			k := keptAccount{sealed: text(cmd.Val()[0])}
			k.Owner, _ = ParseOwner(name)
			k.Key = sealedWith([]byte(k.sealed))
			_ = json.Unmarshal([]byte(text(cmd.Val()[1])), &k.Shown)
			if until := number(cmd.Val()[2]); until != 0 {
				k.Broken = now.UnixMilli() > until
			}
			if err := f(k); err != nil {
				return err
			}
		}
		if len(names) < pageOf {
			return nil
		}
		from = "(" + names[len(names)-1]
	}
}
