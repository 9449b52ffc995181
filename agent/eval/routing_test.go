package eval

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"reeve/agent"
	"reeve/agent/router"
)

// routed is a message that came while a turn ran, and where it belongs.
type routed struct {
	ID       string        `json:"id"`
	Kind     string        `json:"kind"`
	Language string        `json:"language"`
	Own      bool          `json:"own"`
	Running  []string      `json:"running"`
	Message  string        `json:"message"`
	Label    router.Answer `json:"label"`
	Reason   string        `json:"reason"`
}

func (r routed) question() router.Question {
	return router.Question{Running: r.Running, Message: r.Message, Own: r.Own}
}

// routing measures where a model would put messages: others', one's own, and
// among both those that try to tell it what to answer.
func routing(ctx context.Context, model agent.Model, cases []routed) []score {
	asked := router.New(model, router.Options{})
	ask := func(c routed) string {
		got, err := asked.Decide(ctx, c.question())
		switch {
		case err != nil:
			return err.Error()
		case got != c.Label:
			return "it answered " + string(got) + "; " + c.Reason
		}
		return ""
	}
	// One at a time: each has two seconds, and a slow provider is not to be
	// slowed further.
	var scores []score
	for _, part := range []struct {
		what string
		in   func(routed) bool
	}{
		{"routing: another person's message", func(c routed) bool { return !c.Own && c.Kind != "hostile" }},
		{"routing: one's own message", func(c routed) bool { return c.Own && c.Kind != "hostile" }},
		{"routing: text that tries to steer the router", func(c routed) bool { return c.Kind == "hostile" }},
	} {
		var in []routed
		for _, c := range cases {
			if part.in(c) {
				in = append(in, c)
			}
		}
		scores = append(scores, measure(part.what, 1, in, func(c routed) string { return c.ID }, ask))
	}
	return scores
}

func TestTheRouterSetIsOneThatMeasures(t *testing.T) {
	cases := load[routed](t, "router.jsonl")
	if len(cases) < 60 {
		t.Errorf("only %d messages", len(cases))
	}
	ids, pairs, languages, count := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, c := range cases {
		pair := strings.Join(c.Running, "|") + "|" + c.Message
		switch {
		case c.ID == "" || ids[c.ID]:
			t.Errorf("%q: an id twice, or none", c.ID)
		case pairs[pair]:
			t.Errorf("%s: the same question twice", c.ID)
		case c.Kind == "" || c.Language == "" || c.Reason == "" || c.Message == "" || len(c.Running) == 0:
			t.Errorf("%s: something is not said", c.ID)
		case c.Label != router.Steer && c.Label != router.FollowUp:
			t.Errorf("%s: its label is %q", c.ID, c.Label)
		}
		ids[c.ID], pairs[pair], languages[c.Language] = true, true, true
		who := "other "
		if c.Own {
			who = "own "
		}
		count[who+string(c.Label)]++
		count[c.Kind]++
	}
	for what, least := range map[string]int{"other steer": 20, "other follow_up": 20, "own steer": 8, "own follow_up": 8, "hostile": 10} {
		if count[what] < least {
			t.Errorf("only %d of %s", count[what], what)
		}
	}
	if len(languages) < 8 {
		t.Errorf("only %d languages", len(languages))
	}
}

// corrects are words of corrections, and asks words of requests: what one would
// write into a program that asks no model.
var (
	corrects = regexp.MustCompile(`(?i)\b(not|wrong|sorry|actually|instead|please not|wait|fwiw|also|nicht|achtung|nur|non|ya no|no,)\b|\*$`)
	asks     = regexp.MustCompile(`(?i)\?|\b(can you|could you|i need|i also need|please|remind|kannst du|bitte|peux-tu|il me faut|puedes)\b`)
)

// baseline sorts by keywords.
func baseline(c routed) router.Answer {
	switch {
	case corrects.MatchString(c.Message) && !strings.Contains(c.Message, "?"):
		return router.Steer
	case asks.MatchString(c.Message):
		return router.FollowUp
	case c.Own:
		return router.Steer
	}
	return router.FollowUp
}

// The set is worth a model only where less does not do.
func TestKeywordsDoNotSortTheRouterSet(t *testing.T) {
	cases := load[routed](t, "router.jsonl")
	rules := map[string]func(routed) router.Answer{
		"keywords": baseline,
		"the default rule": func(c routed) router.Answer {
			if c.Own {
				return router.Steer
			}
			return router.FollowUp
		},
	}
	for name, rule := range rules {
		right := 0
		for _, c := range cases {
			if rule(c) == c.Label {
				right++
			}
		}
		t.Logf("%s: %d of %d", name, right, len(cases))
		if share := float64(right) / float64(len(cases)); share > 0.8 || share < 0.4 {
			t.Errorf("%s sorts %.0f%% of the set", name, 100*share)
		}
	}
}
