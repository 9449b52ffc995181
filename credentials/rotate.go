package credentials

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// KeyUse is how many accounts, and connections under way, are sealed with a key.
type KeyUse struct {
	KeyVersion
	// Known: this process has it. First: it seals with it.
	Known    bool `json:"known"`
	First    bool `json:"first"`
	Accounts int  `json:"accounts"`
	Flows    int  `json:"flows"`
}

// KeyUses are the keys of this process, and those of other versions with which
// something is sealed.
func (v *Vault) KeyUses(ctx context.Context) ([]KeyUse, error) {
	others := map[string]*KeyUse{}
	var uses []*KeyUse
	for i, k := range v.ring.Versions() {
		use := &KeyUse{KeyVersion: k, Known: true, First: i == 0}
		uses, others[k.Version] = append(uses, use), use
	}
	of := func(version string) *KeyUse {
		if others[version] == nil {
			others[version] = &KeyUse{KeyVersion: KeyVersion{Version: version}}
		}
		return others[version]
	}
	if err := v.Each(ctx, func(a Account) error { of(a.Key).Accounts++; return nil }); err != nil {
		return nil, err
	}
	for shard := range shards {
		if err := v.eachFlow(ctx, shard, func(f keptFlow) error { of(sealedWith([]byte(f.sealed))).Flows++; return nil }); err != nil {
			return nil, fmt.Errorf("read flows: %w", err)
		}
	}
	var all []KeyUse
	for _, use := range uses {
		all = append(all, *use)
		delete(others, use.Version)
	}
	for _, version := range slices.Sorted(maps.Keys(others)) {
		all = append(all, *others[version])
	}
	return all, nil
}

// Rotation is what a rotation has done.
type Rotation struct {
	To        string `json:"to"`
	Rewrapped int    `json:"rewrapped"`
	Already   int    `json:"already"`
	// Flows are the connections under way among the rewrapped.
	Flows int `json:"flows"`
	// Failed are accounts that could not be opened. They stay as they are.
	Failed []Failure `json:"failed"`
	// Behind are live replicas that still seal with another key: what they write
	// from now on has to be rotated again.
	Behind []string `json:"behind"`
}

// Failure is an account that could not be opened, and why.
type Failure struct {
	Owner Owner  `json:"-"`
	Name  string `json:"account"`
	Why   string `json:"why"`
}

// ErrReplicaLacksKey: a replica that lives could not open what is rotated.
var ErrReplicaLacksKey = errors.New("a replica does not have the new key")

// Rotate seals with the first key every account, and every flow, that is sealed with another, while
// replicas work. Each is one step that changes it only if it is as it was read, so
// that whatever happens to it meanwhile stands, and a rotation that ends half-way
// goes on when it is begun again. It ends with ErrReplicaLacksKey as soon as a
// replica lives that lacks the key. told is called after each account; may be nil.
func (v *Vault) Rotate(ctx context.Context, told func(Rotation)) (Rotation, error) {
	done := Rotation{}
	if v.ring == nil {
		return done, fmt.Errorf("rotate credential keys: %w", ErrNoKeys)
	}
	done.To = v.ring.keys[0].version
	if err := v.Verify(ctx); err != nil {
		return done, err
	}
	deployment, err := v.deployment(ctx, callTimeout)
	if err != nil {
		return done, err
	}
	for shard := range shards {
		if done.Behind, err = v.ready(ctx); err != nil {
			return done, err
		}
		err := v.page(ctx, shard, "-", "+", func(k keptAccount) error {
			b := Binding{Purpose: accountPurpose, Deployment: deployment, Team: k.Actor.Team, User: k.Actor.User, Provider: k.Provider}
			was, err := v.rotate(ctx, v.account(k.Owner), b, k.sealed, done.To)
			done.count(was, k.Owner, err)
			if was == rewrapped && told != nil {
				told(done)
			}
			return passed(err)
		})
		if err == nil {
			err = v.eachFlow(ctx, shard, func(f keptFlow) error {
				o, _ := ParseOwner(f.owner)
				was, err := v.rotate(ctx, v.flow(f.name), flowBinding(deployment, o, f.name), f.sealed, done.To)
				if was == rewrapped {
					done.Flows++
				}
				return passed(err) // one that cannot be opened goes by itself
			})
		}
		if err != nil {
			return done, fmt.Errorf("rotate credential keys: %w", err)
		}
	}
	done.Behind, err = v.ready(ctx)
	return done, err
}

// ready is an error unless every replica that lives has the first key. behind are
// those that seal with another one.
func (v *Vault) ready(ctx context.Context) (behind []string, err error) {
	all, err := v.Replicas(ctx)
	if err != nil {
		return nil, fmt.Errorf("rotate credential keys: %w", err)
	}
	first, lacking := v.ring.Versions()[0], []string{}
	for _, r := range all {
		switch at := slices.Index(r.Keys, first); {
		case at < 0:
			lacking = append(lacking, r.Name)
		case at > 0:
			behind = append(behind, r.Name)
		}
	}
	if len(lacking) > 0 {
		return nil, fmt.Errorf("rotate credential keys: %w (version %s, fingerprint %s): %s; start it with that key, and rotate then",
			ErrReplicaLacksKey, first.Version, first.Fingerprint, strings.Join(lacking, ", "))
	}
	return behind, nil
}

