package mailbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// SetAside takes an item out of a turn's log that cannot be processed, and
// tells a person of it in the same step. It is done once, whoever asks.
func (b *Box) SetAside(ctx context.Context, c chat.Conversation, turn chat.TurnID, position int, item Item, why string, who chat.Actor) error {
	return b.aside(ctx, c, turn, strconv.Itoa(position), item.raw, why, who, "a"+strconv.Itoa(position), tellUnread(turn))
}

func (b *Box) aside(ctx context.Context, c chat.Conversation, turn chat.TurnID, place, raw, why string, who chat.Actor, mark, text string) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	args := []any{b.keys.of(c), c.Key(), string(turn), place, raw, why}
	part, err := tell(turn, mark, b.concerned(ctx, c, turn, who), text)
	if err != nil {
		return fmt.Errorf("set aside an item of %s: %w", turn, err)
	}
	if part != "" {
		args = append(args, part)
	}
	v, err := b.one(ctx, &b.scripts.aside, []string{b.keys.conv(c), b.keys.index(c)}, args...)
	if err != nil {
		return fmt.Errorf("set aside an item of %s: %w", turn, err)
	}
	if len(v) > 0 && num(v[0]) == 1 {
		where := "log"
		if place == "out" {
			where = place
		}
		b.opts.Count(CountAside, where, 1)
		slog.Error("record set aside", "conversation", c.Key(), "turn", turn, "where", where, "why", why)
	}
	return nil
}

// parts reads an outbox. What cannot be posted is set aside, and the actor of
// its turn told; the rest goes on.
func (b *Box) parts(ctx context.Context, c chat.Conversation, values []any) []chat.Part {
	parts := make([]chat.Part, 0, len(values))
	for _, v := range values {
		p, err := readPart(str(v))
		if err == nil {
			parts = append(parts, p)
			continue
		}
		turn, n, _ := strings.Cut(p.ID, "/")
		actor, _ := b.rdb.HGet(ctx, b.keys.turn(c, chat.TurnID(turn)), "actor").Result()
		who, _ := chat.ParseActor(actor)
		if err := b.aside(ctx, c, chat.TurnID(turn), "out", str(v), err.Error(), who, "l"+n, tellUnsent(chat.TurnID(turn))); err != nil {
			slog.Error("part not set aside", "conversation", c.Key(), "part", p.ID, "err", err)
		}
	}
	return parts
}

// Version is that of the records that this release writes. One of a later
// version cannot be processed; a field that is not known is left alone.
const Version = 1

// CheckVersion refuses a payload of a later version.
func CheckVersion(payload []byte) error {
	var head struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(payload, &head); err != nil {
		return errors.New("it is no JSON object")
	}
	if head.V > Version {
		return fmt.Errorf("its version is %d, and only %d is known here", head.V, Version)
	}
	return nil
}

// readPart reads one part of the outbox; of one that cannot be posted, the id.
func readPart(item string) (chat.Part, error) {
	id, raw, _ := strings.Cut(item, "\n")
	bad := chat.Part{ID: id}
	if err := CheckVersion([]byte(raw)); err != nil {
		return bad, err
	}
	var p chat.Part
	switch err := json.Unmarshal([]byte(raw), &p); {
	case err != nil:
		return bad, errors.New("it has fields of other types")
	case p.ID != id || id == "":
		return bad, errors.New("it is another's id")
	case p.To == chat.Destination{}:
		return bad, errors.New("it names no destination")
	case p.To.Channel == "" && p.To.DM == "":
		return bad, errors.New("it names no channel and no person")
	}
	return p, nil
}

// DeadRecord is a record that was set aside.
type DeadRecord struct {
	ID           string            `json:"id"`
	At           time.Time         `json:"at"`
	Where        string            `json:"where"` // the key it stood in, without the prefix
	Conversation chat.Conversation `json:"conversation"`
	Turn         chat.TurnID       `json:"turn,omitempty"`
	Why          string            `json:"why"`
	Record       string            `json:"record,omitempty"` // as it stood there, up to 64 KiB
}

// Dead lists the records that were set aside, oldest first.
func (b *Box) Dead(ctx context.Context) ([]DeadRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*b.opts.CallTimeout)
	defer cancel()
	cmds := make([]*redis.StringSliceCmd, shards)
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range shards {
			cmds[n] = p.LRange(ctx, b.keys.shard(n)+"dead", 0, -1)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what was set aside: %w", err)
	}
	var dead []DeadRecord
	for _, cmd := range cmds {
		for _, item := range cmd.Val() {
			head, record, _ := strings.Cut(item, "\n")
			f := strings.SplitN(head, "|", 6)
			if len(f) < 6 {
				f = []string{"", "", "", "", "", "an item of this list that cannot be read"}
				record = item
			}
			c, _ := chat.ParseConversation(f[3])
			dead = append(dead, DeadRecord{
				ID: f[0], At: time.UnixMilli(num(f[1])).UTC(), Where: f[2], Conversation: c,
				Turn: chat.TurnID(f[4]), Why: f[5], Record: record,
			})
		}
	}
	slices.SortStableFunc(dead, func(a, b DeadRecord) int { return a.At.Compare(b.At) })
	return dead, nil
}
