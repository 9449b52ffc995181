package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// desk is a set of tools without a gate.
type desk struct {
	scripted.Unasked
	specs []plugins.Spec
	call  func(ctx context.Context, asked plugins.Asked) plugins.Result
}

func (d desk) Offered([]string) []plugins.Spec { return d.specs }
func (d desk) Call(ctx context.Context, asked plugins.Asked) plugins.Result {
	return d.call(ctx, asked)
}

var tools = desk{
	specs: []plugins.Spec{{Name: "look", Effect: plugins.Pure}, {Name: "put", Effect: plugins.Idempotent}, {Name: "send", Effect: plugins.Once}},
	call: func(_ context.Context, a plugins.Asked) plugins.Result {
		return plugins.Result{Text: fmt.Sprintf("%s#%d %s", a.Call.Tool, a.Before, plugins.CallKey(a.Run.Turn, a.Call.ID))}
	},
}

func loop(model agent.Model, change ...func(*agent.Options)) *agent.Loop {
	o := agent.Options{Model: model, Tools: tools}
	for _, c := range change {
		c(&o)
	}
	return agent.NewLoop(o)
}

func wants(list ...chat.ToolCall) agent.Reply { return agent.Reply{Calls: list} }
func says(text string) agent.Reply            { return agent.Reply{Text: text} }
func ask(id, tool string) chat.ToolCall       { return chat.ToolCall{ID: id, Tool: tool, Arguments: "{}"} }

func outlines(t *testing.T, model *scripted.Model) [][]string {
	t.Helper()
	var all [][]string
	for _, req := range model.Requests() {
		all = append(all, outline(t, req))
	}
	return all
}

func failed(t *testing.T, err error, kind agent.FailureKind) {
	t.Helper()
	var failure *agent.Failure
	if !errors.As(err, &failure) || failure.Kind != kind {
		t.Errorf("got %v, want %s", err, kind)
	}
}

func TestCallsAreCommittedBeforeTheyRunAndAnsweredInOrder(t *testing.T) {
	model := scripted.Says(wants(ask("a", "look"), ask("b", "put")), says("done"))
	log := &scripted.Log{}
	var committed atomic.Int64
	tools := tools
	tools.call = func(_ context.Context, a plugins.Asked) plugins.Result {
		committed.Store(int64(len(log.Entries())))
		return plugins.Result{Text: a.Call.Tool + " " + a.Run.Zone, Private: a.Call.Tool == "put"}
	}
	turn := turn(request("110.0", "go"))
	turn.Zone = "Europe/Berlin"
	if err := loop(model, func(o *agent.Options) { o.Tools = tools }).Run(t.Context(), turn, log); err != nil {
		t.Fatal(err)
	}
	if n := committed.Load(); n != 1 {
		t.Errorf("%d entries stood in the log when a call ran", n)
	}
	want := []string{"user: go", "assistant:  a=look({}) b=put({})", "tool a: [look: look Europe/Berlin]", "tool b: [put: put Europe/Berlin]"}
	if diff := cmp.Diff(want, outlines(t, model)[1]); diff != "" {
		t.Error(diff)
	}
	entries := log.Entries()
	if len(entries) != 4 || entries[1].Private || !entries[2].Private || entries[3].Text != "done" || !entries[3].Posted || entries[0].Posted || entries[3].Tokens == 0 {
		t.Errorf("the log holds %+v", entries)
	}
	if !log.Closed() {
		t.Error("the turn is open")
	}
}

func TestSteerIsInTheNextRequestOnce(t *testing.T) {
	log := &scripted.Log{}
	model := scripted.Does(
		func(context.Context, agent.Request) (agent.Reply, error) {
			log.Steer(steer(alice, "111.0", "the door"), steer(bob, "112.0", "use blue"))
			return wants(ask("a", "look")), nil
		},
		func(context.Context, agent.Request) (agent.Reply, error) {
			log.Steer(steer(alice, "113.0", "and the wall"))
			return says("first answer"), nil
		},
		func(context.Context, agent.Request) (agent.Reply, error) { return says("second answer"), nil },
	)
	log.Steer(steer(alice, "110.5", "early")) // before the first call
	if err := loop(model).Run(t.Context(), turn(request("110.0", "paint")), log); err != nil {
		t.Fatal(err)
	}
	first := []string{"user: paint", "user: early"}
	second := append(first[:2:2], "assistant:  a=look({})", "tool a: [look: look#0 t_now/a]", "user: the door", "information: [steer T1:U2: use blue]")
	third := append(second[:6:6], "assistant: first answer", "user: and the wall")
	if diff := cmp.Diff([][]string{first, second, third}, outlines(t, model)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"first answer", "second answer"}, log.Answers()); diff != "" {
		t.Error(diff)
	}
}

