package plugintest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"reeve/plugins"
)

// The limits of a store, as the contract has them.
const (
	MaxKeys  = 1000
	MaxKey   = 256      // bytes
	MaxValue = 64 << 10 // bytes
)

// Store is a plugins.Store in memory, with the limits of the real one.
type Store struct {
	host   *Host
	values map[string][]byte // guarded by the host's lock
}

var _ plugins.Store = (*Store)(nil)

// Get implements plugins.Store.
func (s *Store) Get(ctx context.Context, key string) (value []byte, found bool, err error) {
	err = s.do(ctx, "get", key, func() error {
		value, found = s.values[key]
		value = slices.Clone(value)
		return nil
	})
	return value, found, err
}

// Set implements plugins.Store.
func (s *Store) Set(ctx context.Context, key string, value []byte) error {
	return s.do(ctx, "set", key, func() error { return s.put(key, value) })
}

// Add implements plugins.Store.
func (s *Store) Add(ctx context.Context, key string, value []byte) (added bool, err error) {
	err = s.do(ctx, "add", key, func() error {
		if _, there := s.values[key]; there {
			return nil
		}
		err := s.put(key, value)
		added = err == nil
		return err
	})
	return added, err
}

// Delete implements plugins.Store.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.do(ctx, "delete", key, func() error {
		delete(s.values, key)
		return nil
	})
}

// Keys implements plugins.Store.
func (s *Store) Keys(ctx context.Context) (keys []string, err error) {
	err = s.do(ctx, "list", "keys", func() error {
		keys = slices.Sorted(maps.Keys(s.values))
		return nil
	})
	return keys, err
}

// Values are everything that is stored.
func (s *Store) Values() map[string]string {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	all := map[string]string{}
	for key, value := range s.values {
		all[key] = string(value)
	}
	return all
}

// do runs one step while the store can be reached.
func (s *Store) do(ctx context.Context, what, key string, step func() error) error {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	err := ctx.Err()
	if err == nil {
		if err = s.host.away; err != nil {
			s.host.misses++
		}
	}
	if err == nil && (key == "" || len(key) > MaxKey) {
		err = fmt.Errorf("a key has 1 to %d bytes, this one %d", MaxKey, len(key))
	}
	if err == nil {
		err = step()
	}
	if err != nil {
		return fmt.Errorf("%s %.64q of the plugin's store: %w", what, key, err)
	}
	return nil
}

func (s *Store) put(key string, value []byte) error {
	if len(value) > MaxValue {
		return fmt.Errorf("a value has at most %d bytes, this one %d", MaxValue, len(value))
	}
	if _, there := s.values[key]; !there && len(s.values) >= MaxKeys {
		return fmt.Errorf("a store has at most %d keys", MaxKeys)
	}
	s.values[key] = slices.Clone(value)
	return nil
}
