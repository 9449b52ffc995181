package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed swap.lua
var swapSource string

// Store keeps books on Redis: one hash for each owner, so that what one person
// has costs nothing in another's turns, and beside it in its shard a list of who
// has one and when something in it is to be taken out.
//
// A change is two round trips: the book is read, changed in memory, and written
// in one step if nobody else has written meanwhile; else it is tried again.
type Store struct {
	redis  redis.UniversalClient
	prefix string
	swap   *redis.Script
}

// NewStore keeps memories under the prefix. header is for a server of its own:
// the embedded one does not know script headers.
func NewStore(client redis.UniversalClient, prefix string, header bool) *Store {
	source := "-- memory_swap_v2\n" + swapSource
	if header {
		source = "#!lua\n" + source
	}
	return &Store{client, prefix, redis.NewScript(source)}
}

// shards spread owners over a cluster's nodes.
const shards = 16

func shardOf(o Owner) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(o.Key()))
	return int(h.Sum32() % shards)
}

func (s *Store) book(o Owner) string {
	return fmt.Sprintf("%s:{m%02d}:book:%s", s.prefix, shardOf(o), o.Key())
}

func (s *Store) due(shard int) string { return fmt.Sprintf("%s:{m%02d}:due", s.prefix, shard) }

// errRaced says that others have written faster, again and again.
var errRaced = errors.New("others wrote at the same time, too often")

// tries is how often a change is tried when others write at the same time.
const tries = 16

// load reads a book. A record that cannot be read, such as a
// later version's, counts for nothing and stays.
func (s *Store) load(ctx context.Context, o Owner) (*book, error) {
	fields, err := s.redis.HGetAll(ctx, s.book(o)).Result()
	if err != nil {
		return nil, fmt.Errorf("read memories of %s: %w", o.Key(), err)
	}
	b := newBook()
	for id, record := range fields {
		if id == "v" {
			b.version, _ = strconv.ParseInt(record, 10, 64)
			continue
		}
		var m Memory
		if json.Unmarshal([]byte(record), &m) == nil && m.ID == id && m.Schema == schema {
			b.entries[id] = m
			continue
		}
		b.strange++
	}
	return b, nil
}

// change changes a book. The function may be called several times.
func (s *Store) change(ctx context.Context, o Owner, now time.Time, f func(*book) error) error {
	for range tries {
		b, err := s.load(ctx, o)
		if err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
		next := b.purge(now)
		if len(b.changed) == 0 && !b.due {
			return nil
		}
		written, err := s.write(ctx, o, b, next)
		if written || err != nil {
			return err
		}
	}
	return fmt.Errorf("write memories of %s: %w", o.Key(), errRaced)
}

func (s *Store) write(ctx context.Context, o Owner, b *book, next time.Time) (bool, error) {
	var gone, kept []any
	for _, id := range slices.Sorted(maps.Keys(b.changed)) {
		m, ok := b.entries[id]
		if !ok {
			gone = append(gone, id)
			continue
		}
		record, err := json.Marshal(m)
		if err != nil {
			return false, fmt.Errorf("write memory %s: %w", id, err)
		}
		kept = append(kept, id, record)
	}
	var last time.Time
	if b.strange > 0 {
		last = next.Add(history) // whoever can read them knows better
	}
	for _, m := range b.entries {
		if m.Expires.After(last) {
			last = m.Expires
		}
	}
	args := append([]any{o.Key(), b.version, milliseconds(next), milliseconds(last), len(gone)}, append(gone, kept...)...)
	done, err := s.swap.Run(ctx, s.redis, []string{s.book(o), s.due(shardOf(o))}, args...).Int64()
	if err != nil {
		return false, fmt.Errorf("write memories of %s: %w", o.Key(), err)
	}
	return done > 0, nil
}

// milliseconds is a time as Redis takes it; 0 is the zero time.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Add takes memories in, all in one step, and says what became of each.
func (s *Store) Add(ctx context.Context, o Owner, now time.Time, memories ...Memory) (outcomes []outcome, err error) {
	err = s.change(ctx, o, now, func(b *book) error {
		outcomes = b.add(now, memories...)
		return nil
	})
	return outcomes, err
}

