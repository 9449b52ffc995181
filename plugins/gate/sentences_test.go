package gate_test

import (
	"strings"
	"testing"

	"reeve/plugins/gate"
)

// Each rule that keeps a call from being made has a sentence that says why, and
// what there is to do.
func TestSentences(t *testing.T) {
	const askAgain = "They can ask for it again in a turn into which nobody else writes"
	for rule, holds := range map[gate.Rule][]string{
		gate.RuleConflictSends:  {"sends data out", "somebody else has written into this turn", "has to be asked first, and was not", askAgain},
		gate.RuleConflictReads:  {"spends the rights of the person for whom you act", "somebody else has written into this turn", "has to be asked first, and was not", askAgain},
		gate.RuleConflictWrites: {"changes something with the rights of the person", "somebody else has written into this turn", "has to be asked first, and was not", askAgain},
		gate.RulePrivateSends:   {"what only the person for whom you act may know", "sends data to h.example, which they have not named in this turn, as they can in a message of their own.", "has to be asked first, and was not"},
		gate.RuleForeignWrites:  {"changes something with the rights of the person", "text that they did not type in this turn", "earlier turns, memories, or another part of what you were given", "has to be asked first, and was not"},
		gate.RuleEveryWrite:     {"changes something with the rights of the person", "asked each time", "has to be asked first, and was not"},
		gate.RuleAlways:         {"asked each time", "has to be asked first, and was not"},
		gate.RuleBlocked:        {"somebody else has written into this turn", "allows no changes then", "in a turn into which nobody else writes"},
		gate.RuleNobodys:        {"spends a person's rights", "acts for no person", "asks you in a message of their own"},
		gate.RuleNobody:         {"would have to be asked", "acts for no person", "asks you in a message of their own"},
		gate.RuleDenied:         {"has refused just this call in this turn", "Do not ask for it again"},
		gate.RuleAskedOut:       {"was asked 5 times in this turn"},
		gate.RuleUndefined:      {"is not understood"},
		"a rule of tomorrow":    {"could not be decided"},
	} {
		got := gate.Verdict{Decision: gate.Refuse, Rule: rule}.Sentence(gate.Facts{Host: "h.example"})
		for _, want := range append(holds, "This call was not made: ") {
			if !strings.Contains(got, want) {
				t.Errorf("%s says %q, and not %q", rule, got, want)
			}
		}
		if strings.Contains(got, "%!") {
			t.Errorf("%s says %q", rule, got)
		}
	}
	for host, want := range map[string]string{"": "sends data to a place outside.", "mcp_files": "sends data to mcp_files."} {
		if got := (gate.Verdict{Decision: gate.Ask, Rule: gate.RulePrivateSends}).Sentence(gate.Facts{Host: host}); !strings.Contains(got, want) || strings.Contains(got, "named") {
			t.Errorf("where nobody can name the host: %q", got)
		}
	}
	long := strings.Repeat("x", 5000)
	if got := (gate.Verdict{Decision: gate.Ask, Rule: gate.RulePrivateSends}).Sentence(gate.Facts{Host: long}); len(got) > 1000 {
		t.Errorf("a sentence of %d bytes", len(got))
	}
}

// Whatever does not pass says something, and what passes says nothing: the gate
// goes by that.
func TestS3_EachVerdictButAPassHasASentence(t *testing.T) {
	seen := map[gate.Rule]bool{}
	each(func(f gate.Facts, s gate.Situation, p gate.Policy) {
		v := gate.Judge(f, s, p)
		seen[v.Rule] = true
		if sentence := v.Sentence(f); (sentence == "") != (v.Decision == gate.Pass) || strings.Contains(sentence, "could not be decided") {
			t.Fatalf("%s: %q", word(v), sentence)
		}
	})
	if len(seen) != 19 {
		t.Errorf("Judge has used %d rules: %v", len(seen), seen)
	}
}