func TestP6_ResumeRepeatsOnlyWhatMayBeRepeated(t *testing.T) {
	own := []chat.Entry{request("110.0", "go"),
		calls("", ask("a", "look"), ask("b", "send"), ask("c", "put"), ask("d", "gone"), ask("e", "look")), result("e", "look", "had")}
	model := scripted.Says(says("done"))
	log := &scripted.Log{}
	if err := loop(model).Run(t.Context(), turn(own...), log); err != nil {
		t.Fatal(err)
	}
	const unknown = "Outcome unknown: the process that ran this call was lost. It may have taken effect or not, and it was not repeated."
	want := []string{"user: go", "assistant:  a=look({}) b=send({}) c=put({}) d=gone({}) e=look({})",
		"tool a: [look: look#1 t_now/a]", "tool b: [send: " + unknown + "]", "tool c: [put: put#2 t_now/c]", "tool d: [gone: " + unknown + "]", "tool e: [look: had]"}
	if diff := cmp.Diff(want, outlines(t, model)[0]); diff != "" {
		t.Error(diff)
	}
	if entries := log.Entries(); len(entries) != 5 || entries[1].CallID != "b" || entries[3].CallID != "d" {
		t.Errorf("the log holds %+v", entries)
	}
	// The person is told himself, of what may have taken effect and no more.
	for i, told := range []bool{false, true, false, true, false} {
		if e := log.Entries()[i]; (e.DM != "") != told || told && (!strings.Contains(e.DM, e.Tool) || !strings.Contains(e.DM, "unknown")) {
			t.Errorf("of the call of %s he is told %q", e.Tool, e.DM)
		}
	}
}

func TestResumeAfterAnAnswer(t *testing.T) {
	t.Run("with a steer in the log", func(t *testing.T) {
		model, log := scripted.Says(says("second")), &scripted.Log{}
		if err := loop(model).Run(t.Context(), turn(request("110.0", "go"), answer("first"), steer(alice, "111.0", "more")), log); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"second"}, log.Answers()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("with a steer that waits unseen", func(t *testing.T) {
		model, log := scripted.Says(says("second")), &scripted.Log{}
		log.Steer(steer(alice, "111.0", "more"))
		if err := loop(model).Run(t.Context(), turn(request("110.0", "go"), answer("first")), blind{log}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"user: go", "assistant: first", "user: more"}, outlines(t, model)[0]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("with nothing", func(t *testing.T) {
		model, log := scripted.Says(says("second")), &scripted.Log{}
		failed(t, loop(model).Run(t.Context(), turn(request("110.0", "go"), answer("first")), log), agent.Internal)
		if len(model.Requests()) != 0 {
			t.Error("the model was asked with nothing to answer")
		}
	})
}

// blind is a log that does not know yet that a steer waits.
type blind struct{ *scripted.Log }

func (blind) Steered() bool { return false }

func TestModelIsNeverAskedWithoutUserContent(t *testing.T) {
	model := scripted.Says(says("done"))
	failed(t, loop(model).Run(t.Context(), turn(), &scripted.Log{}), agent.Internal)
	if len(model.Requests()) != 0 {
		t.Error("the model was asked")
	}
}

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

func TestTokensAreEstimatedWithoutUsage(t *testing.T) {
	log := &scripted.Log{}
	if err := loop(scripted.Says(says("done"))).Run(t.Context(), turn(request("110.0", strings.Repeat("x", 3000))), log); err != nil {
		t.Fatal(err)
	}
	if n := log.Entries()[0].Tokens; n < 1000 || n > 5000 {
		t.Errorf("%d tokens", n)
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

func TestEightCallsRunAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := tools
		tools.call = func(_ context.Context, a plugins.Asked) plugins.Result {
			<-time.After(time.Second)
			return plugins.Result{Text: a.Call.ID}
		}
		var list []chat.ToolCall
		for i := range 70 {
			list = append(list, ask(fmt.Sprintf("c%02d", i), "look"))
		}
		log, start := &scripted.Log{}, time.Now()
		if err := loop(scripted.Says(wants(list...), says("done")), func(o *agent.Options) { o.Tools = tools }).Run(t.Context(), turn(request("110.0", "go")), log); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 8*time.Second {
			t.Errorf("64 calls of a second took %v", took)
		}
		for i, e := range log.Entries()[1:71] {
			want := fmt.Sprintf("c%02d", i)
			if e.CallID != want || i < 64 && e.Text != want || i >= 64 && !strings.Contains(e.Text, "64 calls at most") {
				t.Errorf("result %d is %s: %q", i, e.CallID, e.Text)
			}
		}
	})
}

func TestCallIDsAreOfTheirOwn(t *testing.T) {
	model := scripted.Says(wants(ask("x", "look"), ask("x", "look"), ask("", "look"), ask("bad id", "look")), wants(ask("x", "look")), says("done"))
	log := &scripted.Log{}
	if err := loop(model).Run(t.Context(), turn(request("110.0", "go")), log); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, e := range log.Entries() {
		for _, c := range e.Calls {
			seen[c.ID]++
		}
		if e.CallID != "" {
			seen[e.CallID]++
		}
	}
	if len(seen) != 5 || seen["x"] != 2 {
		t.Errorf("ids: %v", seen)
	}
	for id, n := range seen {
		if n != 2 {
			t.Errorf("id %q stands %d times", id, n)
		}
	}
}

func TestWhatIsWrittenAfterAPrivateResultIsPrivate(t *testing.T) {
	tools := tools
	tools.call = func(context.Context, plugins.Asked) plugins.Result {
		return plugins.Result{Text: "mine", Private: true}
	}
	log := &scripted.Log{}
	if err := loop(scripted.Says(wants(ask("a", "look")), wants(ask("b", "look")), says("done")), func(o *agent.Options) { o.Tools = tools }).Run(t.Context(), turn(request("110.0", "go")), log); err != nil {
		t.Fatal(err)
	}
	var private []bool
	for _, e := range log.Entries() {
		private = append(private, e.Private)
	}
	if diff := cmp.Diff([]bool{false, true, true, true, false}, private); diff != "" {
		t.Error(diff)
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