// Held are the memories of an owner that count, oldest first.
func (s *Store) Held(ctx context.Context, o Owner, now time.Time) ([]Memory, error) {
	b, err := s.load(ctx, o)
	if err != nil {
		return nil, err
	}
	return b.held(now), nil
}

// All are all records of an owner, also what was replaced or forgotten, oldest
// first.
func (s *Store) All(ctx context.Context, o Owner) ([]Memory, error) {
	b, err := s.load(ctx, o)
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(b.entries), func(x, y Memory) int { return x.Created.Compare(y.Created) }), nil
}

// WrittenBy are the records that a call or a task has written, whatever has
// become of them.
func (s *Store) WrittenBy(ctx context.Context, o Owner, by string) ([]Memory, error) {
	all, err := s.All(ctx, o)
	return slices.DeleteFunc(all, func(m Memory) bool { return by == "" || m.By != by }), err
}

// Forget takes memories out of use, with what they have replaced, and answers
// those that it found. The calls of one turn that name one memory each, and about
// which nobody was asked, forget one in all: about a call that names several its
// person is asked.
func (s *Store) Forget(ctx context.Context, o Owner, now time.Time, by Forgetter, ids ...string) (gone []Memory, err error) {
	err = s.change(ctx, o, now, func(b *book) error {
		if by.Call != "" && !by.Asked && len(ids) == 1 && b.forgot(by.Call) {
			return errOneATurn
		}
		gone = b.forget(now, by.Call, ids...)
		return nil
	})
	return gone, err
}

// Forgetter is who has memories forgotten: a call, by its key; or, when it is
// zero, a person who has pressed a button.
type Forgetter struct {
	Call string
	// Asked: its person was asked about this very call, and has allowed it.
	Asked bool
}

// Restore brings back what was forgotten within a day.
func (s *Store) Restore(ctx context.Context, o Owner, now time.Time, ids ...string) (back []Memory, err error) {
	err = s.change(ctx, o, now, func(b *book) error {
		back = b.restore(now, ids...)
		return nil
	})
	return back, err
}

// Erase takes out everything of an owner, for good and at once.
func (s *Store) Erase(ctx context.Context, o Owner) error {
	pipe := s.redis.TxPipeline()
	pipe.Del(ctx, s.book(o))
	pipe.ZRem(ctx, s.due(shardOf(o)), o.Key())
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("erase memories of %s: %w", o.Key(), err)
	}
	return nil
}

// Owners are all who have memories.
func (s *Store) Owners(ctx context.Context) ([]Owner, error) {
	owners, _, err := s.listed(ctx, "+inf")
	return owners, err
}

// listed are the owners of whom something is to be taken out by a moment, and
// when the next one is.
func (s *Store) listed(ctx context.Context, by string) (owners []Owner, next time.Time, err error) {
	pipe := s.redis.Pipeline()
	var now, later [shards]*redis.ZSliceCmd
	for i := range shards {
		now[i] = pipe.ZRangeByScoreWithScores(ctx, s.due(i), &redis.ZRangeBy{Min: "-inf", Max: by})
		later[i] = pipe.ZRangeByScoreWithScores(ctx, s.due(i), &redis.ZRangeBy{Min: "(" + by, Max: "+inf", Count: 1})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, time.Time{}, fmt.Errorf("list owners of memories: %w", err)
	}
	for i := range shards {
		for _, z := range now[i].Val() {
			if o, ok := ParseOwner(z.Member.(string)); ok {
				owners = append(owners, o)
			}
		}
		for _, z := range later[i].Val() {
			if at := time.UnixMilli(int64(z.Score)); next.IsZero() || at.Before(next) {
				next = at
			}
		}
	}
	return owners, next, nil
}

// Clean takes out what is to be taken out by now, and answers when the next is;
// the zero time: there is nothing.
func (s *Store) Clean(ctx context.Context, now time.Time) (next time.Time, err error) {
	for {
		owners, next, err := s.listed(ctx, strconv.FormatInt(now.UnixMilli(), 10))
		if err != nil || len(owners) == 0 {
			return next, err
		}
		for _, o := range owners {
			if err := s.change(ctx, o, now, func(b *book) error {
				b.due = true
				return nil
			}); err != nil {
				return next, err
			}
		}
	}
}
