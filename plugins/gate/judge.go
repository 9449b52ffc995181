package gate

import "reeve/plugins"

// Decision is what becomes of a call.
type Decision string

const (
	Pass   Decision = "pass"   // it is made
	Ask    Decision = "ask"    // its principal has to be asked first
	Refuse Decision = "refuse" // it is not made
)

// Verdict is a decision and the rule that made it.
type Verdict struct {
	Decision Decision
	Rule     Rule
}

// Rule names the reason of a verdict, for the audit record.
type Rule string

// The rules of the table, by the verdict to which they lead.
const (
	RuleFree         Rule = "free"          // pass: spends nobody's rights, sends nothing
	RuleSends        Rule = "sends"         // pass: sends, with nothing private in the prompt
	RuleNamedHost    Rule = "named_host"    // pass: the actor has typed the host in this turn
	RuleReads        Rule = "reads"         // pass: credentialed read
	RuleWrites       Rule = "writes"        // pass: credentialed write
	RuleHostAllowed  Rule = "host_allowed"  // pass: he was asked for this host
	RuleRightAllowed Rule = "right_allowed" // pass: he was asked for this provider
	RuleCallAllowed  Rule = "call_allowed"  // pass: he was asked for this very call

	RuleConflictSends  Rule = "conflict_sends"  // ask: sends, in a conflict
	RuleConflictReads  Rule = "conflict_reads"  // ask: credentialed read, in a conflict
	RuleConflictWrites Rule = "conflict_writes" // ask: credentialed write, in a conflict
	RulePrivateSends   Rule = "private_sends"   // ask: sends, with a private entry in the prompt
	RuleForeignWrites  Rule = "foreign_writes"  // ask: credentialed write, with foreign text in the prompt
	RuleEveryWrite     Rule = "every_write"     // ask: credentialed write, where the policy asks always
	RuleAlways         Rule = "always"          // ask: the tool says so of this call

	RuleBlocked   Rule = "blocked"       // refuse: a write in a conflict, where the policy blocks them
	RuleNobodys   Rule = "nobodys"       // refuse: credentialed, in a turn that acts for no person
	RuleNobody    Rule = "nobody_to_ask" // refuse: would be asked, in a turn that acts for no person
	RuleDenied    Rule = "denied"        // refuse: he has refused this very call in this turn
	RuleAskedOut  Rule = "asked_enough"  // refuse: the turn has asked as often as it may
	RuleUndefined Rule = "undefined"     // refuse: the tool declares what is not known here
)

// MaxAsked is how often one turn may ask its actor.
const MaxAsked = 5

// Policy is what an operator decides. The zero value is the default.
type Policy struct {
	MultiActorWrites MultiActorWrites
	WriteConsent     WriteConsent
}

// MultiActorWrites says what becomes of writes in a conflict.
type MultiActorWrites string

const (
	AskWrites   MultiActorWrites = "ask"   // as the table says; the default
	BlockWrites MultiActorWrites = "block" // refused, credentialed or not
)

// WriteConsent says when a credentialed write is asked for.
type WriteConsent string

const (
	ConsentForeign  WriteConsent = "foreign"  // with foreign text in the prompt; the default
	ConsentAlways   WriteConsent = "always"   // each time
	ConsentConflict WriteConsent = "conflict" // in a conflict
)

// Facts are what a call's tool declares, and where the call would send to.
type Facts struct {
	Access plugins.Access
	Sends  bool
	// Credentialed: the call spends somebody's rights.
	Credentialed bool
	// Always: the tool asks for this call in any case.
	Always bool
	// Host is in normal form. Empty: the call does not send, or its plugin is
	// one host, which has no name that could be typed.
	Host string
}

// Situation is the turn as it stood when the model asked: before any call of
// the same answer ran.
type Situation struct {
	// Person: the turn acts for a person, who can be asked.
	Person bool
	// Foreign: there is text in the prompt that the actor has not typed in this
	// turn. Private: an entry in it is for him alone. Conflict: another author's
	// text was steered into the turn.
	Foreign, Private, Conflict bool
	// HostNamed: the host stands in what the actor typed in this turn.
	HostNamed bool
	Past      Past
}

