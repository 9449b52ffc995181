package gate_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reeve/cmd/app/apptest/golden"
	"reeve/plugins"
	"reeve/plugins/gate"
)

var bools = []bool{false, true}

// calls are all facts that the table tells apart.
func calls() []gate.Facts {
	var all []gate.Facts
	for _, credentialed := range bools {
		for _, access := range []plugins.Access{plugins.Read, plugins.Write} {
			for _, sends := range bools {
				all = append(all, gate.Facts{Access: access, Sends: sends, Credentialed: credentialed})
			}
		}
	}
	return all
}

func policies() []gate.Policy {
	var all []gate.Policy
	for _, writes := range []gate.MultiActorWrites{gate.AskWrites, gate.BlockWrites} {
		for _, consent := range []gate.WriteConsent{gate.ConsentForeign, gate.ConsentAlways, gate.ConsentConflict} {
			all = append(all, gate.Policy{MultiActorWrites: writes, WriteConsent: consent})
		}
	}
	return all
}

// prompts are the columns of the table.
var prompts = []struct {
	name string
	gate.Situation
}{
	{"typed words only", gate.Situation{Person: true}},
	{"foreign text", gate.Situation{Person: true, Foreign: true}},
	{"conflict", gate.Situation{Person: true, Foreign: true, Conflict: true}},
}

// pasts are all that an actor can have been asked and have said.
func pasts() []gate.Past {
	var all []gate.Past
	for _, call := range bools {
		for _, denied := range bools {
			for _, host := range bools {
				for _, provider := range bools {
					for _, asked := range []int{0, gate.MaxAsked - 1, gate.MaxAsked, gate.MaxAsked + 1} {
						all = append(all, gate.Past{Call: call, Denied: denied, Host: host, Provider: provider, Asked: asked})
					}
				}
			}
		}
	}
	return all
}

func word(v gate.Verdict) string { return fmt.Sprintf("%s %s", v.Decision, v.Rule) }

func name(f gate.Facts) string {
	words := []string{"nobody's", string(f.Access)}
	if f.Credentialed {
		words[0] = "credentialed"
	}
	if f.Sends {
		words = append(words, "sends")
	}
	return strings.Join(words, " ")
}

// The table under every policy, where nobody was asked before.
func TestS1_JudgeGolden(t *testing.T) {
	var b strings.Builder
	b.WriteString("What becomes of a call, by what its tool declares, what stands in the prompt, and the policy.\n")
	for _, p := range policies() {
		fmt.Fprintf(&b, "\nMULTI_ACTOR_WRITES=%s WRITE_CONSENT=%s\n\n%-26s %-8s %-6s", p.MultiActorWrites, p.WriteConsent, "call", "private", "named")
		for _, column := range prompts {
			fmt.Fprintf(&b, " | %-20s", column.name)
		}
		b.WriteString("\n")
		for _, f := range calls() {
			for _, private := range bools {
				for _, named := range bools {
					fmt.Fprintf(&b, "%-26s %-8v %-6v", name(f), private, named)
					for _, column := range prompts {
						s := column.Situation
						s.Private, s.HostNamed = private, named
						fmt.Fprintf(&b, " | %-20s", word(gate.Judge(f, s, p)))
					}
					b.WriteString("\n")
				}
			}
		}
	}
	golden.Holds(t, filepath.Join("testdata", "judge.golden"), trimmed(b.String()))
}

// What an answer of the actor's changes, for each row that asks.
func TestS1_JudgeOfThePastGolden(t *testing.T) {
	var b strings.Builder
	b.WriteString("What becomes of a call that would be asked for, by what its actor was asked before in the turn and has said.\n")
	shown := map[string]bool{}
	for _, p := range policies() {
		for _, f := range calls() {
			for _, column := range prompts {
				s := column.Situation
				s.Private = true
				first := gate.Judge(f, s, p)
				key := name(f) + word(first)
				if first.Decision != gate.Ask || shown[key] {
					continue
				}
				shown[key] = true
				fmt.Fprintf(&b, "\n%s: %s\n\n%-7s %-8s %-6s %-9s %-6s\n", name(f), word(first), "call", "refused", "host", "provider", "asked")
				for _, past := range pasts() {
					s.Past = past
					fmt.Fprintf(&b, "%-7v %-8v %-6v %-9v %-6d | %s\n", past.Call, past.Denied, past.Host, past.Provider, past.Asked, word(gate.Judge(f, s, p)))
				}
			}
		}
	}
	golden.Holds(t, filepath.Join("testdata", "judge_past.golden"), trimmed(b.String()))
}

