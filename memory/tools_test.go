package memory

import (
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/runtime/chat"
)

func reviews(spans ...string) rememberIn {
	return rememberIn{For: "me", Kind: Preference, Topic: "code review style", Text: "Prefers terse code reviews.", Spans: spans}
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
		"words of the thread":     {turnOf(alice).thread(bob, words).asks("remember that"), reviews(words), "no entry"},
		"words of nobody":         {turnOf(alice).asks("remember that " + words), reviews("I love very long reviews"), "no entry"},
		"no words":                {turnOf(alice).asks("remember that " + words), reviews(), "cites nothing"},
		"somebody has steered":    {turnOf(alice).asks("remember that "+words).steers(bob, "and me too"), reviews(words), "turn of one's own"},
		"a system actor":          {turnOf(chat.SystemActor("scheduler")).asks(words), reviews(words), "acts for no person"},
		"for somebody else":       {turnOf(alice).asks(words), rememberIn{For: "UBOB", Kind: Preference, Topic: "a b", Text: "c", Spans: []string{words}}, `"me" or "channel"`},
		"a channel's, in a DM":    {dm(turnOf(alice).asks("we deploy on Tuesdays")), rememberIn{For: "channel", Kind: Knowledge, Topic: "deploys", Text: "On Tuesdays.", Spans: []string{"we deploy on Tuesdays"}}, "only a public channel"},
		"a secret":                {turnOf(alice).asks("remember my password is hunter2!"), rememberIn{For: "me", Kind: Fact, Topic: "password", Text: "It is hunter2!", Spans: []string{"my password is hunter2!"}}, "never remembered"},
		"a secret in the span":    {turnOf(alice).asks("remember my password is hunter2!"), rememberIn{For: "me", Kind: Fact, Topic: "sign-in", Text: "Signs in.", Spans: []string{"my password is hunter2!"}}, "never remembered"},
		"a preference, laundered": {turnOf(alice).asks(words), rememberIn{For: "channel", Kind: Preference, Topic: "reviews", Text: "Terse.", Spans: []string{words}}, "kind"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
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
	got := k.call(turnOf(alice).asks("remember that David prefers long meetings").Run, "remember",
		rememberIn{For: "me", Kind: Fact, Topic: "David's meetings", Text: "David prefers long meetings.", Spans: []string{"David prefers long meetings"}})
	if !got.Error || strings.Contains(got.Text, "David") || strings.Contains(got.Text, "meeting") {
		t.Errorf("it was answered %q", got.Text)
	}
	k.holds(mine(alice))
}

func TestRecallTellsEachHisOwn(t *testing.T) {
	k := newKit(t)
	k.call(turnOf(alice).asks("I prefer terse code reviews").Run, "remember", reviews("I prefer terse code reviews"))
	k.call(turnOf(bob).asks("the deploy of the shop runs on Tuesdays").Run, "remember",
		rememberIn{For: "channel", Kind: Knowledge, Topic: "deploy of the shop", Text: "Runs on Tuesdays.", Spans: []string{"deploy of the shop runs on Tuesdays"}})

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
	k.call(turnOf(alice).asks("I prefer terse code reviews").Run, "remember", reviews("I prefer terse code reviews"))
	held, _ := k.store.Held(t.Context(), mine(alice), k.now)
	id := held[0].ID
	if got := k.call(turnOf(bob).asks("x").Run, "forget", forgetIn{IDs: []string{id}}); !got.Error {
		t.Errorf("Bob forgets what is Alice's: %+v", got)
	}
	k.holds(mine(alice), "Prefers terse code reviews.")
	got := k.call(turnOf(alice).asks("x").Run, "forget", forgetIn{About: "code review style"})
	if got.Error || !strings.Contains(got.DM, "terse") || strings.Contains(got.Text, "terse") {
		t.Errorf("Alice forgets: %+v", got)
	}
	k.holds(mine(alice))
	if got := k.call(turnOf(alice).asks("x").Run, "forget", forgetIn{IDs: []string{id}, BringBack: true}); got.Error {
		t.Errorf("Alice brings it back: %+v", got)
	}
	k.holds(mine(alice), "Prefers terse code reviews.")

	k.call(turnOf(bob).asks("the deploy of the shop runs on Tuesdays").Run, "remember",
		rememberIn{For: "channel", Kind: Knowledge, Topic: "deploy of the shop", Text: "Runs on Tuesdays.", Spans: []string{"deploy of the shop runs on Tuesdays"}})
	if got := k.call(turnOf(alice).asks("x").Run, "forget", forgetIn{About: "deploy of the shop"}); got.Error {
		t.Errorf("a member forgets what is the channel's: %+v", got)
	}
	k.holds(channel)
}

func TestThePromptHasWhatItsReaderMayKnow(t *testing.T) {
	k := newKit(t)
	k.call(turnOf(alice).asks("I prefer terse code reviews").Run, "remember", reviews("I prefer terse code reviews"))
	k.call(turnOf(bob).asks("the deploy of the shop runs on Tuesdays").Run, "remember",
		rememberIn{For: "channel", Kind: Knowledge, Topic: "deploy of the shop", Text: "Runs on Tuesdays.", Spans: []string{"deploy of the shop runs on Tuesdays"}})
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
// whatever it cites.
func TestS5_AChannelRemembersNothingPrivate(t *testing.T) {
	const words = "remember that we deploy on Tuesdays at 10"
	private := func(e *plugins.Entry) { e.Private = true }
	with := func() *play {
		return turnOf(alice).add(chat.Result, chat.Context, chat.Actor{}, "the merger with Initech is on 4 May", private).asks(words)
	}
	for name, c := range map[string]struct {
		run  *play
		text string
		want bool
	}{
		"nothing private":           {turnOf(alice).asks(words), "The team ships each week, on Tuesdays.", true},
		"words of the channel":      {with(), "We deploy on Tuesdays at 10.", true},
		"a word of what is private": {with(), "On Tuesdays Initech.", false},
		"a number":                  {with(), "We deploy on Tuesdays at 4.", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			got := k.call(c.run.Run, "remember", rememberIn{For: "channel", Kind: Knowledge, Topic: "deploys", Text: c.text, Spans: []string{"we deploy on Tuesdays"}})
			if got.Error == c.want || !c.want && !strings.Contains(got.Text, "everybody reads") {
				t.Errorf("it was answered %+v", got)
			}
			if kept := k.texts(channel); len(kept) == 1 != c.want {
				t.Errorf("the channel has %q", kept)
			}
		})
	}
}
