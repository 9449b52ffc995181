package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
)

// heldLog is a log whose right to write the test can end.
type heldLog struct {
	scripted.Log
	held context.Context
}

func (l *heldLog) Held() context.Context { return l.held }

// A call that has started outlives a stop for a while, and no longer than the
// right to write; what became of it is told.
func TestAStopGivesCallsThatHaveStartedAWhile(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration // of the call, after the stop
		loses time.Duration // when the right to write ends, after the stop
		want  *agent.Stopped
		after time.Duration // the stop, at which the run is over
	}{
		"comes back":    {3 * time.Second, time.Hour, &agent.Stopped{Calls: []agent.StoppedCall{{Tool: "send", Finished: true}}}, 3 * time.Second},
		"hangs":         {time.Hour, time.Hour, &agent.Stopped{Calls: []agent.StoppedCall{{Tool: "send"}}}, 10 * time.Second},
		"loses its log": {time.Hour, time.Second, &agent.Stopped{Calls: []agent.StoppedCall{{Tool: "send"}}}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				held, lose := context.WithCancelCause(t.Context())
				ctx, stop := context.WithCancelCause(held)
				tools := tools
				var stopped time.Time
				tools.call = func(ctx context.Context, _ plugins.Asked) plugins.Result {
					stop(agent.ErrStopped)
					stopped = time.Now()
					lost := time.AfterFunc(c.loses, func() { lose(errors.New("lease lost")) })
					defer lost.Stop()
					select {
					case <-time.After(c.takes):
						return plugins.Result{Text: "sent"}
					case <-ctx.Done():
						return plugins.Result{Error: true, Text: "cut"}
					}
				}
				model := scripted.Says(wants(ask("a", "send")), says("never said"))
				err := loop(model, func(o *agent.Options) { o.Tools = tools }).Run(ctx, turn(request("110.0", "go")), &heldLog{held: held})
				var got *agent.Stopped
				if !errors.As(err, &got) || !errors.Is(err, agent.ErrStopped) {
					t.Fatalf("the run ended with %v", err)
				}
				if diff := cmp.Diff(c.want.Calls, got.Calls); diff != "" {
					t.Error(diff)
				}
				if len(got.Results) != 1 || time.Since(stopped) != c.after {
					t.Errorf("%d results, %s after the stop", len(got.Results), time.Since(stopped))
				}
			})
		})
	}
}
