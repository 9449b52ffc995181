package memory

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// A call that is made again after a crash writes nothing more, in whatever other
// words the model puts it now.
func TestRememberMadeAgainWritesOnce(t *testing.T) {
	k := newKit(t)
	run := turnOf(alice).asks("remember that " + terse).Run
	k.model.propose = likesTerse
	first := k.callAs("again", run, "remember", reviews(terse))
	k.model.propose = minds(Preference, "how long a look takes", "Likes it when a review is short.")
	if second := k.callAs("again", run, "remember", reviews(terse)); first.Error || second != first {
		t.Errorf("first %+v, then %+v", first, second)
	}
	k.holds(mine(alice), "Prefers terse code reviews.")
}

// Asked for one thing, the model proposes another as well, from words of Alice's
// that nobody has pointed at.
func TestRememberKeepsWhatIsAskedFor(t *testing.T) {
	k := newKit(t)
	k.model.propose = answers(
		cites(Fact, "team", "Leads the payments team.", 2, "I lead the payments team"),
		cites(Preference, "code review style", "Prefers terse code reviews.", 1, terse))
	k.call(turnOf(alice).asks("remember that "+terse).steers(alice, "I lead the payments team").Run, "remember", reviews(terse))
	k.holds(mine(alice), "Prefers terse code reviews.")
}

// The calls of one turn that nobody is asked about forget one memory in all, one
// after the other or at once; a call that names several is asked about.
func TestForgettingSeveralIsAskedAbout(t *testing.T) {
	k := newKit(t)
	for i := range 5 {
		k.learns(fmt.Sprintf("thing%d", i), fmt.Sprintf("Likes thing%d.", i))
	}
	all := func() (all []named) {
		held, _ := k.store.Held(t.Context(), mine(alice), k.now)
		for _, m := range held {
			all = append(all, named{m.ID, m.Topic})
		}
		return all
	}
	run := turnOf(alice).asks("forget it").Run
	var group sync.WaitGroup
	for _, one := range all() {
		group.Go(func() { k.callAs("call_"+one.ID, run, "forget", forgetIn{Memories: []named{one}}) })
	}
	group.Wait()
	if left := k.texts(mine(alice)); len(left) != 4 {
		t.Errorf("one after the other %q are left", left)
	}
	asks := k.tool("forget").Asks
	for arguments, want := range map[string]bool{
		`{"about":"thing1"}`:                                                   false,
		`{"memories":[{"id":"m_1","topic":"a b"}]}`:                            false,
		`{"memories":[{"id":"m_1","topic":"a b"},{"id":"m_2","topic":"c d"}]}`: true,
		`{"memories":7}`:                                                       true,
	} {
		if asks([]byte(arguments)) != want {
			t.Errorf("%s is asked about: %v", arguments, !want)
		}
	}
	if got := k.call(run, "forget", forgetIn{Memories: all()}); got.Error || strings.Count(got.DM, "Likes") != 4 {
		t.Errorf("asked about, all of them were answered %+v", got)
	}
	k.holds(mine(alice))
}

// Calls that name one memory each, and about which its person was asked, each do
// what he has allowed.
func TestForgettingOneByOneIsDoneWhereEachIsAllowed(t *testing.T) {
	k := newKit(t)
	for i := range 3 {
		k.learns(fmt.Sprintf("thing%d", i), fmt.Sprintf("Likes thing%d.", i))
	}
	held, _ := k.store.Held(t.Context(), mine(alice), k.now)
	turn := turnOf(alice).asks("forget them")
	turn.add(chat.Consent, chat.Context, alice, "", func(e *plugins.Entry) {
		e.Decision = &chat.Decision{Wait: "3", Ending: chat.Ending{How: chat.ByAnswer}, Calls: []chat.Decided{
			{Call: "call_0", Allowed: true}, {Call: "call_1", Allowed: true}, {Call: "call_2", Allowed: true, Rule: chat.RuleConnect},
		}}
	})
	for i, m := range held {
		got := k.callAs(fmt.Sprintf("call_%d", i), turn.Run, "forget", forgetIn{Memories: []named{{m.ID, m.Topic}}})
		if got.Error != (i == 2) {
			t.Errorf("call %d is answered %+v", i, got)
		}
	}
	k.holds(mine(alice), held[2].Text)
}

// The person who is asked reads topics: one that is not the memory's own would
// hide what is forgotten.
func TestForgetNamesWhatItForgets(t *testing.T) {
	k := newKit(t)
	k.learns("code review style", "Prefers terse code reviews.")
	held, _ := k.store.Held(t.Context(), mine(alice), k.now)
	got := k.call(turnOf(alice).asks("forget lunch").Run, "forget", forgetIn{Memories: []named{{held[0].ID, "what is for lunch"}}})
	if !got.Error || strings.Contains(got.Text, "review") {
		t.Errorf("it was answered %+v", got)
	}
	k.holds(mine(alice), "Prefers terse code reviews.")
}

