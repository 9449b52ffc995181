package golden

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// badProvider is what the provider does to every request, and what its actor is
// told in the end.
var badProviders = []struct {
	name string
	step scripted.Step
	told string
	// attempts are how many requests one turn may make at most.
	attempts int
}{
	{"429 for ever", scripted.Status(429, ""), "gave no usable answer", 3},
	{"429 with a wait that is too long", scripted.Status(429, "3600"), "wait longer than I may", 1},
	{"500 for ever", scripted.Status(500, ""), "gave no usable answer", 3},
	{"hangs", scripted.Faulty(scripted.HangFault), "gave no usable answer", 3},
	{"falls silent in the middle", scripted.Faulty(scripted.SilentFault), "gave no usable answer", 3},
	{"drips a byte at a time", scripted.Faulty(scripted.DripFault), "gave no usable answer", 3},
	{"breaks off in the middle", scripted.Faulty(scripted.CutFault), "gave no usable answer", 3},
	{"ends without an end", scripted.Faulty(scripted.UnfinishedFault), "gave no usable answer", 3},
	{"speaks no JSON", scripted.Faulty(scripted.GarbageFault), "gave no usable answer", 3},
	{"says nothing", scripted.Empty(), "gave no usable answer", 3},
	{"refuses for good", scripted.Step{Status: 400, Body: `{"error":{"message":"provider words sk-abcdef123456","type":"invalid_request_error"}}`}, "refused this request", 1},
}

// A provider that misbehaves ends the turn within its bounds, which are minutes
// as shipped and a tenth of a second here. The actor is told in one honest
// sentence with the turn's name; half an answer is never shown, and neither are
// the provider's words.
func TestBadProvidersEndTheTurnWithinItsBound(t *testing.T) {
	t.Parallel()
	world := simulator.DefaultWorld()
	casts := make([]cast, len(badProviders))
	steps := map[string]scripted.Step{}
	for i, bad := range badProviders {
		casts[i] = castOf(i)
		casts[i].join(world)
		bad.step.Every = 5 * time.Millisecond
		steps[casts[i].number] = bad.step
	}
	p := newPlace(t, world)
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		return steps[actors.FindStringSubmatch(r.Messages[0].Content)[1]]
	})
	r := p.StartOther(t, apptest.Intervals{
		ModelIdle: 100 * time.Millisecond, ModelAttempt: 300 * time.Millisecond, ModelWait: 5 * time.Second,
		ModelWaits: []time.Duration{10 * time.Millisecond, 20 * time.Millisecond},
	})
	for i, bad := range badProviders {
		t.Run(bad.name, func(t *testing.T) {
			c := casts[i]
			root := p.Slack.Say(c.id("Alice"), c.channel("", ""), "<@UBOT> hello")
			post := p.Posted(t, c.channel("", ""), root, 1)[0]
			checkSentence(t, post, bad.told)
			if n := attempts(p, c); n > bad.attempts {
				t.Errorf("%d attempts were made", n)
			}
		})
	}
	r.Term(t)
	for i, bad := range badProviders {
		n := 0
		for _, c := range p.Slack.Calls("chat.postMessage") {
			if c.Args["channel"] == casts[i].channel("", "") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d posts", bad.name, n)
		}
	}
}

func attempts(p *apptest.Place, c cast) int {
	n := 0
	for _, r := range p.Model.Requests() {
		if strings.Contains(r.Messages[0].Content, "T1:"+c.id("Alice")) {
			n++
		}
	}
	return n
}

var sentence = regexp.MustCompile(`^[^.]+\bturn ([0-9a-z]{6})\)?\.$`)

// checkSentence: one sentence, with the turn's name, in our own words.
func checkSentence(t *testing.T, post simulator.Message, told string) {
	t.Helper()
	text := apptest.ShownText(post)
	m := sentence.FindStringSubmatch(text)
	if m == nil || !strings.Contains(text, told) {
		t.Fatalf("the actor is told %q", text)
	}
	if turn := apptest.TurnOf(post); !strings.HasSuffix(turn, m[1]) {
		t.Errorf("turn %s is called %s", turn, m[1])
	}
	for _, foreign := range []string{"half of an answer", "scripted", "provider words", "sk-", "429", "500"} {
		if strings.Contains(text, foreign) {
			t.Errorf("the actor is told %q", text)
		}
	}
}

// The turn's own time, in the shipped binary: TURN_TIMEOUT ends what the model's
// bounds have not ended yet.
func TestTurnTimeoutEndsATurnWhoseProviderHangs(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil, "TURN_TIMEOUT=1s")
	p.Model.Then(scripted.Faulty(scripted.HangFault), scripted.Answer("The next turn."))
	r := p.Start(t)
	began := time.Now()
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> hello")
	p.Asked(t, 1)
	p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> and me?", simulator.SayOptions{Thread: root})
	posts := p.Posted(t, simulator.General, root, 2)
	if took := time.Since(began); took < time.Second {
		t.Errorf("it ended after %v", took)
	}
	checkSentence(t, posts[0], "used up its time")
	if text := apptest.ShownText(posts[1]); text != "The next turn." {
		t.Errorf("who waited is answered %q", text)
	}
	r.Term(t)
}
