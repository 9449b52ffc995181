package mailbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

const learn mailbox.TaskName = "memory/learn"

// doneWith closes a turn as done, with one part and some tasks.
func (r *run) doneWith(text string, tasks ...mailbox.TaskName) mailbox.Closing {
	r.t.Helper()
	r.n++
	c := mailbox.Close{Ref: r.Ref, Number: r.n, Outcome: mailbox.Done, Next: r.w.noRoom(), Tasks: tasks}
	if text != "" {
		c.Entries, c.Parts = entries(text), []chat.Part{r.part(text)}
	}
	got, err := r.box.Close(context.Background(), c)
	if err != nil || !got.Closed {
		r.t.Fatalf("close with tasks: %+v %v", got, err)
	}
	return got
}

// dueTasks are those that the index names, and in how long the first is due.
func (w *world) dueTasks() (names []string, in time.Duration) {
	w.t.Helper()
	due, err := w.box.Due(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range due {
		if d.Kind == mailbox.DueTask {
			names, in = append(names, string(d.Task)+" of "+string(d.Turn)), d.In
		}
	}
	return names, in
}

func (w *world) noTask(when string) {
	w.t.Helper()
	if names, _ := w.dueTasks(); len(names) > 0 {
		w.t.Fatalf("%s: tasks are due: %v", when, names)
	}
}

// tries claims a task, and wants its try to be the nth.
func (w *world) tries(box *mailbox.Box, turn chat.TurnID, nth int) mailbox.Task {
	w.t.Helper()
	task := w.triesAt(box, turn)
	if task == nil || task.Try != nth || task.Token == "" {
		w.t.Fatalf("a claim of the task: %+v, want try %d", task, nth)
	}
	return *task
}

func (w *world) triesAt(box *mailbox.Box, turn chat.TurnID) *mailbox.Task {
	w.t.Helper()
	task, err := box.ClaimTask(context.Background(), w.conv, learn, turn, 2)
	if err != nil {
		w.t.Fatal(err)
	}
	return task
}

func (w *world) endTry(task mailbox.Task, how mailbox.TaskEnd, pause time.Duration) {
	w.t.Helper()
	if err := w.box.EndTask(context.Background(), task, how, pause, "it says no"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) postsAll(l *mailbox.SendLease, done ...mailbox.Posted) {
	w.t.Helper()
	if _, err := w.box.Sent(context.Background(), *l, done...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tasksLeft(want int) {
	w.t.Helper()
	g, err := w.box.Gauges(context.Background())
	if err != nil || g.Tasks.N != want {
		w.t.Fatalf("tasks: %+v %v, want %d", g.Tasks, err, want)
	}
}

func TestTaskIsDueOnceTheAnswerIsPosted(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		first := turn.doneWith("a", learn, "echo/count")
		w.noTask("the answer is not posted")
		w.tasksLeft(2)
		second := w.starts(bob, "two")
		second.doneWith("b", learn)
		w.noTask("the answers are not posted")
		// Another turn's part does not hold it up, and its own does.
		w.postsAll(first.Send, mailbox.Posted{ID: string(turn.Turn) + "/a"})
		names, in := w.dueTasks()
		w.same("due", 2, len(names))
		if in > 0 {
			t.Errorf("the tasks are due in %v", in)
		}
		task := w.tries(w.box, turn.Turn, 1)
		w.endTry(task, mailbox.TaskDone, 0)
		w.endTry(task, mailbox.TaskDone, 0) // again, for want of an answer
		if again := w.triesAt(w.other, turn.Turn); again != nil {
			t.Errorf("a task that is done was claimed: %+v", again)
		}
		w.tasksLeft(2)
		w.postsAll(first.Send, mailbox.Posted{ID: string(second.Turn) + "/b"})
		names, _ = w.dueTasks()
		w.same("due", []string{"echo/count of " + string(turn.Turn), "memory/learn of " + string(second.Turn)}, names)
	})
}

func TestTaskOfATurnWithoutAnAnswerIsDueAtOnce(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.doneWith("", learn)
		w.tries(w.other, turn.Turn, 1)
	})
}

func TestTaskDoesNotWaitForAPartThatWasSetAside(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		lease := turn.doneWith("a", learn).Send
		w.postsAll(lease, mailbox.Posted{ID: string(turn.Turn) + "/a", Unsent: &mailbox.Unsent{Why: "refused", Tell: "It was refused."}})
		w.noTask("what tells of it is not posted")
		w.postsAll(lease, mailbox.Posted{ID: string(turn.Turn) + "/a.dm"})
		w.tries(w.box, turn.Turn, 1)
	})
}

func TestTaskIsScheduledByTheStepThatClosesAlone(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		turn.n++
		got, err := w.box.Close(t.Context(), mailbox.Close{Ref: turn.Ref, Number: turn.n, Outcome: mailbox.Done, Tasks: []mailbox.TaskName{learn}})
		if err != nil || got.Closed {
			t.Fatalf("a closing while a steer waits: %+v %v", got, err)
		}
		w.tasksLeft(0)
		stale := turn.Ref
		stale.Token = "1-0000000000000000"
		if _, err := w.box.Close(t.Context(), mailbox.Close{Ref: stale, Number: 99, Outcome: mailbox.Failed, Tasks: []mailbox.TaskName{learn}}); !errors.Is(err, mailbox.ErrStale) {
			t.Errorf("a lost worker closes: %v", err)
		}
		w.tasksLeft(0)
		turn.doneWith("", learn)
		w.tasksLeft(1)
	})
}

