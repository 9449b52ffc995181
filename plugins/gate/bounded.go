package gate

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// checkTimeout bounds each question that is asked before a call.
const checkTimeout = 10 * time.Second

// tally counts what was given up and has not come back.
type tally struct {
	mu sync.Mutex
	n  int
}

func (t *tally) add(change int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n += change
	return t.n
}

// outcome is how work of a plugin's ended.
type outcome[T any] struct {
	value T
	err   error
	// late: it did not come back in time, and was given up.
	late bool
	// fault: it panicked, with a value of this type at this place. The value may
	// hold what the call was about; its type may not.
	fault bool
	kind  string
	stack string
}

// bounded does work that is not ours, within ctx. What does not come back is
// left to itself, since a goroutine cannot be ended from outside, and counted.
func bounded[T any](ctx context.Context, hung *tally, work func(context.Context) (T, error)) outcome[T] {
	done := make(chan outcome[T], 1)
	go func() {
		out := outcome[T]{fault: true}
		defer func() {
			if fault := recover(); fault != nil {
				out.kind, out.stack = fmt.Sprintf("%T", fault), string(debug.Stack())
			}
			done <- out
		}()
		value, err := work(ctx)
		out = outcome[T]{value: value, err: err}
	}()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
	}
	select {
	case out := <-done: // it came back at the last moment
		return out
	default:
	}
	hung.add(+1)
	go func() {
		<-done
		hung.add(-1)
	}()
	return outcome[T]{late: true}
}

// question asks something of a plugin or a check before a call: only an answer
// in time, without an error, counts.
func question[T any](ctx context.Context, g *Gate, ask func(context.Context) (T, error)) (T, error) {
	var none T
	if n := g.hung.add(0); n >= g.options.MaxHung {
		return none, fmt.Errorf("%d questions have not come back", n)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	switch out := bounded(ctx, &g.hung, ask); {
	case out.late:
		return none, fmt.Errorf("no answer: %w", ctx.Err())
	case out.fault:
		return none, fmt.Errorf("it panicked with a %s", out.kind)
	case out.err != nil:
		return none, out.err
	case ctx.Err() != nil: // an answer that comes when its time is over is none
		return none, ctx.Err()
	default:
		return out.value, nil
	}
}
