package golden

import (
	"slices"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/slackapp/simulator"
)

// opinions are what the small model answers, by what stands in the message.
var opinions = map[string]string{
	"the door is metal":   "steer",
	"what is for lunch?":  "follow_up",
	"is it raining?":      "follow_up",
	"what about windows?": "I think this is a steer.",
}

// The mode router, through the real binary: a small model of its own name is
// asked where messages belong that come while a turn runs. What it says moves
// them, and changes nothing else; when it says something else, they stay.
func TestTheRouterSortsWhatComesMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil, "CROSS_ACTOR_MID_RUN_MODE=router", "ROUTER_MODEL=small")
	first, release := scripted.Call("call_1", "current_time", "{}").Held()
	first = first.If(func(r scripted.Request) bool { return r.Model == "scripted" })
	p.Model.Then(first)
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		if r.Model == "small" {
			asked := r.Messages[len(r.Messages)-1].Content
			asked = asked[strings.LastIndex(asked, "<entry"):]
			for text, opinion := range opinions {
				if strings.Contains(asked, text) {
					return scripted.Answer(opinion)
				}
			}
			return scripted.Status(400, "")
		}
		request := ""
		for _, m := range r.Messages {
			if m.Role == "user" && !strings.HasPrefix(m.Content, "<information>") {
				request += m.Content + "; "
			}
		}
		return scripted.Answer("Done: " + request)
	})
	r := p.Start(t)
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> paint the door")
	p.Asked(t, 1)
	asked := 1
	say := func(user, text string) {
		t.Helper()
		p.Slack.Say(user, simulator.General, "<@UBOT> "+text, simulator.SayOptions{Thread: root})
		asked++
		if got := p.Asked(t, asked); got.Model != "small" || len(got.Tools) > 0 {
			t.Errorf("%q: %s is asked", text, got.Model)
		}
	}
	moved := func(n int) {
		t.Helper()
		p.Until(t, "messages that were moved", func() bool { return len(p.Journal.With("message routed")) >= n })
	}
	say(simulator.Bob, "the door is metal")
	moved(1)
	say(simulator.Carol, "what is for lunch?")
	say(simulator.Alice, "is it raining?")
	moved(2)
	say(simulator.Bob, "what about windows?")
	p.Until(t, "an answer that is none", func() bool { return len(p.Journal.With("router gave no answer")) >= 1 })
	release()
	p.Answered(t, simulator.General, root,
		"Done: paint the door;", "Done: what is for lunch?;", "Done: is it raining?;", "Done: what about windows?;")

	var turns []scripted.Request
	for _, request := range p.Model.Requests() {
		if request.Model == "scripted" {
			turns = append(turns, request)
		}
	}
	second := turns[1]
	if n := second.Count("the door is metal"); n != 1 || second.Count(`origin="steer" author="T1:UBOB"`) != 1 {
		t.Errorf("Bob's words are %d times in the turn that they were moved into", n)
	}
	for _, other := range []string{"lunch", "raining", "windows"} {
		if second.Count(other) > 0 {
			t.Errorf("%q is in Alice's turn", other)
		}
	}
	dispositions := []string{}
	for _, line := range p.Journal.With("message routed") {
		dispositions = append(dispositions, line.Text("disposition"))
	}
	if !slices.Equal(dispositions, []string{"steer_context", "wait"}) {
		t.Errorf("moved were %v", dispositions)
	}
	r.Term(t)
}