func TestTaskIsHeldByOneWorkerUnderItsLease(t *testing.T) {
	onEveryStore(t, mailbox.Options{LeaseTTL: 300 * time.Millisecond}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.doneWith("", learn)
		lost := w.tries(w.box, turn.Turn, 1)
		for {
			task := w.triesAt(w.other, turn.Turn)
			_, in := w.dueTasks()
			if task == nil {
				<-time.After(in)
				continue
			}
			if task.Try != 2 {
				t.Fatalf("the next worker's try is %d", task.Try)
			}
			break
		}
		if errs := w.box.RenewTasks(t.Context(), []mailbox.Task{lost}); !errors.Is(errs[0], mailbox.ErrStale) {
			t.Errorf("a lost worker renews: %v", errs[0])
		}
		for _, how := range []mailbox.TaskEnd{mailbox.TaskDone, mailbox.TaskAgain, mailbox.TaskRelease, mailbox.TaskAside} {
			if err := w.box.EndTask(t.Context(), lost, how, 0, "late"); !errors.Is(err, mailbox.ErrStale) {
				t.Errorf("a lost worker's %s: %v", how, err)
			}
		}
		w.tasksLeft(1)
	})
}

func TestTaskLeaseThatNobodyTookGoesOn(t *testing.T) {
	onEveryStore(t, mailbox.Options{LeaseTTL: 50 * time.Millisecond}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.doneWith("", learn)
		task := w.tries(w.box, turn.Turn, 1)
		for _, in := w.dueTasks(); in > 0; _, in = w.dueTasks() {
			<-time.After(in)
		}
		if errs := w.box.RenewTasks(t.Context(), []mailbox.Task{task}); errs[0] != nil {
			t.Fatalf("a renewal after the end of the lease: %v", errs[0])
		}
		w.endTry(task, mailbox.TaskDone, 0)
		w.tasksLeft(0)
	})
}

func TestTaskIsTriedAgainAfterAPauseAndThenSetAside(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.doneWith("", learn)
		w.endTry(w.tries(w.box, turn.Turn, 1), mailbox.TaskAgain, time.Hour)
		if _, in := w.dueTasks(); in < 59*time.Minute {
			t.Errorf("the next try is due in %v", in)
		}
		if task := w.triesAt(w.other, turn.Turn); task != nil {
			t.Fatalf("it was tried again within its pause: %+v", task)
		}
		second := w.starts(bob, "two")
		second.doneWith("", learn)
		task := w.tries(w.box, second.Turn, 1)
		w.endTry(task, mailbox.TaskRelease, 0)
		w.endTry(w.tries(w.other, second.Turn, 1), mailbox.TaskRelease, 0)
		w.endTry(w.tries(w.other, second.Turn, 1), mailbox.TaskAgain, 0)
		w.endTry(w.tries(w.other, second.Turn, 2), mailbox.TaskAside, 0)
		dead, err := w.box.Dead(t.Context())
		if err != nil || len(dead) != 1 || dead[0].Where != "task:memory/learn/"+string(second.Turn) || dead[0].Why != "it says no" {
			t.Fatalf("set aside: %+v %v", dead, err)
		}
		w.tasksLeft(1)
	})
}

func TestTaskThatTakesItsWorkersWithItIsSetAside(t *testing.T) {
	onEveryStore(t, mailbox.Options{LeaseTTL: 20 * time.Millisecond}, func(w *world) {
		turn := w.starts(alice, "one")
		turn.doneWith("", learn)
		claims := 0
		for {
			names, in := w.dueTasks()
			if len(names) == 0 {
				break
			}
			if in > 0 {
				<-time.After(in)
			}
			if w.triesAt(w.box, turn.Turn) != nil {
				claims++
			}
		}
		dead, err := w.box.Dead(t.Context())
		if err != nil || len(dead) != 1 || !strings.Contains(dead[0].Why, "none of its 2 tries") || claims != 2 {
			t.Fatalf("after %d claims: %+v %v", claims, dead, err)
		}
		w.tasksLeft(0)
	})
}

func TestLocalSignalTellsOfTasksThatCameDue(t *testing.T) {
	w := onServer(t, mailbox.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan mailbox.Signal, 10), make(chan error, 1)
	go func() { ended <- w.box.Signals(ctx, func(s mailbox.Signal) { told <- s }) }()
	defer func() {
		cancel()
		<-ended
	}()
	turn := w.starts(alice, "one")
	lease := turn.doneWith("a", learn).Send
	w.postsAll(lease, mailbox.Posted{ID: string(turn.Turn) + "/a"})
	late := time.After(10 * time.Second)
	for {
		select {
		case s := <-told:
			if s.Tasks {
				return
			}
		case <-late:
			t.Fatal("nobody was told that a task is due")
		}
	}
}
