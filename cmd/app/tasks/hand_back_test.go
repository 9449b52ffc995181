package tasks

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

var bobsEntry = regexp.MustCompile(`<entry origin="steer" author="T1:UBOB"[^>]* id="([^"]+)"`)

// model works for Alice, and hands back what Bob sends into her turn; for Bob it
// does what he asks.
func model(r scripted.Request) scripted.Step {
	system := r.Messages[0].Content
	switch bobs := bobsEntry.FindStringSubmatch(joined(r)); {
	case strings.Contains(system, "T1:UBOB"):
		return scripted.Answer("Booked.")
	case bobs == nil:
		return scripted.Call("look", "hand_back", map[string]string{"message": "C0:none"})
	case len(r.With("tool", "own request now"))+len(r.With("user", "own request now")) == 0 && !strings.Contains(joined(r), "already handed back"):
		return scripted.Call("back", "hand_back", map[string]string{"message": bobs[1]})
	}
	return scripted.Answer("Tidied. Bob's room comes next.")
}

func joined(r scripted.Request) string {
	var all []string
	for _, m := range r.Messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, "\n")
}

// Bob steers his own wish into Alice's turn. The model hands it back, and it is
// Bob's request next, wherever the process dies on the way.
func TestHandedBackRequestRunsForItsAuthor(t *testing.T) {
	for name, point := range map[string]string{
		"nobody dies": "", "before the call": "committed committed", "after the call": "boundary boundary", "after its result": "taken taken",
		"before the end": "closing", "after the end": "posting",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "CROSS_ACTOR_MID_RUN_MODE=steer")
			held, release := scripted.Call("look", "hand_back", map[string]string{"message": "C0:none"}).Held()
			defer release()
			p.Model.Then(held)
			p.answers(model)
			first := p.StartOther(t, apptest.Tenth, "DIE_AT="+point)
			root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> tidy my notes")
			p.Asked(t, 1)
			p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> book me a room", simulator.SayOptions{Thread: root})
			p.Until(t, "Bob's message is taken", func() bool { return len(p.Journal.With("message", "disposition", "steer_context")) == 1 })
			release()
			if point != "" {
				if _, err := first.End(apptest.Patience); err != nil {
					t.Fatal(err)
				}
				p.StartOther(t, apptest.Tenth)
			}
			p.Answered(t, simulator.General, root, "Tidied. Bob's room comes next.", "Booked.")
			p.Quiet(1500 * time.Millisecond)
			p.Answered(t, simulator.General, root, "Tidied. Bob's room comes next.", "Booked.")
			actors := map[string][]string{}
			for _, l := range p.Journal.With("turn runs") {
				turns := actors[l.Text("actor")]
				if !slices.Contains(turns, l.Text("turn")) {
					actors[l.Text("actor")] = append(turns, l.Text("turn"))
				}
			}
			if len(actors["T1:UALICE"]) != 1 || len(actors["T1:UBOB"]) != 1 {
				t.Errorf("turns by actor: %v", actors)
			}
			for _, l := range p.Journal.With("seen") {
				want := map[string]string{"T1:UALICE": "tidy my notes", "T1:UBOB": "book me a room"}[l.Text("actor")]
				if l.Text("asked") != want {
					t.Errorf("%s asked %q", l.Text("actor"), l.Text("asked"))
				}
			}
			if last := p.Model.Requests(); strings.Count(joined(last[len(last)-1]), "book me a room") == 0 {
				t.Error("Bob's turn was not asked what he wants")
			}
		})
	}
}
