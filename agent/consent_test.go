package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// asker is a set of tools of which the gate, at first, lets none of those named
// "ask…" and "link…" pass: he has to be asked, or to connect an account.
type asker struct {
	desk
	linked  bool // the account is there
	mu      *sync.Mutex
	made    *[]string
	decided *[]chat.Decision
}

func newAsker() asker {
	a := asker{mu: &sync.Mutex{}, made: &[]string{}, decided: &[]chat.Decision{}}
	for _, name := range []string{"free", "ask", "ask_long", "link", "never"} {
		a.specs = append(a.specs, plugins.Spec{Name: name, Effect: plugins.Once})
	}
	a.call = func(_ context.Context, asked plugins.Asked) plugins.Result {
		a.mu.Lock()
		defer a.mu.Unlock()
		*a.made = append(*a.made, asked.Call.ID)
		return plugins.Result{Text: "did " + asked.Call.ID}
	}
	return a
}

func (a asker) Decided(_ context.Context, _ plugins.Run, d chat.Decision) error {
	*a.decided = append(*a.decided, d)
	return nil
}

func (a asker) Weigh(_ context.Context, asked plugins.Asked) plugins.Weighed {
	tool, id := asked.Call.Tool, asked.Call.ID
	switch {
	case tool == "never":
		return plugins.Weighed{Result: &plugins.Result{Error: true, Text: "never"}}
	case strings.HasPrefix(tool, "ask"):
		for _, e := range asked.Run.Transcript {
			if e.Decision != nil && slices.ContainsFunc(e.Decision.Calls, func(c chat.Decided) bool { return c.Call == id && c.Allowed }) {
				return plugins.Weighed{}
			}
		}
		q := chat.Question{Call: id, Tool: tool, Arguments: "{}", Hash: id}
		if tool == "ask_long" {
			q.Arguments = strings.Repeat("é", 4001)
		}
		return plugins.Weighed{Ask: &q}
	case tool == "link" && !a.linked:
		return plugins.Weighed{Connect: &plugins.Connect{Provider: "hub", Scopes: []string{"repo"}}}
	}
	return plugins.Weighed{}
}

// consenting is one turn over several runs.
type consenting struct {
	t    *testing.T
	log  *scripted.Log
	turn agent.Turn
}

func newConsenting(t *testing.T) *consenting {
	return &consenting{t: t, log: &scripted.Log{}, turn: turn(request("110.0", "go"))}
}

// run is one run of the turn with a model that gives these replies.
func (c *consenting) run(tools agent.Tools, replies ...agent.Reply) (*scripted.Model, error) {
	c.t.Helper()
	model := scripted.Says(replies...)
	now := c.turn
	now.Own = append(slices.Clone(now.Own), c.log.Entries()...)
	return model, loop(model, func(o *agent.Options) { o.Tools = tools }).Run(c.t.Context(), now, c.log)
}

// ends is how the turn's last wait has ended.
func (c *consenting) ends(how chat.How, allowed ...string) {
	asked := c.log.Asked()
	c.turn.Waited = &agent.Waited{
		ID: fmt.Sprint(len(asked)), Asking: asked[len(asked)-1],
		Ending: chat.Ending{How: how, By: &c.turn.Actor, Allowed: allowed},
	}
}

func (c *consenting) parks(err error) chat.Asking {
	c.t.Helper()
	asked := c.log.Asked()
	if !errors.Is(err, agent.ErrParked) || len(asked) == 0 {
		c.t.Fatalf("the run ended with %v, and the turn was parked for %v", err, asked)
	}
	return asked[len(asked)-1]
}

// results are the texts of the results in the log by call.
func (c *consenting) results() map[string]string {
	texts := map[string]string{}
	for _, e := range c.log.Entries() {
		if e.CallID != "" {
			texts[e.CallID] = e.Text
		}
	}
	return texts
}

func questions(a chat.Asking) []string {
	var ids []string
	for _, q := range a.Questions {
		ids = append(ids, q.Call)
	}
	return ids
}

func asksFor(tools ...string) agent.Reply {
	var list []chat.ToolCall
	for i, tool := range tools {
		list = append(list, chat.ToolCall{ID: fmt.Sprintf("%c", 'a'+i), Tool: tool, Arguments: "{}"})
	}
	return wants(list...)
}

