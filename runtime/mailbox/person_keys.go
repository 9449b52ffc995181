package mailbox

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// KeyKinds are the kinds of keys that this store writes, as they stand in its
// keys behind the prefix and the shard. docs/privacy.md says of each what of a
// person is in it.
func KeyKinds() []string {
	return append(slices.Clone(shardKinds), otherKinds...)
}

var (
	shardKinds = []string{
		"conv", "wait", "ready", "closed", "thread", "out", "turn", "log", "steer", "msg", "dm", "task", "place", "told",
		"leases", "touched", "waiting", "running", "parked", "unsent", "tasks", "ended", "dead", "dead_last",
	}
	otherKinds = []string{"alive", "fact", "tokens", "store", "once"}
)

// inShard begins the name of a key in a shard.
var inShard = regexp.MustCompile(`^\{s\d\d\}:`)

// found are the keys of a store, by their kind: what stands behind it, with the
// shard's prefix in front where there is one.
type found struct {
	conversations map[chat.Conversation]*foundIn
	turns, logs   []string // whole keys
	messages      []string
	tasks         []string
	dead          []string
	other         map[string][]string // kinds outside of shards: what stands behind them
	strange       []string            // keys of kinds that this release does not know
}

// foundIn are the keys of one conversation.
type foundIn struct {
	thread, out bool
	turns       []turnHead
	messages    []messageHead
}

func (f *found) in(c chat.Conversation) *foundIn {
	if f.conversations[c] == nil {
		f.conversations[c] = &foundIn{}
	}
	return f.conversations[c]
}

// find scans all keys under the prefix. It is for an operator's command alone:
// it reads the name of every key that there is.
func (b *Box) find(ctx context.Context, beside func(name string) bool) (*found, error) {
	f := &found{conversations: map[chat.Conversation]*foundIn{}, other: map[string][]string{}}
	names := map[string]bool{} // a scan may name a key twice
	var mu sync.Mutex
	scan := func(ctx context.Context, c redis.Cmdable) error {
		for cursor := uint64(0); ; {
			page, next, err := c.Scan(ctx, cursor, b.keys.prefix+":*", 1000).Result()
			if err != nil {
				return fmt.Errorf("scan the store: %w", err)
			}
			mu.Lock()
			for _, key := range page {
				names[key] = true
			}
			mu.Unlock()
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	var err error
	if cluster, ok := b.rdb.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return scan(ctx, c) })
	} else {
		err = scan(ctx, b.rdb)
	}
	if err != nil {
		return nil, err
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, key := range sorted {
		b.classify(f, key, beside)
	}
	return f, nil
}

func (b *Box) classify(f *found, key string, beside func(name string) bool) {
	name := strings.TrimPrefix(key, b.keys.prefix+":")
	shard := inShard.FindString(name)
	if shard == "" {
		kind, rest, _ := strings.Cut(name, ":")
		switch {
		case slices.Contains(otherKinds, kind):
			f.other[kind] = append(f.other[kind], rest)
		case beside == nil || !beside(name):
			f.strange = append(f.strange, name)
		}
		return
	}
	kind, rest, _ := strings.Cut(name[len(shard):], ":")
	c, _ := chat.ParseConversation(rest)
	switch kind {
	case "turn":
		f.turns = append(f.turns, key)
	case "log":
		f.logs = append(f.logs, key)
	case "msg":
		f.messages = append(f.messages, key)
	case "task":
		f.tasks = append(f.tasks, key)
	case "dead":
		f.dead = append(f.dead, key)
	case "thread":
		f.in(c).thread = true
	case "out":
		f.in(c).out = true
	default:
		if !slices.Contains(shardKinds, kind) {
			f.strange = append(f.strange, name)
		}
	}
}

// turnHead is what is known of a turn beside its log.
type turnHead struct {
	turn         chat.TurnID
	conversation chat.Conversation
	actor        chat.Actor
	state        string
	number, born int64
	opaque       map[string]string // fields that may hold words, by name
	log          bool
}

func (t turnHead) isOpen() bool {
	return t.state == "running" || t.state == "parked" || t.state == "queued"
}

