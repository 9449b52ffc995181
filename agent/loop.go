package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"
)

// Options are what a Loop works with; zero bounds mean the defaults.
type Options struct {
	Model Model
	Tools Tools
	// MaxSteps is how many model calls one turn may make, all its runs taken
	// together: 50.
	MaxSteps int
	// MaxTurnTokens is how many tokens one turn may use: 200,000.
	MaxTurnTokens int
	// ContextTokens is how much one request may hold: DefaultContextTokens.
	ContextTokens int
	// DailyTokens is how many tokens the turns of one person may use in a day
	// by Meter's count; 0: no limit.
	DailyTokens int
	Meter       Meter // needed for a limit
	// Count is told what happens, for metrics; may be nil. See the Count
	// constants.
	Count func(name, label string, n int)
	// StopGrace is what a call that has started is given to come back after a
	// stop: 10 s.
	StopGrace time.Duration
	// Now is the clock that stamps entries; time.Now when nil.
	Now    func() time.Time
	Logger *slog.Logger
}

// Loop advances turns. It is safe for concurrent use.
type Loop struct{ options Options }

// NewLoop needs a model and tools.
func NewLoop(o Options) *Loop {
	if o.MaxSteps == 0 {
		o.MaxSteps = 50
	}
	if o.MaxTurnTokens == 0 {
		o.MaxTurnTokens = 200_000
	}
	if o.ContextTokens == 0 {
		o.ContextTokens = DefaultContextTokens
	}
	if o.StopGrace == 0 {
		o.StopGrace = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Count == nil {
		o.Count = func(string, string, int) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Loop{o}
}

// Run advances a turn until it is closed, and returns nil then. Otherwise it
// returns why this run ended: a *Failure when the turn has failed, an error of
// the log unchanged, or the cause of ctx when ctx ended. A deadline of ctx
// that names no cause is the turn's time budget.
//
// The turn's own entries may end anywhere, since an earlier run may have been
// lost anywhere: calls without results are made again when that changes
// nothing, and answered "outcome unknown" otherwise.
func (l *Loop) Run(ctx context.Context, turn Turn, log Log) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			l.options.Logger.Error("fault in the loop", "turn", turn.ID, "type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			err = &Failure{Internal, fmt.Errorf("loop panicked with a %T", fault)}
		}
		err = ended(ctx, err)
	}()
	turn.Own = slices.Clone(turn.Own)
	r := &run{Loop: l, turn: turn, log: log, limit: l.options.ContextTokens}
	r.tools = l.options.Tools.Offered(turn.Offered)
	return r.advance(ctx)
}

// ended says why a run is over. What ctx was ended for explains the errors
// that came of it.
func ended(ctx context.Context, err error) error {
	var stopped *Stopped
	if err == nil || ctx.Err() == nil || errors.As(err, &stopped) {
		return err
	}
	var failure *Failure
	if !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)) && !errors.As(err, &failure) {
		return err
	}
	if cause := context.Cause(ctx); cause != context.DeadlineExceeded {
		return cause
	}
	return &Failure{TimeSpent, context.DeadlineExceeded}
}
