package mailbox

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// DueKind says what is due in a conversation.
type DueKind string

const (
	DueTurn  DueKind = "t" // a turn's lease ends
	DueQueue DueKind = "q" // on offer: messages wait and no turn runs, or one was handed over
	DueSend  DueKind = "s" // a sender's lease ends
	DueWait  DueKind = "w" // the time of a parked turn's wait is over
	DueTask  DueKind = "k" // a task is to be tried, or the lease of a try ends
)

// Due is one item of the index: what is to be looked at, and in how long.
type Due struct {
	Kind         DueKind
	Conversation chat.Conversation
	Turn         chat.TurnID // of a DueTurn, DueWait or DueTask
	Task         TaskName    // of a DueTask
	In           time.Duration
	Seen         time.Time // when the index was read, by the store's clock
}

// duePerShard bounds what one look at the index brings of each of its bands.
const duePerShard = 64

// band is added to an item's score once for each band of the index in front of
// its own; see prelude_keys.lua.
const band, bands = 10_000_000_000_000, 4

// Due reads the earliest items of each band of the index of every shard, in one
// round trip, by the store's clock. Nothing that is created later can be due
// earlier than one TTL from now, but work that is offered, which is published,
// and a wait of less than a TTL, which may so last for a whole one.
func (b *Box) Due(ctx context.Context) ([]Due, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	var clock *redis.TimeCmd
	cmds := make([]*redis.ZSliceCmd, 0, bands*shards)
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		for n := range shards {
			index := b.keys.shard(n) + "leases"
			if b.empty(index) {
				continue
			}
			for i := range bands {
				cmds = append(cmds, p.ZRangeByScoreWithScores(ctx, index, &redis.ZRangeBy{
					Min: strconv.Itoa(i * band), Max: "(" + strconv.Itoa((i+1)*band), Count: duePerShard,
				}))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	now := clock.Val().UnixMilli()
	var due []Due
	for i, cmd := range cmds {
		for _, z := range cmd.Val() {
			member, _ := z.Member.(string)
			if d, ok := parseDue(member); ok {
				at := int64(z.Score) - int64(i%bands*band)
				d.In, d.Seen = time.Duration(at-now)*time.Millisecond, clock.Val()
				due = append(due, d)
			}
		}
	}
	return due, nil
}

func parseDue(member string) (Due, bool) {
	f := strings.Split(member, "|")
	if len(f) < 2 {
		return Due{}, false
	}
	c, ok := chat.ParseConversation(f[1])
	d := Due{Kind: DueKind(f[0]), Conversation: c}
	if len(f) > 2 {
		d.Turn = chat.TurnID(f[2])
	}
	if d.Kind == DueTask {
		d.Task, d.Turn = splitTaskKey(string(d.Turn))
	}
	return d, ok
}

// Signal is what a process is told by others, through pub/sub. It may be lost.
type Signal struct {
	// Stop or Steer names a turn of ours that was stopped or steered.
	Stop, Steer chat.TurnID
	// Work: messages wait in a conversation for a process with room.
	Work *chat.Conversation
	// Tasks: one has come due by a step of this process.
	Tasks bool
	// Began: signals come from now on. Those before are lost, at the start and
	// whenever the connection was.
	Began bool
}

// Signals calls f for each signal until ctx ends. It reconnects on its own; a
// gap loses signals, which renewals and the index make good.
func (b *Box) Signals(ctx context.Context, f func(Signal)) error {
	sub := b.rdb.Subscribe(ctx, b.keys.ownerChannel(b.owner), b.keys.workChannel())
	defer sub.Close()
	messages := sub.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.tasks:
			f(Signal{Tasks: true})
		case m, ok := <-messages:
			if !ok {
				return ctx.Err()
			}
			switch m := m.(type) {
			case *redis.Subscription:
				f(Signal{Began: true})
			case *redis.Message:
				if s, ok := b.parseSignal(m.Channel, m.Payload); ok {
					f(s)
				}
			}
		}
	}
}

func (b *Box) parseSignal(channel, payload string) (Signal, bool) {
	if channel == b.keys.workChannel() {
		c, ok := chat.ParseConversation(payload)
		return Signal{Work: &c}, ok
	}
	what, turn, ok := strings.Cut(payload, " ")
	switch {
	case !ok:
	case what == "stop":
		return Signal{Stop: chat.TurnID(turn)}, true
	case what == "steer":
		return Signal{Steer: chat.TurnID(turn)}, true
	}
	return Signal{}, false
}