// Those that need nobody run at once, refused ones are answered, and the rest
// wait for the actor, with the results in the same step.
func TestS1_WhatHasToBeAskedWaits(t *testing.T) {
	c, tools := newConsenting(t), newAsker()
	_, err := c.run(tools, asksFor("free", "ask", "never", "link", "ask"))
	asked := c.parks(err)
	if diff := cmp.Diff([]string{"b", "e"}, questions(asked)); diff != "" || asked.Provider != "" {
		t.Errorf("asked about: %s, provider %q", diff, asked.Provider)
	}
	if diff := cmp.Diff([]string{"a"}, *tools.made); diff != "" {
		t.Errorf("made: %s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "did a", "c": "never"}, c.results()); diff != "" {
		t.Error(diff)
	}
	entries := c.log.Entries()
	if diff := cmp.Diff([]string{"b", "c", "d", "e"}, entries[0].Held); diff != "" {
		t.Errorf("held: %s", diff)
	}
}

// The answer is recorded with the calls that it lets be made, before they are.
func TestS1_AnAnswerLetsItsCallsBeMade(t *testing.T) {
	c, tools := newConsenting(t), newAsker()
	_, err := c.run(tools, asksFor("ask", "ask", "free"))
	c.parks(err)
	c.ends(chat.ByAnswer, "b")
	c.log.Before = func(step string) error {
		if step == "commit" && len(*tools.made) != 1 {
			t.Errorf("%v were made before the answer was written down", *tools.made)
		}
		return nil
	}
	model, err := c.run(tools, says("done"))
	if err != nil || !c.log.Closed() {
		t.Fatalf("the run ended with %v", err)
	}
	if diff := cmp.Diff([]string{"c", "b"}, *tools.made); diff != "" {
		t.Errorf("made: %s", diff)
	}
	if got := c.results()["a"]; !strings.Contains(got, "has refused this call") {
		t.Errorf("the model is told %q", got)
	}
	d := (*tools.decided)[0]
	if d.Wait != "1" || !slices.Equal(d.Begun, []string{"b"}) || d.Calls[0].Allowed || !d.Calls[1].Allowed || *d.By != c.turn.Actor {
		t.Errorf("recorded is %+v", d)
	}
	for _, m := range model.Requests()[0].Messages {
		if strings.Contains(m.Content, "consent") {
			t.Errorf("the prompt shows the record: %q", m.Content)
		}
	}
}

// Whoever takes the turn up after a crash neither makes an allowed call twice
// nor asks again.
func TestP6_ACrashAfterTheAnswerMakesNothingTwice(t *testing.T) {
	for name, lost := range map[string]struct {
		step string // at which the first resumed run is lost
		made []string
		a    string // what the model is told of the allowed call
	}{
		"before it is recorded": {"commit", []string{"a"}, "did a"},
		"after it was made":     {"boundary", []string{"a"}, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			c, tools := newConsenting(t), newAsker()
			_, err := c.run(tools, asksFor("ask", "ask"))
			c.parks(err)
			c.ends(chat.ByAnswer, "a")
			gone := errors.New("gone")
			c.log.Before = func(step string) error {
				if step == lost.step {
					return gone
				}
				return nil
			}
			if _, err := c.run(tools, says("done")); !errors.Is(err, gone) {
				t.Fatalf("the first run ended with %v", err)
			}
			c.log.Before = nil
			if _, err := c.run(tools, says("done")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(lost.made, *tools.made); diff != "" {
				t.Errorf("made: %s", diff)
			}
			if got := c.results(); !strings.Contains(got["a"], lost.a) || !strings.Contains(got["b"], "has refused this call") {
				t.Errorf("the model is told %v", got)
			}
			if n := len(c.log.Asked()); n != 1 {
				t.Errorf("he was asked %d times", n)
			}
		})
	}
}

// A run that is lost between the answer and the question leaves calls that have
// not begun: the next one asks.
func TestS1_ACrashBeforeTheQuestionAsks(t *testing.T) {
	c, tools := newConsenting(t), newAsker()
	gone := errors.New("gone")
	c.log.Before = func(step string) error {
		if step == "park" {
			return gone
		}
		return nil
	}
	if _, err := c.run(tools, asksFor("ask")); !errors.Is(err, gone) {
		t.Fatal(err)
	}
	c.log.Before = nil
	_, err := c.run(tools)
	c.parks(err)
	if len(*tools.made) > 0 {
		t.Errorf("made: %v", *tools.made)
	}
}

// Every bad end of a wait, for an answer or for an account, has one outcome: not
// approved, and why.
func TestEveryBadEndIsNotApproved(t *testing.T) {
	for tool, ends := range map[string]map[chat.How]string{
		"ask": {
			chat.ByAnswer: "has refused this call", chat.ByTime: "not answered in time", chat.ByMessage: "has written a message instead",
			chat.ByNoCard: "would not take the question", chat.ByOperator: "whoever runs you", "of tomorrow": "was not answered",
		},
		"link": {
			chat.ByRefusal: "has not connected an account at hub.", chat.ByTime: "in the time that there was",
			chat.ByMessage: "has written a message instead", chat.ByNoCard: "Slack would not take",
		},
	} {
		for how, want := range ends {
			c, tools := newConsenting(t), newAsker()
			_, err := c.run(tools, asksFor(tool))
			c.parks(err)
			c.ends(how)
			if _, err := c.run(tools, says("done")); err != nil {
				t.Fatal(err)
			}
			if got := c.results()["a"]; !strings.HasPrefix(got, "Not approved: ") || !strings.Contains(got, want) || len(*tools.made) > 0 {
				t.Errorf("%s, %s: %q, and made %v", tool, how, got, *tools.made)
			}
		}
	}
}

// He is asked about calls first, and only then to connect an account for those
// that he has allowed, and for others.
func TestAnAccountIsAskedForAfterTheCalls(t *testing.T) {
	c, tools := newConsenting(t), newAsker()
	_, err := c.run(tools, asksFor("link", "ask", "link"))
	c.parks(err)
	c.ends(chat.ByAnswer, "b")
	_, err = c.run(tools)
	asked := c.parks(err)
	want := chat.Asking{Provider: "hub", Scopes: []string{"repo"}, Calls: []string{"a", "c"}, Tools: []string{"link", "link"}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	c.ends(chat.ByAccount)
	tools.linked = true
	if _, err := c.run(tools, says("done")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a", "c"}, *tools.made, cmp.Transformer("sorted", func(s []string) []string { return slices.Sorted(slices.Values(s)) })); diff != "" {
		t.Errorf("made: %s", diff)
	}
}

// One card holds ten calls and 8,000 characters of arguments.
func TestWhatNoCardHoldsIsRefused(t *testing.T) {
	for name, tools := range map[string][]string{
		"too many": slices.Repeat([]string{"ask"}, 11), "too long": {"ask_long", "ask_long"},
	} {
		c, desk := newConsenting(t), newAsker()
		if _, err := c.run(desk, asksFor(tools...), says("done")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := c.results()
		if len(got) != len(tools) || len(c.log.Asked()) > 0 || len(*desk.made) > 0 {
			t.Errorf("%s: %d results, asked %v, made %v", name, len(got), c.log.Asked(), *desk.made)
		}
		for id, text := range got {
			if !strings.Contains(text, "at most 10 calls with 8000 characters") || !strings.Contains(text, "Ask for less at a time") {
				t.Errorf("%s: %s says %q", name, id, text)
			}
		}
	}
	c := newConsenting(t)
	_, err := c.run(newAsker(), asksFor(append(slices.Repeat([]string{"ask"}, 9), "ask_long")...))
	if asked := c.parks(err); len(asked.Questions) != 10 {
		t.Errorf("asked about %d calls", len(asked.Questions))
	}
}

// A steer that waits is read before anybody is asked.
func TestASteerIsReadBeforeTheQuestion(t *testing.T) {
	c, tools := newConsenting(t), newAsker()
	steer := request("111.0", "rather not")
	c.log.Before = func(step string) error {
		if step == "commit" {
			c.log.Steer(steer)
		}
		return nil
	}
	model, err := c.run(tools, asksFor("ask", "free"), says("done"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.results(); !strings.Contains(got["a"], "a new message came") || got["b"] != "did b" || len(c.log.Asked()) > 0 {
		t.Errorf("results %v, asked %v", got, c.log.Asked())
	}
	last := model.Requests()[1].Messages
	if !strings.Contains(last[len(last)-1].Content, "rather not") {
		t.Errorf("the model reads %q last", last[len(last)-1].Content)
	}
}

// A record that cannot be kept keeps the calls from being made.
func TestS3_AnAnswerThatCannotBeRecordedIsNotSpent(t *testing.T) {
	c, tools := newConsenting(t), newAsker()
	_, err := c.run(tools, asksFor("ask"))
	c.parks(err)
	c.ends(chat.ByAnswer, "a")
	broken := errors.New("no record")
	if _, err := c.run(unrecorded{tools, broken}, says("done")); !errors.Is(err, broken) || len(*tools.made) > 0 {
		t.Fatalf("the run ended with %v, and made %v", err, *tools.made)
	}
	if _, err := c.run(tools, says("done")); err != nil || len(*tools.made) != 1 {
		t.Fatalf("the next run ended with %v, and made %v", err, *tools.made)
	}
}

type unrecorded struct {
	asker
	err error
}

func (u unrecorded) Decided(context.Context, plugins.Run, chat.Decision) error { return u.err }
