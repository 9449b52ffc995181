package gaps

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

// The shipped binary with the shipped intervals, and nobody alive for longer
// than five seconds: what was said enters once, in its order, each for its
// author, and a second gap doubles nothing.
func TestP11_SaidWhileNoProcessLives(t *testing.T) {
	p := newPlace(t)
	first := p.Start(t)
	p.signed(1)
	thread := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> q1")
	p.answered(simulator.General, thread, "UALICE asked q1")
	if n := first.Journal.Holding("reading back"); n > 0 {
		t.Error("the first start ever reads back")
	}
	first.Kill()
	p.pause(6 * time.Second)

	dm := p.quietly(simulator.Alice, simulator.AliceDM, "q2", "")
	p.quietly(simulator.Alice, simulator.AliceDM, "q3", dm)
	fresh := p.quietly(simulator.Bob, simulator.General, "<@UBOT> q4", "")
	p.quietly(simulator.Carol, simulator.General, "carol says p5", thread)
	p.quietly(simulator.Bob, simulator.General, "<@UBOT> q6", thread)
	p.quietly(simulator.Alice, simulator.General, "nobody is asked q7", "")

	second := p.Start(t)
	p.log(second, 1, `"gap read back"`, `"closed":true`)
	p.answered(simulator.General, thread, "UALICE asked q1", "UBOB asked q6")
	p.answered(simulator.General, fresh, "UBOB asked q4")
	// The second of Alice's messages finds the first running, or waiting.
	inDM := func() string { return strings.Join(p.Texts(simulator.AliceDM, dm), "; ") }
	if err := p.Slack.WaitUntil(p.ctx, func() bool { return strings.Contains(inDM(), "q3") }); err != nil {
		t.Fatal(err)
	}
	if got := inDM(); got != "UALICE asked q2; UALICE asked q3" && got != "UALICE asked q2 and q3" {
		t.Errorf("in the DM: %q", got)
	}
	// What Carol said without addressing the bot is told to Bob's turn, as hers.
	told := false
	for _, r := range p.Model.Requests() {
		hers := r.With("user", "carol says p5")
		told = told || len(hers) == 1 && strings.Contains(hers[0].Content, `author="T1:UCAROL"`) && len(r.With("user", "q6")) > 0
	}
	if !told {
		t.Error("Bob's turn does not know what was said before it")
	}

	posts := len(p.Slack.Calls("chat.postMessage"))
	second.Kill()
	p.pause(6 * time.Second)
	last := p.quietly(simulator.Bob, simulator.BobDM, "q8", "")
	third := p.Start(t)
	p.log(third, 1, `"gap read back"`, `"entered":1,`, `"closed":true`)
	p.answered(simulator.BobDM, last, "UBOB asked q8")
	if n := len(p.Slack.Calls("chat.postMessage")); n != posts+1 {
		t.Errorf("%d posts after the second gap, want 1", n-posts)
	}
}

// Two replicas whose sockets are all away: one of them reads, once.
func TestP11_SaidWhileTheSocketsAreAway(t *testing.T) {
	p := newPlace(t)
	p.StartOther(t, quickly)
	p.StartOther(t, quickly)
	p.signed(1)
	p.cut()
	p.pause(gapAfter * 4 / 3)
	root := p.quietly(simulator.Alice, simulator.General, "<@UBOT> q1", "")
	p.quietly(simulator.Bob, simulator.General, "<@UBOT> q2", root)
	p.join(4)
	p.answered(simulator.General, root, "UALICE asked q1", "UBOB asked q2")
	read := func() int { return p.Journal.Holding(`"gap read back"`) }
	p.Until(t, "the gap is read", func() bool { return read() > 0 })
	// A replica that were to read too would have begun with its next sign.
	p.signed(10)
	if n := len(p.Slack.Calls("users.conversations")); n != 1 || read() != 1 {
		t.Errorf("the channels were listed %d times, the gap read %d times", n, read())
	}
	// A message that comes now is like any other.
	again := p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> q3")
	p.answered(simulator.General, again, "UBOB asked q3")
}