// trimmed has no blanks at the ends of its lines.
func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// The table as docs/security.md has it, cell by cell.
func TestS1_TableOfTheRules(t *testing.T) {
	read := gate.Facts{Access: plugins.Read}
	sends := gate.Facts{Access: plugins.Read, Sends: true}
	credRead := gate.Facts{Access: plugins.Read, Credentialed: true}
	credWrite := gate.Facts{Access: plugins.Write, Credentialed: true}
	write := gate.Facts{Access: plugins.Write}
	def := gate.Policy{}
	always, late := gate.Policy{WriteConsent: gate.ConsentAlways}, gate.Policy{WriteConsent: gate.ConsentConflict}
	block := gate.Policy{MultiActorWrites: gate.BlockWrites}
	for _, c := range []struct {
		name     string
		f        gate.Facts
		p        gate.Policy
		s        gate.Situation
		decision [3]gate.Decision // typed words only, foreign text, conflict
	}{
		{"nobody's read", read, def, gate.Situation{Private: true}, [3]gate.Decision{"pass", "pass", "pass"}},
		{"nobody's write", write, def, gate.Situation{Private: true}, [3]gate.Decision{"pass", "pass", "pass"}},
		{"sends", sends, def, gate.Situation{}, [3]gate.Decision{"pass", "pass", "ask"}},
		{"sends what is private", sends, def, gate.Situation{Private: true}, [3]gate.Decision{"ask", "ask", "ask"}},
		{"the same to a named host", sends, def, gate.Situation{Private: true, HostNamed: true}, [3]gate.Decision{"pass", "pass", "ask"}},
		{"the same to an allowed host", sends, def, gate.Situation{Private: true, Past: gate.Past{Host: true}}, [3]gate.Decision{"pass", "pass", "ask"}},
		{"credentialed read", credRead, def, gate.Situation{Private: true}, [3]gate.Decision{"pass", "pass", "ask"}},
		{"the same, provider allowed", credRead, def, gate.Situation{Past: gate.Past{Provider: true}}, [3]gate.Decision{"pass", "pass", "pass"}},
		{"credentialed write", credWrite, def, gate.Situation{}, [3]gate.Decision{"pass", "ask", "ask"}},
		{"the same, provider allowed", credWrite, def, gate.Situation{Past: gate.Past{Provider: true, Host: true}}, [3]gate.Decision{"pass", "ask", "ask"}},
		{"credentialed write, always", credWrite, always, gate.Situation{}, [3]gate.Decision{"ask", "ask", "ask"}},
		{"credentialed write, conflict", credWrite, late, gate.Situation{}, [3]gate.Decision{"pass", "pass", "ask"}},
		{"credentialed write, blocked", credWrite, block, gate.Situation{}, [3]gate.Decision{"pass", "ask", "refuse"}},
		{"nobody's write, blocked", write, block, gate.Situation{}, [3]gate.Decision{"pass", "pass", "refuse"}},
		{"nobody's read, blocked", read, block, gate.Situation{}, [3]gate.Decision{"pass", "pass", "pass"}},
		{"credentialed read, blocked", credRead, block, gate.Situation{}, [3]gate.Decision{"pass", "pass", "ask"}},
		{"blocked, and allowed by a click", credWrite, block, gate.Situation{Past: gate.Past{Call: true}}, [3]gate.Decision{"pass", "pass", "refuse"}},
	} {
		for i, column := range prompts {
			s := c.s
			s.Person, s.Foreign, s.Conflict = true, column.Foreign, column.Conflict
			if got := gate.Judge(c.f, s, c.p); got.Decision != c.decision[i] {
				t.Errorf("%s, %s: %s, want %s", c.name, column.name, word(got), c.decision[i])
			}
		}
	}
}

// each goes through everything that Judge can be asked.
func each(do func(gate.Facts, gate.Situation, gate.Policy)) {
	for _, p := range policies() {
		for _, f := range calls() {
			for i := range 32 {
				s := gate.Situation{Person: i&1 > 0, Foreign: i&2 > 0, Private: i&4 > 0, Conflict: i&8 > 0, HostNamed: i&16 > 0}
				for _, past := range pasts() {
					s.Past = past
					do(f, s, p)
				}
			}
		}
	}
}

var order = map[gate.Decision]int{gate.Pass: 0, gate.Ask: 1, gate.Refuse: 2}

