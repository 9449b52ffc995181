package gate

import (
	"reeve/plugins"
	"reeve/runtime/chat"
)

// situationOf is what a run's transcript says about a call that would send to
// host. The transcript is that of the prompt from which the model asked.
//
// Nobody can be asked yet, so that no turn has a past.
func situationOf(run plugins.Run, host string) Situation {
	s := Situation{Person: run.Actor.IsPerson(), Conflict: run.Conflict()}
	for _, e := range run.Transcript {
		s.Private = s.Private || e.Private
		switch {
		case run.Instruction(e):
			s.HostNamed = s.HostNamed || host != "" && named(e.Text, host)
		case !written(run, e):
			s.Foreign = true
		}
	}
	return s
}

// written: the model itself wrote it in this turn, out of what stood before it.
// If nothing of that was foreign, it is not. Everything that is neither this nor
// an instruction is foreign, known or not.
func written(run plugins.Run, e plugins.Entry) bool {
	return e.Role == chat.AssistantRole && (e.Origin == chat.CallOrigin || e.Origin == chat.Answer) &&
		e.Author.IsZero() && e.Turn == run.Turn && run.Turn != ""
}
