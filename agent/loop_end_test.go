package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/runtime/chat"
)

func TestBudgetsEndATurn(t *testing.T) {
	endless := func() *scripted.Model {
		return scripted.Says(agent.Reply{Calls: []chat.ToolCall{ask("a", "look")}, Tokens: 100})
	}
	tests := []struct {
		name  string
		turn  func(*agent.Turn)
		opt   func(*agent.Options)
		calls int
		kind  agent.FailureKind
	}{
		{"steps", nil, func(o *agent.Options) { o.MaxSteps = 3 }, 3, agent.StepsSpent},
		{"steps of earlier runs", func(t *agent.Turn) { t.Steps = 2 }, func(o *agent.Options) { o.MaxSteps = 3 }, 1, agent.StepsSpent},
		{"tokens", nil, func(o *agent.Options) { o.MaxTurnTokens = 250 }, 3, agent.TokensSpent},
		{"tokens of earlier runs", func(t *agent.Turn) { t.Tokens = 200 }, func(o *agent.Options) { o.MaxTurnTokens = 250 }, 1, agent.TokensSpent},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model, turn := endless(), turn(request("110.0", "go"))
			if test.turn != nil {
				test.turn(&turn)
			}
			log := &scripted.Log{}
			failed(t, loop(model, test.opt).Run(t.Context(), turn, log), test.kind)
			if n := len(model.Requests()); n != test.calls {
				t.Errorf("%d model calls", n)
			}
			if n := len(log.Entries()); n != 2*test.calls {
				t.Errorf("%d entries in the log: what was done is kept", n)
			}
		})
	}
}

func TestRunEndsWithItsCause(t *testing.T) {
	handOver := errors.New("handed over")
	hang := func(ctx context.Context, _ agent.Request) (agent.Reply, error) {
		<-ctx.Done()
		return agent.Reply{}, fmt.Errorf("ask: %w", ctx.Err())
	}
	t.Run("cancelled in a model call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(handOver) })
			log := &scripted.Log{}
			if err := loop(scripted.Does(hang)).Run(ctx, turn(request("110.0", "go")), log); err != handOver {
				t.Errorf("got %v", err)
			}
			if len(log.Entries()) != 0 {
				t.Error("something was written")
			}
		})
	})
	t.Run("cancelled in a tool call", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		tools := tools
		tools.call = func(context.Context, plugins.Asked) plugins.Result {
			cancel(handOver)
			return plugins.Result{Error: true, Text: "cut"}
		}
		log := &scripted.Log{}
		err := loop(scripted.Says(wants(ask("a", "send"))), func(o *agent.Options) { o.Tools = tools }).Run(ctx, turn(request("110.0", "go")), log)
		if err != handOver || len(log.Entries()) != 1 {
			t.Errorf("got %v with %d entries", err, len(log.Entries()))
		}
	})
	t.Run("time spent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			failed(t, loop(scripted.Does(hang)).Run(ctx, turn(request("110.0", "go")), &scripted.Log{}), agent.TimeSpent)
		})
	})
	t.Run("time spent, as the runtime says it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			spent := &agent.Failure{Kind: agent.TimeSpent}
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, spent)
			defer cancel()
			if err := loop(scripted.Does(hang)).Run(ctx, turn(request("110.0", "go")), &scripted.Log{}); err != spent {
				t.Errorf("got %v", err)
			}
		})
	})
	for _, step := range []string{"commit", "boundary", "close"} {
		t.Run("log fails at "+step, func(t *testing.T) {
			lost := errors.New("lease lost")
			log := &scripted.Log{Before: func(at string) error {
				if at == step {
					return lost
				}
				return nil
			}}
			if err := loop(scripted.Says(wants(ask("a", "look")), says("done"))).Run(t.Context(), turn(request("110.0", "go")), log); err != lost {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFaultsFailTheTurnAlone(t *testing.T) {
	panics := func(context.Context, agent.Request) (agent.Reply, error) { panic("x") }
	empty := func(context.Context, agent.Request) (agent.Reply, error) { return agent.Reply{Text: " \n"}, nil }
	refuses := func(context.Context, agent.Request) (agent.Reply, error) {
		return agent.Reply{}, &agent.Failure{Kind: agent.ModelRefused}
	}
	strange := func(context.Context, agent.Request) (agent.Reply, error) { return agent.Reply{}, errors.New("?") }
	for kind, model := range map[agent.FailureKind]*scripted.Model{
		agent.Internal: scripted.Does(panics), agent.ModelUnreachable: scripted.Does(empty), agent.ModelRefused: scripted.Does(refuses),
	} {
		failed(t, loop(model).Run(t.Context(), turn(request("110.0", "go")), &scripted.Log{}), kind)
	}
	failed(t, loop(scripted.Does(strange)).Run(t.Context(), turn(request("110.0", "go")), &scripted.Log{}), agent.Internal)

	tools := tools
	tools.call = func(context.Context, plugins.Asked) plugins.Result { panic("x") }
	log := &scripted.Log{}
	if err := loop(scripted.Says(wants(ask("a", "look")), says("done")), func(o *agent.Options) { o.Tools = tools }).Run(t.Context(), turn(request("110.0", "go")), log); err != nil {
		t.Fatal(err)
	}
	if got := log.Entries()[1].Text; !strings.Contains(got, "a fault in Reeve") {
		t.Errorf("the result says %q", got)
	}
}

func TestSentencesAreHonestAndWithoutCause(t *testing.T) {
	kinds := []agent.FailureKind{agent.ModelRefused, agent.ModelUnreachable, agent.RetryTooLong, agent.StepsSpent, agent.TimeSpent, agent.TokensSpent, agent.TooLong, agent.Internal}
	seen := map[string]bool{}
	for _, kind := range kinds {
		got := (&agent.Failure{Kind: kind, Cause: errors.New("provider words and sk-secret")}).Sentence("t_01jabcdefghijk")
		if seen[got] || !strings.Contains(got, "fghijk") || strings.Contains(got, "t_01") || strings.Contains(got, "provider") || strings.Contains(got, "sk-") || strings.Contains(got, "%!") || strings.Count(got, ". ") > 0 {
			t.Errorf("%s: %q", kind, got)
		}
		seen[got] = true
	}
	if got := (&agent.Failure{Kind: "new"}).Sentence("t_01jabcdefghijk"); !seen[got] {
		t.Errorf("an unknown kind says %q", got)
	}
}