func TestS1_WhatHasToBeAskedPassesOnlyByAnAnswer(t *testing.T) {
	each(func(f gate.Facts, s gate.Situation, p gate.Policy) {
		got := gate.Judge(f, s, p)
		bare := s
		bare.Past = gate.Past{}
		first := gate.Judge(f, bare, p)
		switch {
		case s.Person && s.Past.Denied && first.Decision != gate.Refuse:
			if got.Rule != gate.RuleDenied {
				t.Fatalf("%+v %+v %+v: he has refused this call, and it became %s", f, s, p, word(got))
			}
		case first.Decision != gate.Ask && got != first:
			t.Fatalf("%+v %+v %+v: nobody had to be asked (%s), and the past made it %s", f, s, p, word(first), word(got))
		case s.Past.Denied && got.Decision == gate.Ask:
			t.Fatalf("%+v %+v %+v: what was denied is asked for again", f, s, p)
		case s.Past.Asked >= gate.MaxAsked && got.Decision == gate.Ask:
			t.Fatalf("%+v %+v %+v: asked for the %dth time", f, s, p, s.Past.Asked+1)
		case !s.Past.Call && !s.Past.Host && !s.Past.Provider && got.Decision == gate.Pass && first.Decision != gate.Pass:
			t.Fatalf("%+v %+v %+v: it passes, and nobody has allowed it", f, s, p)
		}
	})
}

// More rights, more foreign text and stricter policies never make it easier.
func TestS1_StricterIsNeverEasier(t *testing.T) {
	worse := []func(*gate.Facts, *gate.Situation, *gate.Policy){
		func(f *gate.Facts, _ *gate.Situation, _ *gate.Policy) { f.Sends = true },
		func(f *gate.Facts, _ *gate.Situation, _ *gate.Policy) { f.Credentialed = true },
		func(f *gate.Facts, _ *gate.Situation, _ *gate.Policy) { f.Access = plugins.Write },
		func(_ *gate.Facts, s *gate.Situation, _ *gate.Policy) { s.Foreign = true },
		func(_ *gate.Facts, s *gate.Situation, _ *gate.Policy) { s.Foreign, s.Conflict = true, true },
		func(_ *gate.Facts, s *gate.Situation, _ *gate.Policy) { s.Private = true },
		func(_ *gate.Facts, s *gate.Situation, _ *gate.Policy) { s.HostNamed = false },
		func(_ *gate.Facts, s *gate.Situation, _ *gate.Policy) { s.Person = false },
		func(_ *gate.Facts, _ *gate.Situation, p *gate.Policy) { p.MultiActorWrites = gate.BlockWrites },
		func(_ *gate.Facts, _ *gate.Situation, p *gate.Policy) { p.WriteConsent = gate.ConsentAlways },
		func(_ *gate.Facts, _ *gate.Situation, p *gate.Policy) { p.MultiActorWrites = "unknown" },
		func(_ *gate.Facts, _ *gate.Situation, p *gate.Policy) { p.WriteConsent = "unknown" },
		func(f *gate.Facts, _ *gate.Situation, _ *gate.Policy) { f.Access = "unknown" },
		func(f *gate.Facts, _ *gate.Situation, _ *gate.Policy) { f.Always = true },
	}
	each(func(f gate.Facts, s gate.Situation, p gate.Policy) {
		if s.Conflict && !s.Foreign {
			return // another's steer is foreign text
		}
		if s.Past.Denied {
			return // whoever is no person was not asked; see the test above
		}
		before := gate.Judge(f, s, p)
		for i, change := range worse {
			f, s, p := f, s, p
			change(&f, &s, &p)
			if after := gate.Judge(f, s, p); order[after.Decision] < order[before.Decision] {
				t.Fatalf("change %d made %s of %s: %+v %+v %+v", i, word(after), word(before), f, s, p)
			}
		}
	})
}

func TestS1_WhatAlwaysAsksPassesOnlyByAClick(t *testing.T) {
	each(func(f gate.Facts, s gate.Situation, p gate.Policy) {
		f.Always = true
		if got := gate.Judge(f, s, p); got.Decision == gate.Pass && (!s.Person || !s.Past.Call || s.Past.Denied) {
			t.Fatalf("%+v %+v %+v: %s", f, s, p, word(got))
		}
	})
}

func TestS1_OneWhoIsNoPersonSpendsNobodysRights(t *testing.T) {
	each(func(f gate.Facts, s gate.Situation, p gate.Policy) {
		if got := gate.Judge(f, s, p); !s.Person && (got.Decision == gate.Ask || f.Credentialed && got.Decision != gate.Refuse) {
			t.Fatalf("%+v %+v %+v: %s", f, s, p, word(got))
		}
	})
}

func TestS3_UnknownAccessIsRefused(t *testing.T) {
	each(func(f gate.Facts, s gate.Situation, p gate.Policy) {
		f.Access = "execute"
		if got := gate.Judge(f, s, p); got.Decision != gate.Refuse {
			t.Fatalf("%+v %+v %+v: %s", f, s, p, word(got))
		}
	})
}
