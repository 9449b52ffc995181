package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// wantsTime bounds the question which tasks a turn needs: an answer waits for it.
const wantsTime = time.Second

// wantedTasks are the tasks that a turn needs when it ends as t says. All are
// asked at once. One that panics over the question, or takes its time, is left
// out, and costs the others nothing; one that has not come back from an earlier
// question is not asked again, so that not every answer waits for it.
func (r *Runtime) wantedTasks(c chat.Conversation, t mailbox.ClosedTurn) []mailbox.TaskName {
	if len(r.board.order) == 0 || t.Outcome == mailbox.Withdrawn { // it has done nothing
		return nil
	}
	answers := make([]chan bool, len(r.board.order))
	var ended *plugins.Ended // made when somebody asks
	for i, task := range r.board.order {
		answers[i] = make(chan bool, 1)
		switch {
		case task.Wants == nil:
			answers[i] <- t.Outcome == mailbox.Done
		case r.board.count(task.wants(), 0) > 0:
			r.opts.Logger.Error("task's Wants has not come back from an earlier turn: it is left out", "turn", t.Turn, "task", task.name())
			answers[i] <- false
		default:
			if ended == nil {
				e := r.endedOf(c, t)
				ended = &e
			}
			mine := *ended
			mine.Run = mine.Run.Copy()
			go func() { answers[i] <- r.wants(task, r.forTask(mine, task, 0)) }()
		}
	}
	late, cancel := context.WithTimeout(context.Background(), wantsTime)
	defer cancel()
	var names []mailbox.TaskName
	for i, task := range r.board.order {
		if r.answer(late, task, answers[i], t.Turn) {
			names = append(names, task.name())
		}
	}
	return names
}

// answer waits for the answer of a task's Wants. One that is late is counted
// until it comes.
func (r *Runtime) answer(late context.Context, task Task, answer chan bool, turn chat.TurnID) bool {
	select {
	case yes := <-answer:
		return yes
	default:
	}
	select {
	case yes := <-answer:
		return yes
	case <-late.Done():
	}
	r.opts.Logger.Error("task's Wants takes too long: it is left out", "turn", turn, "task", task.name())
	r.board.count(task.wants(), +1)
	go func() {
		<-answer
		r.board.count(task.wants(), -1)
	}()
	return false
}

func (r *Runtime) wants(task Task, ended plugins.Ended) (yes bool) {
	defer func() {
		if fault := recover(); fault != nil {
			r.opts.Logger.Error("task's Wants panicked", "turn", ended.Turn, "task", task.name(), "type", fmt.Sprintf("%T", fault))
			yes = false
		}
	}()
	return task.Wants(ended)
}

// keep remembers what this run has written, for the questions which tasks the
// turn needs and whom its card is about.
func (l *turnLog) keep(items []mailbox.Item, entries [][]byte) {
	l.kept = append(l.kept, items...)
	for _, raw := range entries {
		l.kept = append(l.kept, mailbox.Item{Taken: mailbox.EntryItem, Body: raw})
	}
}

// tasks are those of the turn, if it ends with these entries.
func (l *turnLog) tasks(outcome mailbox.Outcome, entries [][]byte) []mailbox.TaskName {
	if len(l.r.board.order) == 0 {
		return nil
	}
	log := slices.Concat(l.claimed.Log, l.kept)
	for _, raw := range entries {
		log = append(log, mailbox.Item{Taken: mailbox.EntryItem, Body: raw})
	}
	return l.r.wantedTasks(l.h.ref.Conversation, mailbox.ClosedTurn{Turn: l.h.ref.Turn, Actor: l.h.actor, Outcome: outcome, Log: log})
}

// abandonedTasks are those of a turn that has lost all its workers.
func (r *Runtime) abandonedTasks(ctx context.Context, e *mailbox.Exhausted) []mailbox.TaskName {
	if len(r.board.order) == 0 {
		return nil
	}
	t, found, err := r.opts.Box.ReadTurn(ctx, e.Conversation, e.Turn)
	if err != nil || !found {
		r.opts.Logger.Warn("tasks of an abandoned turn left out", "turn", e.Turn, "err", err)
		return nil
	}
	t.Outcome = mailbox.Abandoned
	return r.wantedTasks(e.Conversation, t)
}
