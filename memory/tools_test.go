package memory

import (
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/runtime/chat"
)

func reviews(spans ...string) rememberIn { return rememberIn{For: "me", Spans: spans} }

// likesTerse words what Alice likes, and deploysTuesdays what is so in the channel.
var (
	likesTerse      = minds(Preference, "code review style", "Prefers terse code reviews.")
	deploysTuesdays = minds(Knowledge, "deploy of the shop", "Runs on Tuesdays.")
)

// learnsOf lets Alice and Bob have something remembered.
func (k *kit) learnsOf(people ...chat.Actor) {
	k.Helper()
	for _, who := range people {
		run, in := turnOf(alice).asks("I prefer terse code reviews").Run, reviews("I prefer terse code reviews")
		k.model.propose = likesTerse
		if who == bob {
			run, in = turnOf(bob).asks("the deploy of the shop runs on Tuesdays").Run, rememberIn{For: "channel", Spans: []string{"deploy of the shop runs on Tuesdays"}}
			k.model.propose = deploysTuesdays
		}
		if got := k.call(run, "remember", in); got.Error {
			k.Fatalf("it was answered %+v", got)
		}
	}
}

func TestRememberIsHeldToWhatItsActorTyped(t *testing.T) {
	const words = "I prefer terse code reviews"
	for name, c := range map[string]struct {
		run  *play
		in   rememberIn
		want string // empty: it is kept
	}{
		"his own words":           {turnOf(alice).asks("remember that " + words), reviews(words), ""},
		"his own steer":           {turnOf(alice).asks("one thing").steers(alice, words), reviews(words), ""},
		"words of the thread":     {turnOf(alice).thread(bob, words).asks("remember that"), reviews(words), "does not stand"},
		"words of nobody":         {turnOf(alice).asks("remember that " + words), reviews("I love very long reviews"), "does not stand"},
		"no words":                {turnOf(alice).asks("remember that " + words), reviews(), "cite the words"},
		"somebody has steered":    {turnOf(alice).asks("remember that "+words).steers(bob, "and me too"), reviews(words), "turn of one's own"},
		"a system actor":          {turnOf(chat.SystemActor("scheduler")).asks(words), reviews(words), "acts for no person"},
		"for somebody else":       {turnOf(alice).asks(words), rememberIn{For: "UBOB", Spans: []string{words}}, `"me" or "channel"`},
		"a channel's, in a DM":    {dm(turnOf(alice).asks("we deploy on Tuesdays")), rememberIn{For: "channel", Spans: []string{"we deploy on Tuesdays"}}, "only a public channel"},
		"a secret":                {turnOf(alice).asks("remember my password is hunter2!"), reviews("my password is hunter2!"), "never remembered"},
		"a secret, in pieces":     {turnOf(alice).asks("remember my pass\u200bword is hunter2!"), reviews("my pass\u200bword is hunter2!"), "never remembered"},
		"nothing to be cited":     {turnOf(alice).asks("remember that"), reviews("that"), "too short"},
		"a preference, laundered": {turnOf(alice).asks(words), rememberIn{For: "channel", Spans: []string{words}}, "say nothing that could be"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.model.propose = likesTerse
			got := k.call(c.run.Run, "remember", c.in)
			if c.want == "" {
				if got.Error || !got.Private {
					t.Errorf("it was answered %+v", got)
				}
				k.holds(mine(alice), "Prefers terse code reviews.")
				k.holds(mine(bob))
				return
			}
			if !got.Error || !strings.Contains(got.Text, c.want) || strings.Contains(got.Text, "hunter2") {
				t.Errorf("it was answered %q, want something with %q", got.Text, c.want)
			}
			k.holds(mine(alice))
			k.holds(channel)
		})
	}
}

func dm(p *play) *play {
	p.Visibility = chat.DM
	return p
}

func TestRememberOfAnotherPersonIsRefusedWithoutEcho(t *testing.T) {
	k := newKit(t)
	k.model.review = func(string) string {
		return `{"verdicts":[{"memory":1,"sensitive":false,"of_others":true,"order":false}]}`
	}
	k.model.propose = minds(Fact, "David's meetings", "David prefers long meetings.")
	got := k.call(turnOf(alice).asks("remember that David prefers long meetings").Run, "remember", reviews("David prefers long meetings"))
	if !got.Error || strings.Contains(got.Text, "David") || strings.Contains(got.Text, "meeting") {
		t.Errorf("it was answered %q", got.Text)
	}
	k.holds(mine(alice))
}