// Who may use no more of the model today is not learnt about, and is told so
// when he asks for it; a shared memory is paid for by whose turn it was.
func TestMemoriesArePaidFor(t *testing.T) {
	k := newKit(t)
	run := turnOf(alice).thread(bob, "the deploy of the shop runs on Tuesdays").asks(terse).Run
	k.model.propose = likesTerse
	k.ends(run)
	if len(k.model.payers) != 2 || slices.ContainsFunc(k.model.payers, func(a chat.Actor) bool { return a != alice }) {
		t.Errorf("they were paid for by %v", k.model.payers)
	}
	k.model.spent, k.model.payers = true, nil
	k.ends(run)
	if len(k.model.payers) != 2 {
		t.Errorf("who may use no more was asked for %d times", len(k.model.payers))
	}
	if got := k.call(run, "remember", reviews(terse)); !got.Error || !strings.Contains(got.Text, "used up") {
		t.Errorf("she is told %+v", got)
	}
	k.holds(mine(alice))
}

// An answer that breaks off leaves nothing in the next.
func TestAMalformedAnswerLeavesNothingBehind(t *testing.T) {
	k := newKit(t)
	asked := 0
	k.model.review = func(input string) string {
		if asked++; asked == 1 {
			return `{"verdicts":[{"memory":1,"sensitive":false,"of_others":false,"order":false}`
		}
		return `{"verdicts":[{"memory":1}]}`
	}
	k.learns("code review style", "Prefers terse code reviews.")
	if k.holds(mine(alice)); asked != 2 {
		t.Errorf("it was asked %d times", asked)
	}
}

// Who has read a book before it was erased, and begun anew, writes nothing back.
func TestWhatWasErasedIsNotWrittenBack(t *testing.T) {
	k := newKit(t)
	k.learns("code review style", "Prefers terse code reviews.")
	before, err := k.store.load(t.Context(), mine(alice))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.store.Erase(t.Context(), mine(alice)); err != nil {
		t.Fatal(err)
	}
	k.learns("team", "Leads the payments team.")
	for id := range before.entries {
		before.forget(k.now, "", id)
	}
	if written, err := k.store.write(t.Context(), mine(alice), before, before.purge(k.now)); written || err != nil {
		t.Errorf("written: %v, %v", written, err)
	}
	if all, _ := k.store.All(t.Context(), mine(alice)); len(all) != 1 {
		t.Errorf("there is %+v", all)
	}
}

// While the store refuses, nobody is told that anything was kept or forgotten,
// and the task is tried again.
func TestAStoreThatRefusesIsNoSuccess(t *testing.T) {
	k := newKit(t)
	k.model.propose = likesTerse
	run := turnOf(alice).asks("remember that " + terse).Run
	if err := k.store.redis.Set(t.Context(), k.store.book(mine(alice)), "no book", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"remember", "recall", "forget"} {
		raw := map[string]string{"remember": `{"for":"me","spans":["` + terse + `"]}`, "recall": `{}`, "forget": `{"about":"reviews"}`}[name]
		if result, err := k.tool(name).Call(t.Context(), plugins.Call{Run: run, Key: "t/1"}, []byte(raw)); err == nil {
			t.Errorf("%s was answered %+v", name, result)
		}
	}
	for _, task := range k.x.Tasks {
		if err := task.Run(t.Context(), plugins.Ended{Run: run, Outcome: plugins.Done, Key: task.Name, Try: 1}); task.Name == "personal" && err == nil {
			t.Errorf("the task %s is done", task.Name)
		}
	}
}

// What somebody has just pressed is in his home tab, however much there is.
func TestTheHomeTabShowsWhatHasChangedLast(t *testing.T) {
	k := newKit(t)
	for i := range 3 {
		k.learns(fmt.Sprintf("thing%d", i), fmt.Sprintf("Likes thing%d.", i))
		k.now = k.now.Add(day / 2)
	}
	held, _ := k.store.Held(t.Context(), mine(alice), k.now)
	k.presses(alice, buttonForget, held[0].ID)
	if items := k.sees(alice); len(items) != 4 || items[1].ID != held[0].ID || items[1].Buttons[0].Name != buttonBringBack {
		t.Errorf("Alice sees %+v", items)
	}
}

// A list that is longer than a direct message may be says so, and has the newest.
func TestALongListSaysWhatIsMissing(t *testing.T) {
	k := newKit(t)
	var all []Memory
	for i := range most {
		all = append(all, Memory{
			Kind: Fact, Topic: fmt.Sprintf("thing%d", i), Text: fmt.Sprintf("thing%d %s", i, strings.Repeat("x", 350)), Schema: schema,
			Created: k.now, Expires: k.now.Add(day),
		})
		k.now = k.now.Add(1)
	}
	if _, err := k.store.Add(t.Context(), mine(alice), k.now, all...); err != nil {
		t.Fatal(err)
	}
	got := k.call(turnOf(alice).asks("what do you know about me?").Run, "recall", recallIn{})
	if len(got.DM) > 64<<10 || !strings.Contains(got.DM, "thing199 ") || strings.Contains(got.DM, "thing0 ") || !strings.Contains(got.DM, "older ones") {
		t.Errorf("it is %d bytes long: %.200s", len(got.DM), got.DM)
	}
}
