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

func TestTokensAreEstimatedWithoutUsage(t *testing.T) {
	log := &scripted.Log{}
	if err := loop(scripted.Says(says("done"))).Run(t.Context(), turn(request("110.0", strings.Repeat("x", 3000))), log); err != nil {
		t.Fatal(err)
	}
	if n := log.Entries()[0].Tokens; n < 1000 || n > 5000 {
		t.Errorf("%d tokens", n)
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
