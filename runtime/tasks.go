package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"reeve/agent"
	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Task is a completed-turn task of a plugin. The step that closes a turn writes
// down which of its tasks are to follow; once its parts have left the outbox any
// replica runs them, each under a lease of its own. A turn that no run of ours
// closes (one that is parked when it is stopped, or that an operator ends) has
// none.
type Task struct {
	Plugin string
	plugins.Task
	// SharedStore: its plugin has one store for all people.
	SharedStore bool
}

func (t Task) name() mailbox.TaskName { return mailbox.TaskName(t.Plugin + "/" + t.Name) }

// wants is the question whether it is wanted, where what hangs is counted; no
// task has such a name.
func (t Task) wants() mailbox.TaskName { return t.name() + "?" }

const (
	// taskTries is how often a task is tried in all; the pause after the first
	// try is TaskPause, and doubles from there up to maxTaskPause.
	taskTries    = 8
	maxTaskPause = 10 * time.Minute
	// taskTimeout is for a task that names none.
	taskTimeout = time.Minute
	// maxHungTries is how many tries of one task may hang in a process, given up
	// on, before more are refused.
	maxHungTries = 4
	// maxWhy bounds what an operator is told of a task that was set aside, in bytes.
	maxWhy = 500
)

// Why a try cannot be made at all.
var (
	errNoTask   = errors.New("no plugin that is on here has this task")
	errTurnGone = errors.New("its turn is not kept any more")
)

// takeTask reports whether this process now tries a task that is due.
func (r *Runtime) takeTask(ctx context.Context, d mailbox.Due) (bool, error) {
	if !r.board.reserve() {
		return false, nil // a place that becomes free looks again
	}
	task, err := r.opts.Box.ClaimTask(ctx, d.Conversation, d.Task, d.Turn, taskTries)
	if err != nil || task == nil {
		r.board.release()
		return false, err
	}
	go func() {
		r.try(*task)
		r.board.release()
		r.look() // for the next one, and for when this one is due again
	}()
	return true, nil
}

// try is one try of a task, under its lease.
func (r *Runtime) try(t mailbox.Task) {
	h := r.board.hold(t, r.opts.Box.Trusted(t.Start))
	defer r.board.drop(h)
	unbind := context.AfterFunc(r.cut, func() { h.cancel(errHandedOver) })
	defer unbind()
	start := time.Now()
	err := r.runTask(h.ctx, t)
	how, pause := mailbox.TaskDone, time.Duration(0)
	switch {
	case err == nil:
	case h.ctx.Err() != nil:
		// It was cut: by the end of the process, or by its lease. If nobody has
		// taken it over, it goes on as if it had not been tried.
		how, err = mailbox.TaskRelease, context.Cause(h.ctx)
	case t.Try >= taskTries, errors.Is(err, errTurnGone):
		how = mailbox.TaskAside
	default:
		how, pause = mailbox.TaskAgain, min(r.opts.TaskPause<<(t.Try-1), maxTaskPause)
	}
	r.opts.Count(CountTasks, string(how), 1)
	log := r.opts.Logger.With("turn", t.Turn, "task", t.Name, "try", t.Try)
	if err == nil {
		log.Info("task done", "took", time.Since(start).Round(time.Millisecond).String())
	} else {
		log.Warn("task not done", "outcome", how, "retry", pause.String(), "err", err)
	}
	why := ""
	if err != nil {
		why = plugins.CutMiddle(err.Error(), maxWhy)
	}
	if err := r.opts.Box.EndTask(context.WithoutCancel(h.ctx), t, how, pause, why); err != nil {
		log.Warn("end of a task not written", "err", err) // it will be tried again
	}
}

// runTask runs the plugin's function within its time. One that does not come
// back is left to itself: its goroutine cannot be ended from outside.
func (r *Runtime) runTask(ctx context.Context, t mailbox.Task) error {
	task, ok := r.board.known[t.Name]
	if !ok {
		return errNoTask
	}
	if n := r.board.count(t.Name, 0); n >= maxHungTries {
		return fmt.Errorf("%d tries of it in this process have not come back", n)
	}
	ended, err := r.endedTurn(ctx, t, task)
	if err != nil {
		return err
	}
	timeout := task.Timeout
	if timeout <= 0 {
		timeout = taskTimeout
	}
	calling, cancel := context.WithTimeout(ctx, min(timeout, plugins.MaxTimeout))
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := errors.New("a fault in its code") // what a panic leaves
		defer func() {
			if fault := recover(); fault != nil {
				// The value may hold what the turn was about; its type may not.
				r.opts.Logger.Error("task panicked", "turn", t.Turn, "task", t.Name,
					"type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			}
			done <- err
		}()
		err = task.Run(calling, ended)
	}()
	select {
	case err := <-done:
		return err
	case <-calling.Done():
	}
	select {
	case err := <-done: // it came back at the last moment
		return err
	default:
	}
	r.board.count(t.Name, +1)
	go func() {
		<-done
		r.board.count(t.Name, -1)
	}()
	return fmt.Errorf("it did not come back within %v", timeout)
}

// endedTurn is what a task is given: its turn as its actor may see it, as it
// stands in the store now.
func (r *Runtime) endedTurn(ctx context.Context, t mailbox.Task, task Task) (plugins.Ended, error) {
	turn, found, err := r.opts.Box.ReadTurn(ctx, t.Conversation, t.Turn)
	if err != nil {
		return plugins.Ended{}, err
	}
	if !found {
		return plugins.Ended{}, errTurnGone
	}
	ended := r.endedOf(t.Conversation, turn)
	return r.forTask(ended, task, t.Try), nil
}

// endedOf is a turn that has ended, or is about to.
func (r *Runtime) endedOf(c chat.Conversation, t mailbox.ClosedTurn) plugins.Ended {
	own, fixed := begun(reader{t.Turn, t.Actor}.log(0, t.Log))
	of := agent.Turn{
		ID: t.Turn, Conversation: c, Actor: t.Actor, Zone: fixed.Zone, Bot: r.opts.Bot, Visibility: visibility(t.Log),
	}
	thread, added, own := divided(own)
	of.Before, of.Own = append(thread, added...), own
	r.name(of.Before, &fixed)
	r.name(of.Own, &fixed)
	ended := plugins.Ended{Run: of.Run(), Outcome: plugins.Outcome(t.Outcome)}
	// What the closing step took back stands in another turn now. The model has
	// read it in this one all the same, and may have acted by it.
	for _, item := range t.Log {
		if item.Taken == mailbox.Struck && item.Author != t.Actor && !slices.Contains(ended.Contributors, item.Author) {
			ended.Contributors = append(ended.Contributors, item.Author)
		}
	}
	return ended
}

func (r *Runtime) forTask(e plugins.Ended, task Task, try int) plugins.Ended {
	e.Key, e.Try = plugins.TaskKey(task.Plugin, task.Name, e.Turn), try
	if r.opts.Store != nil {
		owner := e.Actor
		if task.SharedStore {
			owner = chat.Actor{}
		}
		e.Store = r.opts.Store(task.Plugin, owner)
	}
	return e
}