// opaqueFields of a turn hold what is not the mailbox's to read.
var opaqueFields = []string{"setup", "wait", "ended", "void"}

// messageHead is a message's own record.
type messageHead struct {
	conversation chat.Conversation
	ts           chat.TS
	author       chat.Actor
	state, body  string
	turn         chat.TurnID
}

// pageOf is how many records one round trip reads.
const pageOf = 200

// inPages pipelines one command a key and hands over each answer. What has
// another type than its kind is nobody's to read: it is left to be mended.
func inPages[T redis.Cmder](ctx context.Context, b *Box, keys []string, ask func(redis.Pipeliner, string) T, take func(string, T)) error {
	for page := range slices.Chunk(keys, pageOf) {
		cmds := make([]T, len(page))
		_, _ = b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, key := range page {
				cmds[i] = ask(p, key)
			}
			return nil
		})
		for i, key := range page {
			err := cmds[i].Err()
			if err != nil && !isNil(err) && !redis.HasErrorPrefix(err, "WRONGTYPE") {
				return fmt.Errorf("read %s: %w", key, err)
			}
			if err == nil {
				take(key, cmds[i])
			}
		}
	}
	return nil
}

// heads reads what is needed to know whose each turn and each message is. Of
// bodies it keeps those that name the person.
func (b *Box) heads(ctx context.Context, f *found, who chat.Actor) (map[chat.TurnID]turnHead, error) {
	turns := map[chat.TurnID]turnHead{}
	fields := append([]string{"conv", "actor", "state", "number", "born"}, opaqueFields...)
	err := inPages(ctx, b, f.turns, func(p redis.Pipeliner, key string) *redis.SliceCmd { return p.HMGet(ctx, key, fields...) },
		func(key string, cmd *redis.SliceCmd) {
			v := cmd.Val()
			t := turnHead{turn: chat.TurnID(lastOf(key)), state: str(v[2]), number: num(v[3]), born: num(v[4]), opaque: map[string]string{}}
			t.conversation, _ = chat.ParseConversation(str(v[0]))
			t.actor, _ = chat.ParseActor(str(v[1]))
			for i, name := range opaqueFields {
				if text := str(v[5+i]); text != "" {
					t.opaque[name] = text
				}
			}
			turns[t.turn] = t
		})
	if err != nil {
		return nil, err
	}
	// A log whose turn's record is gone says by its first message whose it is.
	err = inPages(ctx, b, f.logs, func(p redis.Pipeliner, key string) *redis.StringSliceCmd { return p.LRange(ctx, key, 0, 0) },
		func(key string, cmd *redis.StringSliceCmd) {
			id := chat.TurnID(lastOf(key))
			t := turns[id]
			t.turn = id
			for _, item := range itemsOf(cmd.Val()) {
				m, ok := messageIn(item.Body)
				if t.actor.IsZero() {
					t.actor = item.Author
				}
				if ok && t.conversation == (chat.Conversation{}) {
					t.conversation = m.Conversation
				}
			}
			t.log = true
			turns[id] = t
		})
	if err != nil {
		return nil, err
	}
	for _, t := range turns {
		f.in(t.conversation).turns = append(f.in(t.conversation).turns, t)
	}
	err = inPages(ctx, b, f.messages, func(p redis.Pipeliner, key string) *redis.SliceCmd {
		return p.HMGet(ctx, key, "conv", "author", "state", "body", "turn")
	}, func(key string, cmd *redis.SliceCmd) {
		v := cmd.Val()
		m := messageHead{ts: chat.TS(lastOf(key)), state: str(v[2]), body: str(v[3]), turn: chat.TurnID(str(v[4]))}
		m.conversation, _ = chat.ParseConversation(str(v[0]))
		m.author, _ = chat.ParseActor(str(v[1]))
		if m.author != who && !strings.Contains(m.body, string(who.User)) {
			return
		}
		f.in(m.conversation).messages = append(f.in(m.conversation).messages, m)
	})
	return turns, err
}

func lastOf(key string) string { return key[strings.LastIndexByte(key, ':')+1:] }

func itemsOf(values []string) []Item {
	items := make([]any, len(values))
	for i, v := range values {
		items[i] = v
	}
	return readItems(items)
}
