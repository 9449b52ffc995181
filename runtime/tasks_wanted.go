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

// wantedTasks are the tasks that a turn needs when it ends as t says. A plugin that
// panics over the question, or takes its time, has none of it.
func (r *Runtime) wantedTasks(c chat.Conversation, t mailbox.ClosedTurn) []mailbox.TaskName {
	if len(r.board.order) == 0 || t.Outcome == mailbox.Withdrawn { // it has done nothing
		return nil
	}
	var names []mailbox.TaskName
	var ended *plugins.Ended // made when somebody asks
	late := time.NewTimer(wantsTime)
	defer late.Stop()
	for _, task := range r.board.order {
		if task.Wants == nil {
			if t.Outcome == mailbox.Done {
				names = append(names, task.name())
			}
			continue
		}
		if ended == nil {
			e := r.endedOf(c, t)
			ended = &e
		}
		answer := make(chan bool, 1)
		go func() { answer <- r.wants(task, r.forTask(*ended, task, 0)) }()
		select {
		case yes := <-answer:
			if yes {
				names = append(names, task.name())
			}
		case <-late.C:
			r.opts.Logger.Error("task's Wants takes too long: it and those after it are left out", "turn", t.Turn, "task", task.name())
			return names
		}
	}
	return names
}

func (r *Runtime) wants(task Task, ended plugins.Ended) (yes bool) {
	defer func() {
		if fault := recover(); fault != nil {
			r.opts.Logger.Error("task's Wants panicked", "turn", ended.Turn, "task", task.name(), "type", fmt.Sprintf("%T", fault))
			yes = false
		}
	}()
	ended.Run = ended.Run.Copy()
	return task.Wants(ended)
}

// keep remembers what this run has written, for the question which tasks the
// turn needs.
func (l *turnLog) keep(items []mailbox.Item, entries [][]byte) {
	if len(l.r.board.order) == 0 {
		return
	}
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
