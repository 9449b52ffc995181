package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"reeve/runtime/mailbox"
)

// board are the tasks that this process knows, and those that it tries now.
type board struct {
	known map[mailbox.TaskName]Task
	order []Task

	mu     sync.Mutex
	places int // how many more may be tried
	most   int
	held   map[*heldTask]bool
	hung   map[mailbox.TaskName]int // tries that were given up and have not come back
	ending bool
	idle   chan struct{} // closed when, at the end, no place is taken any more
}

// heldTask is a task under a lease of this process.
type heldTask struct {
	task   mailbox.Task
	ctx    context.Context
	cancel context.CancelCauseFunc
	end    *time.Timer // of the lease
}

func newBoard(tasks []Task, most int) *board {
	b := &board{
		known: map[mailbox.TaskName]Task{}, order: tasks, places: most, most: most,
		held: map[*heldTask]bool{}, hung: map[mailbox.TaskName]int{}, idle: make(chan struct{}),
	}
	for _, t := range tasks {
		b.known[t.name()] = t
	}
	return b
}

// reserve takes a place, if there is one.
func (b *board) reserve() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending || b.places == 0 {
		return false
	}
	b.places--
	return true
}

func (b *board) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.places++
	if b.ending && b.places == b.most {
		close(b.idle)
	}
}

// close lets nothing begin any more.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending = true
	if b.places == b.most {
		close(b.idle)
	}
}

func (b *board) hold(t mailbox.Task, until time.Time) *heldTask {
	ctx, cancel := context.WithCancelCause(context.Background())
	h := &heldTask{task: t, ctx: ctx, cancel: cancel}
	h.end = time.AfterFunc(time.Until(until), func() { cancel(errLeaseLost) })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held[h] = true
	return h
}

func (b *board) drop(h *heldTask) {
	h.end.Stop()
	h.cancel(context.Canceled)
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held, h)
}

// count keeps the number of a task's tries that were given up and have not come
// back.
func (b *board) count(name mailbox.TaskName, change int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hung[name] += change
	return b.hung[name]
}

func (b *board) holding() []*heldTask {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := make([]*heldTask, 0, len(b.held))
	for h := range b.held {
		held = append(held, h)
	}
	return held
}

// renewTasks keeps the leases of the tasks that are tried here, in one round trip.
func (r *Runtime) renewTasks(ctx context.Context) {
	held := r.board.holding()
	if len(held) == 0 {
		return
	}
	tasks := make([]mailbox.Task, len(held))
	for i, h := range held {
		tasks[i] = h.task
	}
	start := time.Now()
	for i, err := range r.opts.Box.RenewTasks(ctx, tasks) {
		switch {
		case errors.Is(err, mailbox.ErrStale):
			// Another has it, or its end is being written.
			held[i].cancel(errLeaseLost)
		case err != nil:
			r.opts.Logger.Warn("lease of a task not renewed", "turn", tasks[i].Turn, "task", tasks[i].Name, "err", err)
		default:
			held[i].end.Reset(time.Until(r.opts.Box.Trusted(start)))
		}
	}
}
