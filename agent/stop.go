package agent

import (
	"context"
	"errors"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// ErrStopped is the cause of a context that somebody's stop has ended.
var ErrStopped = errors.New("the turn was stopped")

// Stopped is how a run ends that was stopped while calls were under way: they
// were given a while to come back.
type Stopped struct {
	// Results are the results of the calls, and are not in the log yet.
	Results []chat.Entry
	// Calls are those that may have had an effect.
	Calls []StoppedCall
}

// StoppedCall is a call that had begun when the turn was stopped.
type StoppedCall struct {
	Tool string
	// Finished: it came back with a result. Otherwise nobody knows what it did.
	Finished bool
}

func (s *Stopped) Error() string { return ErrStopped.Error() }

func (s *Stopped) Unwrap() error { return ErrStopped }

// notBegun is the result of a call whose turn was stopped before it began.
const notBegun = "This call was not made: the turn was stopped."

// outlive is the context of calls: a stop ends it after the grace, and whatever
// ends the right to write ends it at once.
func (r *run) outlive(ctx context.Context) (context.Context, func()) {
	held := r.log.Held()
	calling, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var grace *time.Timer
	begun := make(chan struct{})
	unstop := context.AfterFunc(ctx, func() {
		defer close(begun)
		if errors.Is(context.Cause(ctx), ErrStopped) {
			grace = time.AfterFunc(r.options.StopGrace, func() { cancel(ErrStopped) })
			return
		}
		cancel(context.Cause(ctx))
	})
	unhold := context.AfterFunc(held, func() { cancel(context.Cause(held)) })
	return calling, func() {
		if !unstop() {
			<-begun
			if grace != nil {
				grace.Stop()
			}
		}
		unhold()
		cancel(context.Canceled)
	}
}

// stopped keeps the results of calls out of a run that was stopped; for any
// other end they are not worth keeping.
func (r *run) stopped(ctx context.Context, err error, results []chat.Entry) error {
	if len(results) == 0 || !errors.Is(err, ErrStopped) && !errors.Is(context.Cause(ctx), ErrStopped) {
		return err
	}
	s := &Stopped{Results: results}
	for _, e := range results {
		if e.Text != notBegun && r.effect(e.Tool) != plugins.Pure {
			s.Calls = append(s.Calls, StoppedCall{Tool: e.Tool, Finished: !e.Failed})
		}
	}
	return s
}

// effect is what an offered tool declares; an unknown one has none.
func (r *run) effect(tool string) plugins.Effect {
	spec, ok := r.spec(tool)
	if !ok {
		return plugins.Pure
	}
	return spec.Effect
}
