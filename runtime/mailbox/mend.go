package mailbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// broken reports whether a step failed over what it found in the store, which
// trying again does not change.
func broken(err error) bool {
	answer, ok := errors.AsType[redis.Error](err)
	return ok && !refused(err) && slices.ContainsFunc([]string{"WRONGTYPE ", "MEND ", "ERR "}, func(prefix string) bool {
		return strings.HasPrefix(answer.Error(), prefix)
	})
}

// named is the conversation that a step named as the broken one.
var named = regexp.MustCompile(`MEND (\S+:\S+:\S+)`)

// mendFor mends what a step failed over. It reports whether the step is worth
// another try.
func (b *Box) mendFor(ctx context.Context, failed call, err error) bool {
	if failed.script == &b.scripts.mend || len(failed.args) < 3 {
		return false
	}
	c, ok := chat.ParseConversation(fmt.Sprint(failed.args[1]))
	if !ok {
		return false
	}
	slog.Warn("a step failed over a record", "conversation", c.Key(), "step", failed.script.name, "err", err)
	broken, ts, listed := []chat.Conversation{c}, chat.TS(""), []string(nil)
	if failed.script == &b.scripts.claim {
		if due := fmt.Sprint(failed.args[len(failed.args)-1]); due != "" {
			listed = []string{"running|" + due}
		}
	}
	if failed.script == &b.scripts.taskClaim {
		listed = []string{"tasks|" + fmt.Sprint(failed.args[2])}
	}
	if failed.script == &b.scripts.put {
		ts = chat.TS(fmt.Sprint(failed.args[2]))
		if last, err := b.rdb.Get(ctx, b.keys.dm(c)).Result(); err == nil {
			if other, ok := chat.ParseConversation(last); ok && other != c {
				broken = append(broken, other)
			}
		}
	}
	if m := named.FindStringSubmatch(err.Error()); m != nil {
		if other, ok := chat.ParseConversation(m[1]); ok && other != c {
			broken = append(broken, other)
		}
	}
	for _, c := range broken {
		if err := b.mend(ctx, c, ts, listed); err != nil {
			slog.Error("conversation not mended", "conversation", c.Key(), "err", err)
			return false
		}
	}
	return true
}

// unread makes good that a step has claimed a turn whose record cannot be read:
// the step stands, and the turn is abandoned. Other errors come back.
func (b *Box) unread(ctx context.Context, c chat.Conversation, err error) error {
	if !errors.Is(err, errUnread) {
		return err
	}
	slog.Warn("a claimed turn cannot be read", "conversation", c.Key(), "err", err)
	return b.mend(ctx, c, "", nil)
}

// mend compares a conversation's records and puts right what does not fit; see
// mend.lua. listed are members of the shard's lists that name it, as LIST|WHAT.
func (b *Box) mend(ctx context.Context, c chat.Conversation, ts chat.TS, listed []string) error {
	args := []any{b.keys.of(c), c.Key(), string(ts), strings.Join(listed, "\n")}
	for range 8 { // each turn that is abandoned may free another record
		v, err := b.one(ctx, &b.scripts.mend, []string{b.keys.conv(c), b.keys.index(c)}, args...)
		if err != nil {
			return fmt.Errorf("mend %s: %w", c.Key(), err)
		}
		told := len(args)
		for _, row := range v {
			f, ok := row.([]any)
			if !ok || len(f) < 3 {
				continue
			}
			if str(f[0]) == "done" {
				b.opts.Count(CountMended, "", 1)
				slog.Warn("record mended", "conversation", c.Key(), "what", str(f[1]))
				continue
			}
			part, err := b.tellOfLoss(ctx, c, str(f[1]), str(f[2]))
			if err != nil {
				return fmt.Errorf("mend %s: %w", c.Key(), err)
			}
			args = append(args, str(f[1]), part)
		}
		if len(args) == told {
			return nil
		}
	}
	return fmt.Errorf("mend %s: it does not come to an end", c.Key())
}

