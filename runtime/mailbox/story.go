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

// Story is all that the store knows of one turn.
type Story struct {
	Work
	// Runs are the claims, oldest first: when, and by which process.
	Runs []Claiming
	// Commits is how many commits were written.
	Commits int64
	// Ran is for how long it ran, but for the run that is under way.
	Ran time.Duration
	// Wait is what it waits for, or waited for last, in a word; Ended how that
	// ended. Waits are all of them.
	Wait   string
	Ended  chat.How
	Waits  []Waiting
	Stop   *Stop
	Closed time.Time
	// Log is every item, and Decisions what was decided of those that are
	// messages, while that is known.
	Log       []Item
	Decisions map[chat.TS]chat.Disposition
	// Unread are messages that wait to be read by it.
	Unread []Unchecked
	// Unsent are its parts that are not posted yet.
	Unsent []chat.Part
	// Tasks are those that follow its end, and TasksLeft those of them that are
	// not done and were not set aside.
	Tasks, TasksLeft []TaskName
}

// Claiming is one claim of a turn.
type Claiming struct {
	At    time.Time `json:"at"`
	Owner string    `json:"owner"`
}

// Story reads one turn.
func (b *Box) Story(ctx context.Context, c chat.Conversation, turn chat.TurnID) (Story, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*b.opts.CallTimeout)
	defer cancel()
	var head *redis.MapStringStringCmd
	var log, unread, out *redis.StringSliceCmd
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		head = p.HGetAll(ctx, b.keys.turn(c, turn))
		log = p.LRange(ctx, b.keys.log(c, turn), 0, -1)
		unread = p.ZRange(ctx, b.keys.of(c)+"steer:"+string(turn), 0, -1)
		out = p.LRange(ctx, b.keys.out(c), 0, -1)
		return nil
	})
	if err != nil {
		return Story{}, fmt.Errorf("read turn %s: %w", turn, err)
	}
	f := head.Val()
	values := make([]any, len(workFields))
	for i, name := range workFields {
		values[i] = f[name]
	}
	s := Story{
		Work: readWork(c, turn, values), Commits: num(f["commits"]), Ran: time.Duration(num(f["ran"])) * time.Millisecond,
		Ended: readEnding(f["ended"]).How, Waits: waits(f), Stop: readStop(f["stop_by"], f["stop_ts"]), Decisions: map[chat.TS]chat.Disposition{},
	}
	if raw := f["wait"]; raw != "" {
		s.Wait = kindOfWait(raw)
	}
	if ms := num(f["closed"]); ms > 0 {
		s.Closed = time.UnixMilli(ms).UTC()
	}
	for name, value := range f {
		if strings.HasPrefix(name, "run:") {
			at, owner, _ := strings.Cut(value, " ")
			s.Runs = append(s.Runs, Claiming{time.UnixMilli(num(at)).UTC(), owner})
		}
	}
	slices.SortFunc(s.Runs, func(a, b Claiming) int { return a.At.Compare(b.At) })
	items := make([]any, len(log.Val()))
	for i, item := range log.Val() {
		items[i] = item
	}
	s.Log = readItems(items)
	s.Unread = readUnchecked(strings.Join(unread.Val(), ","))
	for _, item := range out.Val() {
		if p, err := readPart(item); err == nil && p.Turn == turn {
			s.Unsent = append(s.Unsent, p)
		}
	}
	for name := range strings.SplitSeq(f["tasks"], ",") {
		if name != "" {
			s.Tasks = append(s.Tasks, TaskName(name))
		}
	}
	if err := b.tasksLeft(ctx, c, &s); err != nil {
		return s, err
	}
	return s, b.decisions(ctx, c, &s)
}

// tasksLeft looks up which of the turn's tasks are still to be done.
func (b *Box) tasksLeft(ctx context.Context, c chat.Conversation, s *Story) error {
	if len(s.Tasks) == 0 {
		return nil
	}
	left := make([]*redis.IntCmd, len(s.Tasks))
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, name := range s.Tasks {
			left[i] = p.Exists(ctx, b.keys.task(c, name, s.Turn))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the tasks of turn %s: %w", s.Turn, err)
	}
	for i, cmd := range left {
		if cmd.Val() == 1 {
			s.TasksLeft = append(s.TasksLeft, s.Tasks[i])
		}
	}
	return nil
}

// decisions looks up what was decided of the turn's messages.
func (b *Box) decisions(ctx context.Context, c chat.Conversation, s *Story) error {
	cmds := map[chat.TS]*redis.StringCmd{}
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, item := range s.Log {
			if item.TS != "" {
				cmds[item.TS] = p.HGet(ctx, b.keys.message(chat.MessageID{Team: c.Team, Channel: c.Channel, TS: item.TS}), "first")
			}
		}
		for _, u := range s.Unread {
			cmds[u.TS] = p.HGet(ctx, b.keys.message(chat.MessageID{Team: c.Team, Channel: c.Channel, TS: u.TS}), "first")
		}
		return nil
	})
	if len(cmds) > 0 && err != nil && !isNil(err) && !redis.HasErrorPrefix(err, "WRONGTYPE") {
		return fmt.Errorf("read messages of turn %s: %w", s.Turn, err)
	}
	for ts, cmd := range cmds {
		if first := cmd.Val(); first != "" {
			s.Decisions[ts] = disposition(first)
		}
	}
	return nil
}

// UnsentPart is a part that stands in an outbox.
type UnsentPart struct {
	chat.Part
	Conversation chat.Conversation
	Since        time.Time
	// Sender is the process that holds the conversation's sender's lease; empty
	// when none does.
	Sending bool
	// Bad says why the part cannot be posted, if it cannot.
	Bad string
}

// Unsent lists what is not posted yet, oldest first. now is the store's clock.
func (b *Box) Unsent(ctx context.Context) (parts []UnsentPart, now time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*b.opts.CallTimeout)
	defer cancel()
	all, now, err := b.lists(ctx, "unsent")
	if err != nil {
		return nil, now, err
	}
	outs, until := map[chat.Conversation]*redis.StringSliceCmd{}, map[chat.Conversation]*redis.StringCmd{}
	since := map[string]time.Time{}
	_, err = b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, l := range all {
			since[l.c.Key()+"|"+l.what] = l.since
			if outs[l.c] == nil {
				outs[l.c] = p.LRange(ctx, b.keys.out(l.c), 0, -1)
				until[l.c] = p.HGet(ctx, b.keys.conv(l.c), "s_until")
			}
		}
		return nil
	})
	if len(all) > 0 && err != nil && !isNil(err) && !redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil, now, fmt.Errorf("read outboxes: %w", err)
	}
	for c, out := range outs {
		for _, item := range out.Val() {
			p, err := readPart(item)
			u := UnsentPart{Part: p, Conversation: c, Since: since[c.Key()+"|"+p.ID], Sending: num(until[c].Val()) > now.UnixMilli()}
			if err != nil {
				u.Bad = err.Error()
			}
			parts = append(parts, u)
		}
	}
	slices.SortStableFunc(parts, func(a, b UnsentPart) int { return a.Since.Compare(b.Since) })
	return parts, now, nil
}