// fate is what rotation does to one record.
type fate int

const (
	gone fate = iota
	already
	rewrapped
	unopened
)

func (r *Rotation) count(f fate, o Owner, err error) {
	switch f {
	case already:
		r.Already++
	case rewrapped:
		r.Rewrapped++
	case unopened:
		r.Failed = append(r.Failed, Failure{o, o.Key(), err.Error()})
	}
}

// passed is an error that is not about one record alone.
func passed(err error) error {
	for _, own := range []error{ErrDamaged, ErrUnknownKey, ErrWrongKey} {
		if errors.Is(err, own) {
			return nil
		}
	}
	return err
}

// rotate seals one record with the first key, whatever happens to it meanwhile.
func (v *Vault) rotate(ctx context.Context, key string, b Binding, sealed, to string) (fate, error) {
	for end := time.Now().Add(callTimeout); time.Now().Before(end); {
		if sealedWith([]byte(sealed)) == to {
			return already, nil
		}
		anew, _, err := v.ring.Rewrap(b, []byte(sealed))
		if err != nil {
			return unopened, err
		}
		got, err := v.run(ctx, v.rewrap, []string{key}, sealed, anew)
		if err != nil {
			return gone, err
		}
		if outcome(got) == nil {
			return rewrapped, nil
		}
		sealed, err = v.redis.HGet(ctx, key, "sealed").Result()
		switch {
		case errors.Is(err, redis.Nil):
			return gone, nil // it was taken out
		case err != nil:
			return gone, err
		}
	}
	return gone, fmt.Errorf("%s %s:%s:%s: %w", b.Purpose, b.Team, b.User, b.Provider, ErrChanged)
}

// Check sees that the keys are those of this deployment: of each version that it
// has ever started with, a check value is kept, sealed with it. Keys that it has
// not seen get one. It changes nothing else; a process calls it before it opens or
// seals anything, and does not go on with an error.
func (v *Vault) Check(ctx context.Context) error { return v.verify(ctx, true) }

// Verify is Check, and keeps nothing.
func (v *Vault) Verify(ctx context.Context) error { return v.verify(ctx, false) }

func (v *Vault) verify(ctx context.Context, keep bool) error {
	if v.ring == nil {
		return fmt.Errorf("check credential keys: %w", ErrNoKeys)
	}
	fields, err := v.redis.HGetAll(ctx, v.vault()).Result()
	if err != nil {
		return fmt.Errorf("check credential keys: %w", err)
	}
	if fields["id"] == "" && !keep {
		return nil // this deployment has never started with keys
	}
	deployment, err := v.deployment(ctx, callTimeout)
	if err != nil {
		return fmt.Errorf("check credential keys: %w", err)
	}
	var problems []KeyProblem
	for i := range v.ring.keys {
		k := &v.ring.keys[i]
		field, b := "check:"+k.version, Binding{Purpose: checkPurpose, Deployment: deployment, Name: k.version}
		sealed, known := fields[field]
		if !known && keep {
			if err := v.redis.HSetNX(ctx, v.vault(), field, k.seal(b, nil)).Err(); err != nil {
				return fmt.Errorf("check credential keys: %w", err)
			}
			// Another process may have been faster, with another key.
			if sealed, err = v.redis.HGet(ctx, v.vault(), field).Result(); err != nil {
				return fmt.Errorf("check credential keys: %w", err)
			}
			known = true
		}
		if !known {
			continue
		}
		switch _, err := v.ring.Open(b, []byte(sealed)); {
		case errors.Is(err, ErrWrongKey):
			problems = append(problems, KeyProblem{fmt.Sprintf("the key of version %s is not the one that this deployment has used under that version", k.version),
				"put that one back, or give the new one a version of its own"})
		case err != nil:
			problems = append(problems, KeyProblem{fmt.Sprintf("the check value of version %s was made for another deployment, or damaged", k.version),
				"set REDIS_URL and REDIS_PREFIX as they were when it was made, or give the key a version of its own: what it has sealed cannot be opened here, and people connect anew"})
		}
	}
	if len(problems) > 0 {
		return &KeyError{problems}
	}
	return nil
}

// KeyProblem is what is wrong with one key, and what helps.
type KeyProblem struct{ What, Fix string }

// KeyError lists what is wrong with the keys.
type KeyError struct{ Problems []KeyProblem }

func (e *KeyError) Error() string {
	return "check credential keys: " + strings.Join(e.Sentences(), "; ")
}

// Sentences are the problems, each with what helps.
func (e *KeyError) Sentences() []string {
	var all []string
	for _, p := range e.Problems {
		all = append(all, p.What+"; "+p.Fix)
	}
	return all
}

// Unwrap makes it ErrWrongKey.
func (e *KeyError) Unwrap() error { return ErrWrongKey }
