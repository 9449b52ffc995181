package credentials

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Vault keeps people's accounts on Redis, sealed. It keeps nothing in memory: what
// is taken out or changed in one process is so for all of them from their next
// call on. It is safe for concurrent use.
type Vault struct {
	store
	ring *Keyring
}

var (
	// ErrNone: there is no such record.
	ErrNone = errors.New("no account is connected")
	// ErrChanged: the record is another one than was read.
	ErrChanged = errors.New("the account was changed meanwhile")
	// ErrBusy: some process asks the provider for new tokens.
	ErrBusy = errors.New("the account's tokens are being renewed")
	// ErrBroken: a process that was to ask for new tokens has not come back; the
	// person has to connect the account again.
	ErrBroken = errors.New("a renewal of the account's tokens was not finished; it must be connected again")
	// ErrPermit: the right to put an account was spent, or its owner has taken it
	// back by disconnecting.
	ErrPermit = errors.New("the account was put already, or disconnected meanwhile")
)

// NewVault keeps accounts under the prefix. header is for a server of its own:
// the embedded one does not know script headers. Without a keyring nothing can be
// sealed or opened; what stands in the clear can be listed, and taken out.
func NewVault(client redis.UniversalClient, prefix string, header bool, ring *Keyring) *Vault {
	return &Vault{store{client, prefix, newScripts(header)}, ring}
}

// Keyring are the vault's keys; nil: none.
func (v *Vault) Keyring() *Keyring { return v.ring }

// shards spread people over a cluster's nodes. All of one person's accounts stand
// in one.
const shards = 16

func (s store) shard(n int) string { return fmt.Sprintf("%s:{c%02d}:", s.prefix, n) }

func shardOf(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return int(h.Sum32() % shards)
}

func (s store) account(o Owner) string {
	return s.shard(shardOf(o.Actor.Key())) + "account:" + o.Key()
}
func (s store) accounts(shard int) string { return s.shard(shard) + "accounts" }

// accountKeys are all that a change of an account touches.
func (s store) accountKeys(o Owner) []string {
	return []string{s.account(o), s.accounts(shardOf(o.Actor.Key())), s.permits(o)}
}

// vault has the deployment's id and its check values.
func (s store) vault() string { return s.shard(0) + "vault" }

// deployment is what seals are bound to: the prefix, which tells deployments on
// one Redis apart, and an id that is made once and kept in Redis, which tells apart
// those that have the same prefix (most have the default) and, by mistake, the
// same keys.
func (s store) deployment(ctx context.Context, limit time.Duration) (string, error) {
	var id string
	err := trying(ctx, limit, func(ctx context.Context) (err error) {
		id, err = s.redis.HGet(ctx, s.vault(), "id").Result()
		if errors.Is(err, redis.Nil) {
			if err = s.redis.HSetNX(ctx, s.vault(), "id", nonce()).Err(); err == nil {
				id, err = s.redis.HGet(ctx, s.vault(), "id").Result()
			}
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the deployment's id: %w", err)
	}
	return s.prefix + "/" + id, nil
}

func (v *Vault) binding(ctx context.Context, o Owner, limit time.Duration) (Binding, error) {
	deployment, err := v.deployment(ctx, limit)
	return Binding{Purpose: accountPurpose, Deployment: deployment, Team: o.Actor.Team, User: o.Actor.User, Provider: o.Provider}, err
}

// revision names a state of a record, for good.
func revision() int64 {
	var raw [8]byte
	_, _ = rand.Read(raw[:])
	return int64(binary.BigEndian.Uint64(raw[:])>>12) + 1 // Lua's numbers have 53 bits
}

// nonce is 32 hex digits that nobody can guess.
func nonce() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}