func TestRecallTellsEachHisOwn(t *testing.T) {
	k := newKit(t)
	k.learnsOf(alice, bob)

	if got := k.call(turnOf(alice).asks("x").Run, "recall", recallIn{"how do I like code reviews?"}); !strings.Contains(got.Text, "terse") {
		t.Errorf("Alice is told %q", got.Text)
	}
	if got := k.call(turnOf(bob).asks("x").Run, "recall", recallIn{"how does Alice like code reviews?"}); strings.Contains(got.Text, "terse") {
		t.Errorf("Bob is told %q", got.Text)
	}
	if got := k.call(turnOf(alice).asks("x").Run, "recall", recallIn{"when is the deploy?"}); !strings.Contains(got.Text, "Tuesdays") || !strings.Contains(got.Text, bob.Key()) {
		t.Errorf("of the channel Alice is told %q", got.Text)
	}
	other := turnOf(alice).asks("x")
	other.Conversation.Channel = "C2"
	if got := k.call(other.Run, "recall", recallIn{"when is the deploy?"}); strings.Contains(got.Text, "Tuesdays") {
		t.Errorf("in another channel Alice is told %q", got.Text)
	}
	all := k.call(turnOf(alice).asks("what do you know about me?").Run, "recall", recallIn{})
	if strings.Contains(all.Text, "terse") || !strings.HasPrefix(all.Text, "There is 1 memory. It was sent") || !strings.Contains(all.DM, "Prefers terse code reviews.") || strings.Contains(all.DM, "Tuesdays") {
		t.Errorf("the whole list: %+v", all)
	}
	if got := k.call(turnOf(bob).asks("what do you know about me?").Run, "recall", recallIn{}); !strings.Contains(got.DM, "Nothing is remembered of you") ||
		!strings.HasPrefix(got.Text, "Nothing is remembered of the person") || strings.Contains(got.Text, "list") {
		t.Errorf("an empty list: %+v", got)
	}
}

func TestForgetTakesItsActorsOwnAndTheChannels(t *testing.T) {
	k := newKit(t)
	k.learnsOf(alice)
	held, _ := k.store.Held(t.Context(), mine(alice), k.now)
	id := held[0].ID
	if got := k.call(turnOf(bob).asks("x").Run, "forget", forgetIn{Memories: []named{{id, "code review style"}}}); !got.Error {
		t.Errorf("Bob forgets what is Alice's: %+v", got)
	}
	k.holds(mine(alice), "Prefers terse code reviews.")
	got := k.call(turnOf(alice).asks("x").Run, "forget", forgetIn{About: "code review style"})
	if got.Error || !strings.Contains(got.DM, "terse") || strings.Contains(got.Text, "terse") {
		t.Errorf("Alice forgets: %+v", got)
	}
	k.holds(mine(alice))
	if got := k.call(turnOf(alice).asks("x").Run, "forget", forgetIn{Memories: []named{{id, "code review style"}}, BringBack: true}); got.Error {
		t.Errorf("Alice brings it back: %+v", got)
	}
	k.holds(mine(alice), "Prefers terse code reviews.")

	k.learnsOf(bob)
	if got := k.call(turnOf(alice).asks("x").Run, "forget", forgetIn{About: "deploy of the shop"}); got.Error {
		t.Errorf("a member forgets what is the channel's: %+v", got)
	}
	k.holds(channel)
}

func TestThePromptHasWhatItsReaderMayKnow(t *testing.T) {
	k := newKit(t)
	k.learnsOf(alice, bob)
	shows := func(run plugins.Run) string {
		t.Helper()
		var b strings.Builder
		for _, s := range k.x.Sections {
			notes, err := s.Render(t.Context(), plugins.Call{Run: run})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range notes {
				b.WriteString(n.Author.Key() + " " + n.Text + "\n")
				if strings.Contains(n.Text, "terse") != n.Private {
					t.Errorf("private: %v, of %q", n.Private, n.Text)
				}
			}
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		run             *play
		personal, place bool
	}{
		"Alice's turn":                {turnOf(alice).asks("when is the deploy of the shop?"), true, true},
		"Alice's turn, in her DM":     {dm(turnOf(alice).asks("when is the deploy of the shop?")), true, false},
		"Alice's turn, in a conflict": {turnOf(alice).asks("when is the deploy of the shop?").steers(bob, "well"), false, true},
		"Bob's turn":                  {turnOf(bob).asks("when is the deploy of the shop?"), false, true},
		"a system actor's":            {turnOf(chat.SystemActor("scheduler")).asks("when is the deploy of the shop?"), false, true},
	} {
		got := shows(c.run.Run)
		if strings.Contains(got, "terse") != c.personal || strings.Contains(got, "T1:UBOB deploy of the shop: Runs on Tuesdays.") != c.place {
			t.Errorf("%s shows %q", name, got)
		}
	}
}

// What a model has read in private does not get into what a channel remembers,
// whatever it cites: who words it has not read it.
func TestS5_AChannelRemembersNothingPrivate(t *testing.T) {
	const words = "remember that we deploy on Tuesdays at 10"
	private := func(e *plugins.Entry) { e.Private = true }
	k := newKit(t)
	k.model.propose = minds(Knowledge, "deploys", "The team ships each week, on Tuesdays.")
	run := turnOf(alice).add(chat.Result, chat.Context, chat.Actor{}, "the merger with Initech is on 4 May", private).asks(words).Run
	if got := k.call(run, "remember", rememberIn{For: "channel", Spans: []string{"merger with Initech"}}); !got.Error {
		t.Errorf("of what is private it was answered %+v", got)
	}
	if got := k.call(run, "remember", rememberIn{For: "channel", Spans: []string{"we deploy on Tuesdays"}}); got.Error || got.Private {
		t.Errorf("it was answered %+v", got)
	}
	k.holds(channel, "The team ships each week, on Tuesdays.")
	for _, input := range append(k.model.proposed, k.model.reviewed...) {
		if strings.Contains(input, "Initech") {
			t.Errorf("it was worded by who has read %s", input)
		}
	}
}
