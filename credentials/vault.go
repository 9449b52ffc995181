package credentials

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
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

// raw is a record as it is kept.
type raw struct {
	revision int64
	sealed   []byte
	shown    Shown
	state    State
}

func (v *Vault) read(ctx context.Context, o Owner) (raw, error) {
	if err := o.check(); err != nil {
		return raw{}, err
	}
	got, err := v.run(ctx, v.get, []string{v.account(o)})
	switch {
	case err != nil:
		return raw{}, err
	case len(got) != 4:
		return raw{}, ErrNone
	}
	r := raw{revision: number(got[0]), sealed: []byte(text(got[1])), state: State(text(got[3]))}
	_ = json.Unmarshal([]byte(text(got[2])), &r.shown) // it is for lists alone
	return r, nil
}

// open opens what was read. Where it cannot, the record has no secrets, and none of
// what it shows can be relied on.
func (v *Vault) open(ctx context.Context, o Owner, r raw) (Record, error) {
	shown := r.shown.record()
	shown.Revision, shown.State = r.revision, r.state
	b, err := v.binding(ctx, o, callTimeout)
	if err != nil {
		return shown, err
	}
	plain, err := v.ring.Open(b, r.sealed)
	if err != nil {
		return shown, err
	}
	record, err := decodeRecord(plain, r.revision)
	if err != nil {
		return shown, err
	}
	record.State = r.state
	return record, nil
}

// Get reads an account. ErrNone: there is none. An error of the keys (ErrNoKeys,
// ErrUnknownKey, ErrWrongKey) is the operator's to mend; ErrDamaged is mended by
// connecting the account again.
func (v *Vault) Get(ctx context.Context, o Owner) (Record, error) {
	r, err := v.read(ctx, o)
	if err == nil {
		var record Record
		if record, err = v.open(ctx, o, r); err == nil {
			return record, nil
		}
	}
	return Record{}, fmt.Errorf("get account %s: %w", o.Key(), err)
}

// Put keeps a newly connected account in place of whatever there was, and answers
// that, so that it can be ended at its provider. had is false when there was
// nothing; what could not be opened has no tokens.
func (v *Vault) Put(ctx context.Context, o Owner, record Record) (kept, replaced Record, had bool, err error) {
	fail := func(err error) (Record, Record, bool, error) {
		return Record{}, Record{}, false, fmt.Errorf("put account %s: %w", o.Key(), err)
	}
	for end := time.Now().Add(callTimeout); time.Now().Before(end); {
		was, err := v.read(ctx, o)
		switch {
		case errors.Is(err, ErrNone):
			replaced, had = Record{}, false
		case err != nil:
			return fail(err)
		default:
			had = true
			replaced, _ = v.open(ctx, o, was)
		}
		kept, err := v.keep(ctx, o, was.revision, record, "put", "")
		if err == nil {
			return kept, replaced, had, nil
		}
		if !errors.Is(err, ErrChanged) {
			return fail(err)
		}
	}
	return fail(ErrChanged)
}

// Swap keeps another state of an account, if it still is in the state that was
// read, and answers it with its new revision. ErrChanged: it is not. ErrBusy:
// somebody renews its tokens, and his change comes first. ErrBroken: somebody has
// begun to and has not come back; only a state that says Refused replaces that.
func (v *Vault) Swap(ctx context.Context, o Owner, revision int64, record Record) (Record, error) {
	kept, err := v.keep(ctx, o, revision, record, "swap", "")
	if err != nil {
		return Record{}, fmt.Errorf("swap account %s: %w", o.Key(), err)
	}
	return kept, nil
}

// keep writes a state of a record over that of a revision; 0: over none.
func (v *Vault) keep(ctx context.Context, o Owner, over int64, record Record, how, intent string) (Record, error) {
	if err := o.check(); err != nil {
		return Record{}, err
	}
	if over == 0 && how != "put" {
		return Record{}, ErrNone
	}
	limit := callTimeout
	if how == "settle" {
		limit = settleTimeout
	}
	b, err := v.binding(ctx, o, limit)
	if err != nil {
		return Record{}, err
	}
	record.Revision, record.State = revision(), Live
	plain, err := record.encode()
	if err != nil {
		return Record{}, errors.New("it cannot be written as JSON") // the error may quote it
	}
	sealed, err := v.ring.Seal(b, plain)
	if err != nil {
		return Record{}, err
	}
	shown, err := json.Marshal(record.shown())
	if err != nil {
		return Record{}, err
	}
	read, refused := "", "0"
	if over != 0 {
		read = strconv.FormatInt(over, 10)
	}
	if record.Refused {
		refused = "1"
	}
	got, err := v.runFor(ctx, limit, v.write, []string{v.account(o), v.accounts(shardOf(o.Actor.Key()))},
		o.Key(), read, record.Revision, sealed, shown, how, intent, refused)
	if err == nil {
		err = outcome(got)
	}
	return record, err
}

// outcome is what a step on a record answers.
func outcome(got []any) error {
	if len(got) == 0 {
		return ErrNone
	}
	switch number(got[0]) {
	case 1:
		return nil
	case 2:
		return ErrBusy
	case 3:
		return ErrBroken
	}
	return ErrChanged
}

// Delete takes an account out, whatever its state, and answers what it was, so
// that it can be ended at its provider. What could not be opened has no tokens.
// ErrNone: there was none.
func (v *Vault) Delete(ctx context.Context, o Owner) (Record, error) {
	fail := func(err error) (Record, error) {
		return Record{}, fmt.Errorf("delete account %s: %w", o.Key(), err)
	}
	for end := time.Now().Add(callTimeout); time.Now().Before(end); {
		was, err := v.read(ctx, o)
		if err != nil {
			return fail(err)
		}
		record, _ := v.open(ctx, o, was)
		got, err := v.run(ctx, v.remove, []string{v.account(o), v.accounts(shardOf(o.Actor.Key()))}, o.Key(), was.revision)
		if err != nil {
			return fail(err)
		}
		if err = outcome(got); err == nil {
			return record, nil
		}
		// Its own answer may have been lost: then it is gone.
		if _, err := v.read(ctx, o); errors.Is(err, ErrNone) {
			return record, nil
		}
	}
	return fail(ErrChanged)
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