// Messages that Redis could not take were not acknowledged, and Slack has given
// them up. Those that still wait in the process enter when Redis is back, in no
// order among people, and the rest is read back: each enters once.
func TestP11_SaidWhileRedisIsAway(t *testing.T) {
	p := newPlace(t)
	r := p.StartOther(t, quickly)
	p.signed(1)
	p.redis.Kill()
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> q1")
	p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> q2", simulator.SayOptions{Thread: root})
	dm := p.Slack.Say(simulator.Bob, simulator.BobDM, "q3")
	if err := p.Slack.WaitSettled(p.ctx); err != nil {
		t.Fatal(err)
	}
	for _, e := range p.Slack.Envelopes() {
		if e.State != simulator.GivenUp {
			t.Fatalf("an envelope is %s while Redis is away", e.State)
		}
	}
	p.pause(gapAfter)
	p.redis.Restart()
	p.log(r, 1, `"gap read back"`, `"closed":true`)
	p.Posted(t, simulator.General, root, 2)
	got := p.Texts(simulator.General, root)
	slices.Sort(got)
	if want := []string{"UALICE asked q1", "UBOB asked q2"}; !slices.Equal(got, want) {
		t.Errorf("answers %q, want %q", got, want)
	}
	p.answered(simulator.BobDM, dm, "UBOB asked q3")
}

// Whoever reads dies in the middle: the gap stands, and another replica reads
// it from its beginning.
func TestP11_AKilledReadersGapIsTakenOver(t *testing.T) {
	p := newPlace(t)
	one := p.StartOther(t, quickly)
	p.signed(1)
	p.cut()
	p.pause(gapAfter * 4 / 3)
	root := p.quietly(simulator.Alice, simulator.General, "<@UBOT> q1", "")
	dm := p.quietly(simulator.Alice, simulator.AliceDM, "q2", "")
	// The first channel is read; at the second the reader hangs.
	release := p.Slack.Hold("conversations.history")
	defer release()
	p.join(2)
	if err := p.Slack.WaitHeld(p.ctx, "conversations.history", 1); err != nil {
		t.Fatal(err)
	}
	two := p.StartOther(t, quickly)
	if n := two.Journal.Holding(`"reading back"`); n > 0 {
		t.Error("two read at once")
	}
	one.Kill()
	p.log(two, 1, `"reading back"`)
	release()
	p.log(two, 1, `"gap read back"`, `"entered":2,`, `"closed":true`)
	p.answered(simulator.General, root, "UALICE asked q1")
	p.answered(simulator.AliceDM, dm, "UALICE asked q2")
}

// A stop that is read back covers what is older than itself, and nothing else.
func TestP11_AStopThatIsReadBack(t *testing.T) {
	p := newPlace(t)
	r := p.StartOther(t, quickly)
	p.signed(1)
	p.cut()
	p.pause(gapAfter * 4 / 3)
	root := p.quietly(simulator.Alice, simulator.General, "<@UBOT> q1", "")
	p.quietly(simulator.Bob, simulator.General, "<@UBOT> q2", root)
	p.quietly(simulator.Alice, simulator.General, "stop", root)
	p.quietly(simulator.Alice, simulator.General, "<@UBOT> q3", root)
	p.join(2)
	p.log(r, 1, `"gap read back"`, `"closed":true`)
	if err := p.Slack.WaitUntil(p.ctx, func() bool {
		all := strings.Join(p.Texts(simulator.General, root), "|")
		return strings.Contains(all, "UBOB asked q2") && strings.Contains(all, "UALICE asked q3")
	}); err != nil {
		t.Fatalf("%q: %v", p.Texts(simulator.General, root), err)
	}
	if n := r.Journal.Holding(`"disposition":"stop"`); n != 1 {
		t.Errorf("%d stops", n)
	}
	for _, answer := range p.Texts(simulator.General, root) {
		if answer == "UALICE asked q1" {
			t.Error("the stopped turn has answered")
		}
	}
}
