package scripted_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

var (
	alice = chat.Person("T1", "U1")
	bob   = chat.Person("T1", "U2")
)

func said(author chat.Actor, name, text string, authority chat.Authority, origin chat.Origin) chat.Entry {
	m := chat.Message{ID: chat.MessageID{Team: "T1", Channel: "C1", TS: "110.000000"}, Author: author, Name: name, Text: text}
	return m.Entries("t_now", authority, origin)[0]
}

func turn(text string) agent.Turn {
	return agent.Turn{ID: "t_now", Actor: alice, Zone: "Europe/Berlin", Own: []chat.Entry{said(alice, "Alice", text, chat.Instruction, chat.Request)}}
}

func loop(t *testing.T, model agent.Model) *agent.Loop {
	t.Helper()
	extension, err := clock.New(nil).Open(t.Context(), plugins.Services{})
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(gate.Options{})
	if err := g.Set("clock", extension.Tools, false); err != nil {
		t.Fatal(err)
	}
	return agent.NewLoop(agent.Options{Model: model, Tools: g})
}

func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the answer:\n%s", part, text)
		}
	}
}

func TestDemoShowsWhatReachedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &scripted.Log{}
		time.AfterFunc(1500*time.Millisecond, func() {
			log.Steer(said(alice, "Alice", "and the wall", chat.Instruction, chat.Steer), said(bob, "Bob", "use blue\nplease", chat.Context, chat.Steer))
		})
		time.AfterFunc(3500*time.Millisecond, func() { log.Steer(said(alice, "Alice", "last word", chat.Instruction, chat.Steer)) })
		start := time.Now()
		if err := loop(t, scripted.NewDemo(time.Second)).Run(t.Context(), turn("paint the door"), log); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 6*time.Second {
			t.Errorf("four steps, and two for what came late, took %v", took)
		}
		answers := log.Answers()
		if len(answers) != 2 {
			t.Fatalf("answers: %q", answers)
		}
		holds(t, answers[0], "demo model", "> paint the door", "You added while I worked", "> and the wall", "Bob added, as information", "> use blue\n> please", "I left undone whatever Bob asks")
		holds(t, answers[1], "in the same turn", "> last word")
		if strings.Contains(answers[0], "last word") || strings.Contains(answers[1], "paint") {
			t.Errorf("something stands in the wrong answer: %q", answers)
		}
	})
}

func TestDemoTellsTheTime(t *testing.T) {
	log := &scripted.Log{}
	if err := loop(t, scripted.NewDemo(0)).Run(t.Context(), turn("What time is it?"), log); err != nil {
		t.Fatal(err)
	}
	holds(t, log.Answers()[0], "**The time:**", "Europe/Berlin")
}

func TestDemoReadsAChannelWhenItIsAsked(t *testing.T) {
	tools := []agent.ToolSpec{{Name: "read_channel"}}
	request := func(text string) agent.Request {
		return agent.Request{Tools: tools, Messages: []agent.Message{{Role: chat.UserRole, Content: text}}}
	}
	reply, err := scripted.NewDemo(0).Complete(t.Context(), request("please read #dev-ops now"))
	if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Tool != "read_channel" || reply.Calls[0].Arguments != `{"channel":"dev-ops"}` {
		t.Errorf("asked for %+v, %v", reply, err)
	}
	tools = nil
	if reply, err = scripted.NewDemo(0).Complete(t.Context(), request("please read #dev-ops now")); err != nil || len(reply.Calls) > 0 {
		t.Errorf("asked for what it is not offered: %+v, %v", reply, err)
	}
}

func TestDemoAnswersAtOnceWithoutPace(t *testing.T) {
	log := &scripted.Log{}
	if err := loop(t, scripted.NewDemo(0)).Run(t.Context(), turn(""), log); err != nil {
		t.Fatal(err)
	}
	if entries := log.Entries(); len(entries) != 1 {
		t.Errorf("%d entries", len(entries))
	}
	holds(t, log.Answers()[0], "a mention without words", "Next time, write again while I work")
}

func TestDemoStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1234*time.Millisecond, func() { cancel(stopped) })
		start := time.Now()
		err := loop(t, scripted.NewDemo(time.Hour)).Run(ctx, turn("go"), &scripted.Log{})
		if err != stopped || time.Since(start) != 1234*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestDemoTakesANewPaceWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		demo := scripted.NewDemo(time.Hour)
		time.AfterFunc(time.Second, func() { demo.SetPace(0) })
		start := time.Now()
		if err := loop(t, demo).Run(t.Context(), turn("go"), &scripted.Log{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
