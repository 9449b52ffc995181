package mailbox_test

import (
	"fmt"
	"slices"
	"strings"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// scene is one case of the model: who writes what, under which policy.
type scene struct {
	name   string
	said   []chat.Message
	policy runtime.Policy
	// attempts are how many workers a turn may lose before it is abandoned.
	attempts int
	// waits: a turn that has waited differs from one that has not. No step decides
	// by that, so that it matters to the checks of a second wait's end alone.
	waits bool
}

// scenes are all cases: messages of Alice, who writes the oldest, and Bob; plain,
// forced ("!") or a stop; under each policy that makes a difference there. Three
// of them, and two with more workers lost and waits that follow waits: three with
// those, too, have four times as many states, which are more than one has the
// patience to see.
func scenes() []scene {
	var all []scene
	known := map[string]bool{}
	add := func(words ...string) {
		modes := []runtime.MidRunMode{runtime.ModeSteer, runtime.ModeFollowUp}
		for _, same := range modes {
			for _, cross := range modes {
				if s := newScene(words, same, cross); !known[s.decided()] {
					known[s.decided()] = true
					all = append(all, s)
				}
			}
		}
	}
	words := []string{"A", "A!", "Astop", "B", "B!", "Bstop"}
	for _, one := range words[:3] {
		for _, two := range words {
			add(one, two)
			for _, three := range words {
				add(one, two, three)
			}
		}
	}
	return all
}

func newScene(words []string, same, cross runtime.MidRunMode) scene {
	s := scene{
		name:     fmt.Sprintf("%s, same %s, cross %s", strings.Join(words, " "), same, cross),
		policy:   runtime.Policy{SameActor: same, CrossActor: cross, Stop: runtime.StopByAnyone},
		attempts: 1,
	}
	if len(words) < 3 {
		s.attempts, s.waits = 2, true
	}
	for i, word := range words {
		m := chat.Message{
			ID: chat.MessageID{Team: "T1", Channel: "C1", TS: at(i + 2)}, Conversation: modelPlace,
			Author: alice, Text: word, Standing: chat.MayInstruct, Addressed: true,
		}
		if word[0] == 'B' {
			m.Author = bob
		}
		m.Forced, m.Stop = word[1:] == "!", word[1:] == "stop"
		s.said = append(s.said, m)
	}
	return s
}

// decided is what the scene's messages may be told: scenes that agree in it are
// the same. Nobody's turn is open of whom the scene has no other message.
func (s scene) decided() string {
	var id strings.Builder
	for _, m := range s.said {
		own := slices.ContainsFunc(s.said, func(o chat.Message) bool { return o.ID != m.ID && !o.Stop && o.Author == m.Author })
		other := slices.ContainsFunc(s.said, func(o chat.Message) bool { return !o.Stop && o.Author != m.Author })
		fmt.Fprintf(&id, "%s %t %t ", m.Author, m.Forced, m.Stop)
		for at, letter := range []byte(runtime.DecideRow(m, s.policy)) {
			switch column := chat.StateAt(at).Column; {
			case column == chat.OtherRuns && !other:
			case column < chat.OtherRuns && !own:
			default:
				id.WriteByte(letter)
			}
		}
	}
	return id.String()
}

var modelPlace = chat.Conversation{Team: "T1", Channel: "C1", Root: at(1)}