// Past is what the actor was asked in this turn, and what he said. Of a turn
// that never asked it is zero.
type Past struct {
	// Call: he has allowed this very call. Denied: he has refused it.
	Call, Denied bool
	// Host: he has allowed to send there, which counts in no conflict. Provider:
	// he has allowed to spend those rights since the last steer of another author.
	Host, Provider bool
	// Asked is how often he was asked.
	Asked int
	// other: he has allowed it for another account, of the same name.
	other bool
}

// Judge is the table of who may have a call made, and nothing else: it knows no
// text. A call that falls into several rows takes the strictest.
func Judge(f Facts, s Situation, p Policy) Verdict {
	if !s.Person {
		s.Past = Past{} // nobody was asked
	}
	verdict := Verdict{Pass, RuleFree}
	for _, row := range rows(f, s, p) {
		if verdict.Rule == RuleFree || strictness[row.Decision] > strictness[verdict.Decision] {
			verdict = row
		}
	}
	if s.Past.Denied && verdict.Decision != Refuse { // whatever else he has allowed since
		return Verdict{Refuse, RuleDenied}
	}
	if verdict.Decision != Ask {
		return verdict
	}
	switch {
	case !s.Person:
		return Verdict{Refuse, RuleNobody}
	case s.Past.Call:
		return Verdict{Pass, RuleCallAllowed}
	case s.Past.Asked >= MaxAsked:
		return Verdict{Refuse, RuleAskedOut}
	}
	return verdict
}

var strictness = map[Decision]int{Pass: 0, Ask: 1, Refuse: 2}

// rows are the rows of the table into which a call falls; none: it spends
// nobody's rights and sends nothing.
func rows(f Facts, s Situation, p Policy) []Verdict {
	if f.Access != plugins.Read && f.Access != plugins.Write {
		return []Verdict{{Refuse, RuleUndefined}}
	}
	var rows []Verdict
	if f.Credentialed && !s.Person {
		rows = append(rows, Verdict{Refuse, RuleNobodys})
	}
	if f.Access == plugins.Write && s.Conflict && p.blocks() {
		rows = append(rows, Verdict{Refuse, RuleBlocked})
	}
	if f.Sends {
		rows = append(rows, send(s))
	}
	if f.Always {
		rows = append(rows, Verdict{Ask, RuleAlways})
	}
	switch {
	case f.Credentialed && f.Access == plugins.Read:
		rows = append(rows, read(s))
	case f.Credentialed:
		rows = append(rows, write(s, p))
	}
	return rows
}

func send(s Situation) Verdict {
	switch {
	case s.Conflict:
		return Verdict{Ask, RuleConflictSends}
	case !s.Private:
		return Verdict{Pass, RuleSends}
	case s.HostNamed:
		return Verdict{Pass, RuleNamedHost}
	case s.Past.Host:
		return Verdict{Pass, RuleHostAllowed}
	}
	return Verdict{Ask, RulePrivateSends}
}

func read(s Situation) Verdict {
	switch {
	case !s.Conflict:
		return Verdict{Pass, RuleReads}
	case s.Past.Provider:
		return Verdict{Pass, RuleRightAllowed}
	}
	return Verdict{Ask, RuleConflictReads}
}

func write(s Situation, p Policy) Verdict {
	switch {
	case s.Conflict:
		return Verdict{Ask, RuleConflictWrites}
	case s.Foreign && p.consent() != ConsentConflict:
		return Verdict{Ask, RuleForeignWrites}
	case p.consent() == ConsentAlways:
		return Verdict{Ask, RuleEveryWrite}
	}
	return Verdict{Pass, RuleWrites}
}

// blocks: a policy that is not known is the strictest.
func (p Policy) blocks() bool { return p.MultiActorWrites != "" && p.MultiActorWrites != AskWrites }

func (p Policy) consent() WriteConsent {
	switch p.WriteConsent {
	case "", ConsentForeign:
		return ConsentForeign
	case ConsentConflict:
		return ConsentConflict
	}
	return ConsentAlways
}
