package gate

import (
	"slices"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// subject is the call that is judged.
type subject struct {
	call     string // its id in the turn
	hash     string // of its tool and arguments
	host     string
	provider string
	account  Standing
}

// situationOf is what a run's transcript says about a call. The transcript is
// that of the prompt from which the model asked, with what the actor was asked
// since.
func situationOf(run plugins.Run, of subject) Situation {
	s := Situation{Person: run.Actor.IsPerson(), Conflict: run.Conflict()}
	for _, e := range run.Transcript {
		s.Private = s.Private || e.Private
		switch {
		case run.Instruction(e):
			s.HostNamed = s.HostNamed || of.host != "" && named(e.Text, of.host)
		case decision(run, e) != nil:
			s.Past.add(*e.Decision, of)
		case !written(run, e):
			s.Foreign = true
		}
		if e.Turn == run.Turn && e.Origin == chat.Steer && !e.ByRunActor {
			s.Past.Provider = false
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

// decision is what an entry records of what the run's actor was asked in this
// turn; nil: it is no such entry. Only the runtime writes one.
func decision(run plugins.Run, e plugins.Entry) *chat.Decision {
	if e.Origin != chat.Consent || e.Turn != run.Turn || run.Turn == "" {
		return nil
	}
	return e.Decision
}

// decisions are all of them.
func decisions(run plugins.Run) []chat.Decision {
	var list []chat.Decision
	for _, e := range run.Transcript {
		if d := decision(run, e); d != nil {
			list = append(list, *d)
		}
	}
	return list
}

// add takes in one decision. What he allowed holds for the very call; where it
// was about a host or about a provider's rights, for these as well. What he has
// let pass without an answer is as good as refused, unless he wrote instead. A
// refusal holds for every call like it, but for a twin that he was asked about in
// the same breath: each has a box of its own.
func (p *Past) add(d chat.Decision, of subject) {
	if d.Wait != "" {
		p.Asked++
	}
	itself := slices.ContainsFunc(d.Calls, func(c chat.Decided) bool { return c.Call == of.call && c.Hash == of.hash })
	for _, c := range d.Calls {
		switch {
		case c.Rule == chat.RuleConnect:
			// What he has connected since, for this very call, is the account that he means.
			p.Call = p.Call || p.other && c.Allowed && c.Call == of.call && c.Provider == of.provider
		case c.Allowed:
			if c.Call == of.call && c.Hash == of.hash && c.Provider == of.provider && c.Host == of.host &&
				(c.Account == "" || c.Account == of.account.Name) {
				// A card that named an account was answered for that account.
				same := c.AccountID == "" || c.AccountID == of.account.ID
				p.Call, p.other = p.Call || same, p.other || !same
			}
			p.Host = p.Host || Rule(c.Rule) == RulePrivateSends && of.host != "" && c.Host == of.host
			p.Provider = p.Provider || Rule(c.Rule) == RuleConflictReads && of.provider != "" && c.Provider == of.provider
		case d.How != chat.ByMessage && d.How != chat.ByOperator:
			p.Denied = p.Denied || c.Hash == of.hash && (c.Call == of.call || !itself)
		}
	}
}
