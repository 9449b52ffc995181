package memory

import (
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const terse = "I prefer terse code reviews"

// A try that has lost its lease works on beside the next one; the model says it
// in other words to each.
func TestTwoTriesOfOneTaskAtOnceWriteOnce(t *testing.T) {
	k := newKit(t)
	var tries sync.WaitGroup
	both, said := make(chan struct{}), 0
	k.model.propose = func(string) string {
		said++
		topic, text := "code review style", "Prefers terse code reviews."
		if said == 2 {
			topic, text = "how long a look takes", "Likes it when a review is short."
			close(both)
		}
		return answers(cites(Preference, topic, text, 1, terse))("")
	}
	k.model.review = func(input string) string {
		k.model.mu.Unlock() // so that the other try can ask as well
		<-both
		k.model.mu.Lock()
		return passes(input)
	}
	run := dm(turnOf(alice).asks(terse)).Run
	for range 2 {
		tries.Go(func() { k.ends(run) })
	}
	tries.Wait()
	if held := k.texts(mine(alice)); len(held) != 1 {
		t.Errorf("one turn has made %q", held)
	}
}

// Alice asks to have something remembered, in a thread in which Bob has said
// how he likes things; the model words it as he did and cites her.
func TestWhatIsRememberedForAliceIsWordedFromHerWordsAlone(t *testing.T) {
	k := newKit(t)
	run := turnOf(alice).thread(bob, terse).asks("please remember what is said here").Run
	k.call(run, "remember", reviews("please remember what is said here"))
	k.holds(mine(alice))
	for _, input := range k.model.proposed {
		if strings.Contains(input, "terse") {
			t.Errorf("it was worded by who has read %s", input)
		}
	}
}

// What somebody has forgotten leaves no older wording of the same behind.
func TestForgettingTakesWhatWasReplacedAlong(t *testing.T) {
	k := newKit(t)
	k.learns("code review style", "Prefers terse code reviews.")
	k.learns("code review style", "Wants long and friendly explanations.")
	held, _ := k.store.Held(t.Context(), mine(alice), k.now)
	if len(held) != 1 {
		t.Fatalf("held: %+v", held)
	}
	k.presses(alice, buttonForget, held[0].ID)
	k.now = k.now.Add(undo - time.Minute)
	k.presses(alice, buttonBringBack, held[0].ID)
	k.holds(mine(alice), "Wants long and friendly explanations.")
	if all, _ := k.store.All(t.Context(), mine(alice)); len(all) != 2 {
		t.Errorf("with its history it is brought back: %+v", all)
	}
	k.presses(alice, buttonForget, held[0].ID)
	k.now = k.now.Add(undo)
	if _, err := k.store.Clean(t.Context(), k.now); err != nil {
		t.Fatal(err)
	}
	if all, _ := k.store.All(t.Context(), mine(alice)); len(all) != 0 {
		t.Errorf("a day after it was forgotten there is %+v", all)
	}
}

// A call that is made again after a crash says what the first one did.
func TestForgetMadeAgainSaysTheSame(t *testing.T) {
	k := newKit(t)
	k.learns("code review style", "Prefers terse code reviews.")
	run := turnOf(alice).asks("forget how I like reviews").Run
	first := k.callAs("again", run, "forget", map[string]any{"about": "code review style"})
	second := k.callAs("again", run, "forget", map[string]any{"about": "code review style"})
	if first.Error || second != first {
		t.Errorf("first %+v, then %+v", first, second)
	}
}

func TestWhatWasForgottenCanBeRememberedAgain(t *testing.T) {
	k := newKit(t)
	k.model.propose = likesTerse
	run := turnOf(alice).asks("remember that " + terse).Run
	for range 2 {
		if got := k.call(run, "remember", reviews(terse)); got.Error {
			t.Fatalf("it was answered %+v", got)
		}
		held, _ := k.store.Held(t.Context(), mine(alice), k.now)
		if len(held) != 1 {
			t.Fatalf("there is %+v", held)
		}
		k.presses(alice, buttonForget, held[0].ID)
		k.holds(mine(alice))
	}
}

func TestBringingBackFindsWhatWasForgotten(t *testing.T) {
	k := newKit(t)
	k.learns("code review style", "Prefers terse code reviews.")
	held, _ := k.store.Held(t.Context(), mine(alice), k.now)
	k.presses(alice, buttonForget, held[0].ID)
	k.learns("style of prose", "Wants friendly prose in each code review.")
	got := k.call(turnOf(alice).asks("bring it back").Run, "forget", map[string]any{"about": "friendly code review", "bring_back": true})
	if got.Error {
		t.Errorf("it was answered %+v", got)
	}
}

// What somebody has edited meanwhile he does not say any more.
func TestAnEditedMessageIsEvidenceAsItReadsNow(t *testing.T) {
	k := newKit(t)
	k.model.propose = answers(cites(Preference, "code review style", "Prefers terse code reviews.", 1, terse),
		cites(Preference, "code review style", "Prefers terse code reviews.", 2, terse))
	run := turnOf(alice).asks(terse)
	first := run.Transcript[0].Message
	run.add(chat.Steer, chat.Instruction, alice, "I prefer long code reviews", func(e *plugins.Entry) { e.Message = first })
	k.ends(run.Run)
	k.holds(mine(alice))
	k.holds(channel)
	for _, input := range k.model.proposed {
		if strings.Contains(input, "terse") || !strings.Contains(input, "long") {
			t.Errorf("the model has read %s", input)
		}
	}
}

func TestNothingIsCitedThatTheModelHasNotRead(t *testing.T) {
	k := newKit(t)
	k.model.propose = answers(cites(Preference, "code review style", "Prefers terse code reviews.", 2, terse))
	k.ends(dm(turnOf(alice).asks(strings.Repeat("a long text ", maxInput/12)).steers(alice, strings.Repeat("and more ", 100)+terse)).Run)
	k.holds(mine(alice))
}

func TestInvisibleCharactersHideNothing(t *testing.T) {
	k := newKit(t)
	for _, text := range []string{"Prefers terse code reviews.", "Prefers ter\u200bse code\u2060 reviews.", "Prefers terse\u202e code reviews.", "Prefers terse\ncode reviews.", "Prefers terse code reviews.\U000e0041"} {
		k.learns("code review style", text)
	}
	k.holds(mine(alice), "Prefers terse code reviews.")
	k.learns("a way in", "Signs in with ghp_\u200babcdefghijklmnopqrstuvwxyz0123456789.")
	k.holds(mine(alice), "Prefers terse code reviews.")
}

// What only looks like words that stand there does not stand there.
func TestASpanStandsThereCharacterByCharacter(t *testing.T) {
	k := newKit(t)
	run := dm(turnOf(alice).asks("I prefer the caf\u00e9 for reviews").steers(alice, "and long walks")).Run
	for name, c := range map[string]struct {
		entry int
		span  string
		want  bool
	}{
		"as it stands":              {1, "the caf\u00e9 for reviews", true},
		"over a line end":           {1, "the caf\u00e9\n for\u00a0reviews", true},
		"decomposed":                {1, "the cafe\u0301 for reviews", false},
		"a Cyrillic letter":         {1, "the c\u0430f\u00e9 for reviews", false},
		"a hidden character":        {1, "the caf\u00e9\u200b for reviews", false},
		"in other letters":          {1, "THE CAF\u00c9 FOR REVIEWS", false},
		"over two messages":         {1, "caf\u00e9 for reviews and long walks", false},
		"of the other message":      {1, "and long walks", false},
		"with the JSON around it":   {1, `reviews"},{"entry":2`, false},
		"with what is not a number": {-1, "the caf\u00e9 for reviews", false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := accept(cites(Preference, "place for reviews", "Prefers the caf\u00e9.", c.entry, c.span), mine(alice), run.Turn, personalEvidence(run), k.now)
			if (err == nil) != c.want {
				t.Errorf("it became %+v, %v", m, err)
			}
		})
	}
}

func TestASpanSaysSomething(t *testing.T) {
	k := newKit(t)
	run := dm(turnOf(alice).asks("one thing ----------- and ……………………… another")).Run
	for _, span := range []string{"-----------", "………………………", "– – – – – –"} {
		k.model.propose = answers(cites(Preference, "reviews", "Prefers terse code reviews.", 1, span))
		k.ends(run)
		k.holds(mine(alice))
	}
}
