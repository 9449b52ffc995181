package mailbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"reeve/runtime/chat"
)

// What a plugin's store holds at most.
const (
	storeKeys  = 1000
	storeKey   = 256
	storeValue = 64 << 10
)

// ErrLimit says that a store, a key or a value is at its limit.
var ErrLimit = errors.New("a limit of the plugin's store is met")

// PluginStore keeps a plugin's own data. It is one hash, which lives until its
// last key is deleted.
type PluginStore struct {
	box *Box
	key string
}

// PluginStore is a plugin's store of one person, or, of the zero actor, the one
// for all. It costs nothing to have.
func (b *Box) PluginStore(plugin string, owner chat.Actor) *PluginStore {
	return &PluginStore{b, b.keys.store(plugin, owner)}
}

// nonceLength is that of what stands in front of each value; see store_set.lua.
const nonceLength = 16

// Get reads a value.
func (s *PluginStore) Get(ctx context.Context, key string) (value []byte, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.box.opts.CallTimeout)
	defer cancel()
	if err := checkKey(key); err != nil {
		return nil, false, fmt.Errorf("get from the store: %w", err)
	}
	raw, err := s.box.rdb.HGet(ctx, s.key, key).Bytes()
	switch {
	case isNil(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("get from the store: %w", err)
	case len(raw) < nonceLength:
		return nil, false, errors.New("get from the store: what stands there was not written by a store")
	}
	return raw[nonceLength:], true, nil
}

// Set writes a value.
func (s *PluginStore) Set(ctx context.Context, key string, value []byte) error {
	_, err := s.set(ctx, key, value, false)
	return err
}

// Add writes a value where there is none; added=false: there was one, and is.
func (s *PluginStore) Add(ctx context.Context, key string, value []byte) (added bool, err error) {
	return s.set(ctx, key, value, true)
}

func (s *PluginStore) set(ctx context.Context, key string, value []byte, only bool) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.box.opts.CallTimeout)
	defer cancel()
	if err := checkKey(key); err != nil {
		return false, fmt.Errorf("set in the store: %w", err)
	}
	if len(value) > storeValue {
		return false, fmt.Errorf("set in the store: %w: a value is %d bytes long, and may be %d", ErrLimit, len(value), storeValue)
	}
	v, err := s.box.one(ctx, &s.box.scripts.storeSet, []string{s.key}, s.box.keys.prefix, key, value, nonce(), bit(only), storeKeys)
	if err != nil {
		return false, fmt.Errorf("set in the store: %w", err)
	}
	if len(v) == 0 {
		return false, fmt.Errorf("set in the store: %w: it holds %d keys already, and takes no new one", ErrLimit, storeKeys)
	}
	return num(v[0]) == 1, nil
}

// Delete takes a key out.
func (s *PluginStore) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.box.opts.CallTimeout)
	defer cancel()
	if err := s.box.rdb.HDel(ctx, s.key, key).Err(); err != nil {
		return fmt.Errorf("delete from the store: %w", err)
	}
	return nil
}

// Keys are all keys, in order.
func (s *PluginStore) Keys(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.box.opts.CallTimeout)
	defer cancel()
	keys, err := s.box.rdb.HKeys(ctx, s.key).Result()
	if err != nil {
		return nil, fmt.Errorf("list the store: %w", err)
	}
	slices.Sort(keys)
	return keys, nil
}

func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("a key is empty")
	case len(key) > storeKey:
		return fmt.Errorf("%w: a key is %d bytes long, and may be %d", ErrLimit, len(key), storeKey)
	}
	return nil
}
