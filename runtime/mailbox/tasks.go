package mailbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// TaskName is a plugin's completed-turn task: "PLUGIN/TASK".
type TaskName string

// Task is one task of one turn, in the hands of this process.
type Task struct {
	Conversation chat.Conversation
	Turn         chat.TurnID
	Name         TaskName
	Token        Token
	// Try counts the tries from 1.
	Try int
	// Start is the local time at which the claim was sent, as that of a turn.
	Start time.Time
}

// TaskEnd says how a try ended.
type TaskEnd string

const (
	TaskDone    TaskEnd = "done"
	TaskAgain   TaskEnd = "again"   // after a pause
	TaskRelease TaskEnd = "release" // at once, by any process; the try does not count
	TaskAside   TaskEnd = "aside"   // never again: it stands among the dead records
)

func taskKey(name TaskName, turn chat.TurnID) string { return string(name) + "/" + string(turn) }

func splitTaskKey(key string) (TaskName, chat.TurnID) {
	i := strings.LastIndexByte(key, '/')
	if i < 0 {
		return "", chat.TurnID(key)
	}
	return TaskName(key[:i]), chat.TurnID(key[i+1:])
}

func taskNames(names []TaskName) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return strings.Join(list, ",")
}

// tasksDue lets this process look for tasks that one of its own steps has made
// due. Any other finds them in the index, should this one not come to it.
func (b *Box) tasksDue() {
	select {
	case b.tasks <- struct{}{}:
	default:
	}
}

// ClaimTask takes up a task that is due, for its next try; nil when there is
// nothing to take: it is done, another has it, or its tries are used up, so that
// it was set aside.
func (b *Box) ClaimTask(ctx context.Context, c chat.Conversation, name TaskName, turn chat.TurnID, tries int) (*Task, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.taskClaim, []string{b.keys.task(c, name, turn), b.keys.index(c)},
		b.keys.of(c), c.Key(), taskKey(name, turn), b.owner, nonce(), b.opts.LeaseTTL.Milliseconds(), tries)
	if err != nil {
		return nil, fmt.Errorf("claim task %s: %w", taskKey(name, turn), err)
	}
	switch {
	case len(v) == 1 && str(v[0]) == "aside":
		b.opts.Count(CountAside, "task", 1)
	case len(v) == 3 && str(v[0]) == "claimed":
		return &Task{Conversation: c, Turn: turn, Name: name, Token: Token(str(v[1])), Try: int(num(v[2])), Start: start}, nil
	}
	return nil, nil
}

// RenewTasks keeps tasks for another TTL, in one round trip. Error i is ErrStale
// when task i is not ours any more.
func (b *Box) RenewTasks(ctx context.Context, tasks []Task) []error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	calls := make([]call, len(tasks))
	for i, t := range tasks {
		calls[i] = call{&b.scripts.taskRenew, []string{b.keys.task(t.Conversation, t.Name, t.Turn), b.keys.index(t.Conversation)},
			[]any{b.keys.of(t.Conversation), t.Conversation.Key(), taskKey(t.Name, t.Turn), string(t.Token), b.opts.LeaseTTL.Milliseconds()}}
	}
	values, errs := b.run(ctx, calls)
	for i, v := range values {
		if errs[i] == nil && len(v) == 0 {
			errs[i] = b.stale("task")
		}
	}
	return errs
}

// EndTask says how a try ended, or answers ErrStale. pause is before the next
// try of TaskAgain, and why says of TaskAside, to an operator, what is wrong.
func (b *Box) EndTask(ctx context.Context, t Task, how TaskEnd, pause time.Duration, why string) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	v, err := b.one(ctx, &b.scripts.taskEnd, []string{b.keys.task(t.Conversation, t.Name, t.Turn), b.keys.index(t.Conversation)},
		b.keys.of(t.Conversation), t.Conversation.Key(), taskKey(t.Name, t.Turn), string(t.Token), string(how), pause.Milliseconds(), why)
	if err != nil {
		return fmt.Errorf("end a try of task %s: %w", taskKey(t.Name, t.Turn), err)
	}
	if len(v) == 0 {
		return fmt.Errorf("end a try of task %s: %w", taskKey(t.Name, t.Turn), b.stale("task"))
	}
	if how == TaskAside {
		b.opts.Count(CountAside, "task", 1)
	}
	return nil
}
