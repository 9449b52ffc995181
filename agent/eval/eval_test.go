package eval

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"reeve/agent"
	"reeve/agent/router"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// oracle is a model that has read the cases. Where it is wrong it gives each
// answer that it should not.
type oracle struct {
	routes  map[string]routed
	talks   map[string]talk
	steered map[string]steered
	wrong   bool
	// names: it says what it left undone, instead of handing it back.
	names bool
}

func know(t testing.TB) *oracle {
	o := &oracle{routes: map[string]routed{}, talks: map[string]talk{}, steered: map[string]steered{}}
	for _, c := range load[routed](t, "router.jsonl") {
		o.routes[router.Request(c.question()).Messages[0].Content] = c
	}
	for _, c := range load[talk](t, "speakers.jsonl") {
		o.talks[c.Ask] = c
	}
	for _, c := range load[steered](t, "steered.jsonl") {
		o.steered[c.Steer] = c
	}
	return o
}

// Complete implements agent.Model. It knows a case by what the prompt shows,
// and by nothing else.
func (o *oracle) Complete(_ context.Context, req agent.Request) (agent.Reply, error) {
	var handed bool
	var found func() agent.Reply
	for _, m := range req.Messages {
		if c, ok := o.routes[m.Content]; ok {
			found = func() agent.Reply { return o.route(c) }
		}
		if c, ok := o.talks[m.Content]; ok {
			found = func() agent.Reply { return o.speaker(c) }
		}
		handed = handed || len(m.Calls) > 0 && m.Calls[0].Tool != "look_up"
		if agent.IsBlock(m.Content) {
			elements, err := agent.DecodeBlock(m.Content)
			if err != nil {
				return agent.Reply{}, err
			}
			for _, e := range elements {
				if c, ok := o.steered[e.Text]; ok && e.Origin == string(chat.Steer) {
					found = func() agent.Reply { return o.steer(c, e.ID, handed) }
				}
			}
		}
	}
	if found == nil {
		return agent.Reply{}, fmt.Errorf("no case is like %q", req.Messages)
	}
	return found(), nil
}

func (o *oracle) route(c routed) agent.Reply {
	if (c.Label == router.Steer) != o.wrong {
		return agent.Reply{Text: string(router.Steer)}
	}
	return agent.Reply{Text: string(router.FollowUp)}
}

func (o *oracle) speaker(c talk) agent.Reply {
	named, text := c.Want, c.Says
	if o.wrong {
		named, text = c.Not, ""
	}
	for _, user := range named {
		text += " " + chat.Person(team, user).Key()
	}
	return agent.Reply{Text: text}
}

func (o *oracle) steer(c steered, id string, handed bool) agent.Reply {
	call := func(tool, arguments string) agent.Reply {
		return agent.Reply{Calls: []chat.ToolCall{{ID: "c", Tool: tool, Arguments: arguments}}}
	}
	switch {
	case o.wrong && c.Asks && !handed:
		return call(c.Forbid[0], `{}`)
	case o.wrong:
		return agent.Reply{Text: "Here you are."}
	case !c.Asks:
		return agent.Reply{Text: c.Name + " says: " + c.Topic[0]}
	case o.names:
		return agent.Reply{Text: "I left undone for " + c.Name + ": " + c.Topic[0]}
	case !handed:
		return call(plugins.HandBackTool, fmt.Sprintf(`{"message":%q}`, id))
	}
	return agent.Reply{Text: "Done."}
}

func TestRightAnswersScoreAll(t *testing.T) {
	for _, names := range []bool{false, true} {
		o := know(t)
		o.names = names
		for _, s := range all(t.Context(), t, o, o) {
			if s.of == 0 || s.right != s.of {
				t.Errorf("%s", table([]score{s}))
			}
		}
	}
}

func TestWrongAnswersScoreNothing(t *testing.T) {
	o := know(t)
	o.wrong = true
	for _, s := range all(t.Context(), t, o, o) {
		if s.of == 0 || s.right != 0 || len(s.notes) != s.of {
			t.Errorf("%s", table([]score{s}))
		}
	}
}

// A model that says nothing of use, or nothing at all, is not half right.
func TestNonsenseScoresNothing(t *testing.T) {
	for _, reply := range []agent.Reply{{Text: "I cannot help with that."}, {Text: "steer or follow_up"}} {
		for _, s := range all(t.Context(), t, scripted.Says(reply), scripted.Says(reply)) {
			if s.right != 0 {
				t.Errorf("%q:\n%s", reply.Text, table([]score{s}))
			}
		}
	}
	gone := scripted.Does(func(context.Context, agent.Request) (agent.Reply, error) { return agent.Reply{}, fmt.Errorf("gone") })
	for _, s := range all(t.Context(), t, gone, gone) {
		if s.right != 0 || !strings.Contains(strings.Join(s.notes, "\n"), "gone") {
			t.Errorf("no answer:\n%s", table([]score{s}))
		}
	}
}

// Each way of getting a steer wrong is one that the measure sees.
func TestWhatIsWrongWithSteersIsSeen(t *testing.T) {
	c := load[steered](t, "steered.jsonl")[0]
	says := func(text string) agent.Reply { return agent.Reply{Text: text} }
	calls := func(tool, arguments string) agent.Reply {
		return agent.Reply{Calls: []chat.ToolCall{{ID: "x", Tool: tool, Arguments: arguments}}}
	}
	tests := map[string]struct {
		replies []agent.Reply
		want    string
	}{
		"done all the same": {[]agent.Reply{calls(c.Forbid[0], `{}`), says("I left undone for Bob: to mail it.")}, "for whom the turn does not act"},
		"another message":   {[]agent.Reply{calls(plugins.HandBackTool, `{"message":"C0TALK:1.2"}`), says("ok")}, "and the message is"},
		"nobody named":      {[]agent.Reply{says("I did not mail it.")}, "for whom"},
		"nothing named":     {[]agent.Reply{says("Sorry Bob!")}, "what was left undone"},
	}
	for name, test := range tests {
		if got := c.problem(t.Context(), scripted.Says(test.replies...)); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
