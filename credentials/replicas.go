package credentials

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Replica is a process that lives, and the keys that it has, the one with which it
// seals first.
type Replica struct {
	Name string       `json:"name"`
	Keys []KeyVersion `json:"keys"`
}

const (
	announceEvery = 5 * time.Second
	// announceLife is how long a replica that says no more is taken to be alive.
	announceLife = 4 * announceEvery
)

func (s store) living() string { return s.shard(0) + "replicas" }

// Announce says in the store that this process lives, and which keys it has, until
// ctx ends, and then takes that back. A running process keeps it up beside its
// work, so that no record is sealed with a key that it lacks. Where the store is
// away it is said again as soon as it is back. It answers why ctx ended.
func (v *Vault) Announce(ctx context.Context, name string) error {
	if v.ring == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	ticker := time.NewTicker(announceEvery)
	defer ticker.Stop()
	for {
		_ = v.AnnounceOnce(ctx, name)
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = v.redis.ZRem(last, v.living(), v.replica(name)).Err()
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// AnnounceOnce says it once. A process does so before it opens or seals anything.
func (v *Vault) AnnounceOnce(ctx context.Context, name string) error {
	return v.announceFor(ctx, name, announceLife)
}

func (v *Vault) announceFor(ctx context.Context, name string, life time.Duration) error {
	if _, err := v.run(ctx, v.announce, []string{v.living()}, v.replica(name), life.Milliseconds()); err != nil {
		return fmt.Errorf("announce credential keys: %w", err)
	}
	return nil
}

func (v *Vault) replica(name string) string {
	raw, err := json.Marshal(Replica{name, v.ring.Versions()})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(raw)
}

// Replicas are those that live.
func (v *Vault) Replicas(ctx context.Context) ([]Replica, error) {
	got, err := v.run(ctx, v.replicas, []string{v.living()})
	if err != nil {
		return nil, fmt.Errorf("list replicas: %w", err)
	}
	var all []Replica
	for _, item := range got {
		var r Replica
		if json.Unmarshal([]byte(text(item)), &r) == nil && r.Name != "" {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Replica) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}