// tellOfLoss is what an actor is told of a turn, or of a part, that is lost.
func (b *Box) tellOfLoss(ctx context.Context, c chat.Conversation, what, actor string) (string, error) {
	id, n, isPart := strings.Cut(what, "/")
	turn := chat.TurnID(id)
	who, _ := chat.ParseActor(actor)
	who = b.concerned(ctx, c, turn, who)
	if isPart {
		return tell(turn, "l"+n, who, tellUnsent(turn))
	}
	return tell(turn, "m", who, tellLost(turn))
}

// Sweep mends the conversations in which something has stood for longer than
// TTLs explain, a bounded number at a time: cursor is where the last sweep
// ended. What is well costs one read of each; nothing is changed.
func (b *Box) Sweep(ctx context.Context, cursor int64) (next int64, err error) {
	listed, next, err := b.suspects(ctx, cursor)
	if err != nil {
		return cursor, err
	}
	for c, members := range listed {
		stepCtx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
		err := b.mend(stepCtx, c, "", members)
		cancel()
		if err != nil && ctx.Err() != nil {
			return cursor, err
		}
		if err != nil {
			slog.Error("conversation not mended", "conversation", c.Key(), "err", err)
		}
	}
	return next, nil
}

// sweepPage is how many members of one list of a shard one sweep looks at.
const sweepPage = 256

// suspects reads a page of each shard's lists, and what is overdue in its
// index, and drops what names nothing.
func (b *Box) suspects(ctx context.Context, cursor int64) (map[chat.Conversation][]string, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	now, err := b.rdb.Time(ctx).Result()
	if err != nil {
		return nil, cursor, fmt.Errorf("sweep: %w", err)
	}
	old := fmt.Sprint(now.Add(-3 * b.opts.LeaseTTL).UnixMilli())
	lists := []string{"leases", "waiting", "running", "parked", "unsent", "tasks"}
	cmds := make([]*redis.StringSliceCmd, 0, shards*len(lists))
	_, _ = b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range shards {
			for _, list := range lists {
				offset := cursor
				if list == "leases" {
					offset = 0 // what is overdue goes away
				}
				cmds = append(cmds, p.ZRangeByScore(ctx, b.keys.shard(n)+list,
					&redis.ZRangeBy{Min: "-inf", Max: old, Offset: offset, Count: sweepPage}))
			}
		}
		return nil
	})
	listed, next := map[chat.Conversation][]string{}, int64(0)
	for i, cmd := range cmds {
		shard, list := i/len(lists), lists[i%len(lists)]
		members, err := cmd.Result()
		switch {
		case redis.HasErrorPrefix(err, "WRONGTYPE"):
			b.drop(ctx, shard, list, "")
			continue
		case err != nil:
			return nil, cursor, fmt.Errorf("sweep: %w", err)
		}
		if len(members) == sweepPage && list != "leases" {
			next = cursor + sweepPage
		}
		for _, member := range members {
			c, what, ok := parseListed(list, member)
			if !ok || shardOf(c.Team, c.Channel) != shard {
				b.drop(ctx, shard, list, member)
				continue
			}
			if what == "" { // of the index: the conversation alone
				listed[c] = append(listed[c], "")
				continue
			}
			if list == "leases" {
				list = "running"
			}
			listed[c] = append(listed[c], list+"|"+what)
		}
	}
	return listed, next, nil
}

// parseListed reads a member of a shard's list.
func parseListed(list, member string) (c chat.Conversation, what string, ok bool) {
	if list == "leases" {
		d, ok := parseDue(member)
		if d.Kind != DueTurn && d.Kind != DueQueue && d.Kind != DueSend && d.Kind != DueWait && d.Kind != DueTask {
			ok = false
		}
		return d.Conversation, string(d.Turn), ok
	}
	key, what, ok := strings.Cut(member, "|")
	if !ok || strings.ContainsAny(what, "\n") {
		return c, "", false
	}
	c, ok = chat.ParseConversation(key)
	return c, what, ok
}

// drop removes a member that names no conversation, or a list of a wrong type.
// Lists are derived: nothing is lost by it.
func (b *Box) drop(ctx context.Context, shard int, list, member string) {
	key := b.keys.shard(shard) + list
	slog.Warn("a list of the store held what is no member", "key", key)
	b.opts.Count(CountMended, "", 1)
	if member == "" {
		b.rdb.Del(ctx, key)
		return
	}
	b.rdb.ZRem(ctx, key, member)
}
