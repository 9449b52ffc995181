package mailbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// Work is one open or ended turn, or a message that waits for one, as an
// operator sees it.
type Work struct {
	Conversation chat.Conversation `json:"conversation"`
	// Turn is empty of a message that waits.
	Turn    chat.TurnID `json:"turn,omitempty"`
	Message chat.TS     `json:"message,omitempty"`
	// State is waiting (a message), queued, running, parked or an Outcome.
	State string     `json:"state"`
	Actor chat.Actor `json:"actor"`
	// Since is when it came into the list that it stands in.
	Since   time.Time `json:"since"`
	Born    time.Time `json:"born,omitzero"`
	Attempt int       `json:"attempt,omitempty"`
	// Owner is the process that runs it, or ran it last.
	Owner string `json:"owner,omitempty"`
	// WaitID names the wait of a parked turn: whoever ends it has to say which.
	// WaitUntil is when its time is over.
	WaitID    WaitID    `json:"wait_id,omitempty"`
	WaitUntil time.Time `json:"wait_until,omitzero"`
	// Untouched: it is parked because nobody had touched it for long.
	Untouched bool `json:"untouched,omitempty"`
	// Old: nobody has touched it for so long that it will not go on by itself,
	// but be parked by the replica that finds it.
	Old bool `json:"old,omitempty"`
	// Stopping: somebody has stopped it, and it has not ended yet.
	Stopping bool `json:"stopping,omitempty"`
}

// surveyed is how many members of one list of a shard a survey reads.
const surveyed = 1000

// listed is a member of a shard's list.
type listed struct {
	list, what string
	c          chat.Conversation
	since      time.Time
}

// lists reads the named lists of every shard, oldest first.
func (b *Box) lists(ctx context.Context, names ...string) ([]listed, time.Time, error) {
	var clock *redis.TimeCmd
	var cmds []*redis.ZSliceCmd
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		for n := range shards {
			for _, name := range names {
				cmds = append(cmds, p.ZRangeWithScores(ctx, b.keys.shard(n)+name, 0, surveyed-1))
			}
		}
		return nil
	})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read the lists of work: %w", err)
	}
	var all []listed
	for i, cmd := range cmds {
		for _, z := range cmd.Val() {
			member, _ := z.Member.(string)
			if c, what, ok := parseListed(names[i%len(names)], member); ok {
				all = append(all, listed{names[i%len(names)], what, c, time.UnixMilli(int64(z.Score)).UTC()})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b listed) int { return a.since.Compare(b.since) })
	return all, clock.Val().UTC(), nil
}

// Survey lists what is open in the whole store, oldest first, and with ended
// the newest turns that have ended. now is the store's clock.
func (b *Box) Survey(ctx context.Context, ended bool) (work []Work, now time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*b.opts.CallTimeout)
	defer cancel()
	names := []string{"waiting", "running", "parked"}
	if ended {
		names = append(names, "ended")
	}
	all, now, err := b.lists(ctx, names...)
	if err != nil {
		return nil, now, err
	}
	heads := make([]*redis.SliceCmd, len(all))
	_, err = b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, l := range all {
			heads[i] = p.HMGet(ctx, b.keys.turn(l.c, chat.TurnID(l.what)), workFields...)
		}
		return nil
	})
	if len(all) > 0 && err != nil && !redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil, now, fmt.Errorf("read turns: %w", err)
	}
	for i, l := range all {
		if ts, author, ok := strings.Cut(l.what, " "); ok {
			actor, _ := chat.ParseActor(author)
			work = append(work, Work{
				Conversation: l.c, Message: chat.TS(ts), State: "waiting", Actor: actor, Since: l.since,
				Old: now.Sub(l.since) > b.opts.Untouched,
			})
			continue
		}
		head := heads[i].Val()
		w := readWork(l.c, chat.TurnID(l.what), head)
		w.Since = l.since
		touched := l.since
		if w.State == "running" && len(head) == len(workFields) {
			touched = time.UnixMilli(num(head[len(head)-1]))
		}
		w.Old = (w.State == "running" || w.State == "queued") && now.Sub(touched) > b.opts.Untouched
		work = append(work, w)
	}
	return work, now, nil
}

var workFields = []string{"state", "actor", "born", "attempts", "owner", "wait", "stop_ts", "wait_id", "wait_until", "until"}

func readWork(c chat.Conversation, turn chat.TurnID, head []any) Work {
	w := Work{Conversation: c, Turn: turn}
	if len(head) < len(workFields) {
		return w
	}
	w.State, w.Attempt, w.Owner = str(head[0]), int(num(head[3])), str(head[4])
	w.Actor, _ = chat.ParseActor(str(head[1]))
	if ms := num(head[2]); ms > 0 {
		w.Born = time.UnixMilli(ms).UTC()
	}
	if w.State == "parked" {
		w.WaitID = WaitID(str(head[7]))
		if ms := num(head[8]); ms > 0 {
			w.WaitUntil = time.UnixMilli(ms).UTC()
		}
	}
	w.Untouched = w.State == "parked" && str(head[5]) == untouched
	w.Stopping = str(head[6]) != "" && (w.State == "running" || w.State == "queued")
	return w
}

// untouched is what a turn waits for that nobody had touched; see claim.lua.
const untouched = "untouched"

// NotFoundError says that a name is no turn's, or that of several.
type NotFoundError struct {
	Name string
	// Several are the turns that have the name, if there are any.
	Several []chat.TurnID
}

func (e *NotFoundError) Error() string {
	if len(e.Several) == 0 {
		return "no turn is named " + e.Name
	}
	names := make([]string, len(e.Several))
	for i, t := range e.Several {
		names[i] = string(t)
	}
	return e.Name + " names several turns: " + strings.Join(names, ", ")
}

// Find finds a turn by its id, or by the last six characters of one that is
// open or has ended of late. It is a *NotFoundError when there is none.
func (b *Box) Find(ctx context.Context, name string) (chat.Conversation, chat.TurnID, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*b.opts.CallTimeout)
	defer cancel()
	turn := chat.TurnID(name)
	cmds := make([]*redis.StringCmd, shards)
	_, _ = b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range shards {
			cmds[n] = p.HGet(ctx, b.keys.shard(n)+"turn:"+name, "conv")
		}
		return nil
	})
	for _, cmd := range cmds {
		conv, err := cmd.Result()
		if err != nil && !isNil(err) {
			return chat.Conversation{}, "", fmt.Errorf("find turn %s: %w", name, err)
		}
		if c, ok := chat.ParseConversation(conv); ok {
			return c, turn, nil
		}
	}
	all, _, err := b.lists(ctx, "running", "parked", "waiting", "ended")
	if err != nil {
		return chat.Conversation{}, "", err
	}
	found := map[chat.TurnID]chat.Conversation{}
	for _, l := range all {
		if id := chat.TurnID(l.what); len(name) == len(id.Short()) && id.Short() == strings.ToLower(name) {
			found[id] = l.c
		}
	}
	e := &NotFoundError{Name: name}
	for id, c := range found {
		if len(found) == 1 {
			return c, id, nil
		}
		e.Several = append(e.Several, id)
	}
	slices.Sort(e.Several)
	return chat.Conversation{}, "", e
}
