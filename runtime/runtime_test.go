package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/agent"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func TestAnOwnMessageSteersAndAnothersWaits(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	p.wants(p.deliver(r, p.says(alice, "book a table")), chat.Start)
	run := p.run()
	p.wants(p.deliver(r, p.says(alice, "for four")), chat.SteerOwn)
	p.wants(p.deliver(r, p.says(bob, "what is the time?")), chat.Wait)
	if !run.log.Steered() {
		t.Error("the run was not told of its steer")
	}
	if got := texts(run.answers(t, "booked")); !slices.Equal(got, []string{"instruction:for four"}) {
		t.Errorf("the turn took %v", got)
	}
	p.slack.posted(t, "booked")
	p.noRun()
	if steers := run.answers(t, "for four"); len(steers) > 0 {
		t.Errorf("the turn took %v twice", texts(steers))
	}
	next := p.run()
	if next.turn.Actor != bob {
		t.Errorf("the next turn is %s's", next.turn.Actor.Key())
	}
	if got := texts(next.turn.Own); !slices.Equal(got, []string{"instruction:what is the time?"}) {
		t.Errorf("bob's turn begins with %v", got)
	}
	if got := texts(next.turn.Before); !slices.Equal(got, []string{"context:book a table", "context:for four"}) {
		t.Errorf("bob's turn is shown %v", got)
	}
	next.answers(t, "noon")
}

func TestAForcedSteerOfAnotherIsContext(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	p.deliver(r, p.says(alice, "book a table"))
	run := p.run()
	m := p.says(bob, "the place is closed")
	m.Forced = true
	p.wants(p.deliver(r, m), chat.SteerContext)
	steers := run.answers(t, "booked")
	if got := texts(steers); !slices.Equal(got, []string{"context:the place is closed"}) {
		t.Errorf("the turn took %v", got)
	}
	if a := steers[0].Author(); a != bob {
		t.Errorf("its author is %s", a.Key())
	}
	run.answers(t, "then another place")
}

// Whatever a steer races against, its message reaches one turn and one only.
func TestP4_ASteerRacingTheEndOfItsTurnReachesOneTurn(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	p.deliver(r, p.says(alice, "begin"))
	run := p.run()
	seen := map[string]int{}
	count := func(entries []chat.Entry) {
		for _, text := range texts(entries) {
			seen[text]++
		}
	}
	count(run.turn.Own)
	const rounds = 60
	for i := range rounds {
		m := p.says(alice, fmt.Sprint("steer ", i))
		delivered := make(chan runtime.Outcome)
		go func() { delivered <- r.Deliver(context.Background(), []chat.Message{m})[0] }()
		steers := run.answers(t, fmt.Sprint("answer ", i))
		o := <-delivered
		switch o.Disposition {
		case chat.SteerOwn:
			count(steers)
			if len(steers) == 0 { // it came after the step that looked for it
				t.Fatalf("round %d: a steer was accepted by a turn that had closed", i)
			}
		case chat.Start:
			run = p.run()
			count(run.turn.Own)
		default:
			t.Fatalf("round %d: %s", i, o.Disposition)
		}
	}
	for i := range rounds {
		if n := seen[fmt.Sprint("instruction:steer ", i)]; n != 1 {
			t.Errorf("steer %d reached %d turns", i, n)
		}
	}
}

func TestAStopInAnotherReplicaCutsTheRun(t *testing.T) {
	p := newPlay(t)
	one, two := p.replica(nil), p.replica(nil)
	p.deliver(one, p.says(alice, "think for long"))
	run := p.run()
	p.wants(p.deliver(two, p.says(bob, "and mine")), chat.Wait)
	stop := p.says(bob, "stop")
	stop.Stop = true
	start := time.Now()
	o := p.wants(p.deliver(two, stop), chat.Stop)
	run.ended(t)
	if took := time.Since(start); took > time.Second {
		t.Errorf("the run was cut after %s", took)
	}
	if len(o.Withdrawn) != 1 {
		t.Errorf("the stop withdrew %v, want bob's own waiting message", o.Withdrawn)
	}
	p.slack.posted(t, "Stopped by <@UBOB>.")
}

func TestP8_ALostWorkersTurnGoesOnElsewhere(t *testing.T) {
	p := newPlay(t)
	lost, ref := p.claimedBy(p.says(alice, "carry on"))
	start := time.Now()
	r := p.replica(nil)
	if o := p.deliver(r, p.says(bob, "in between")); o.Disposition != chat.Wait {
		t.Errorf("a message between two workers was decided as %s", o.Disposition)
	}
	run := p.run()
	if run.turn.ID != "t_lost" {
		t.Fatalf("turn %s runs", run.turn.ID)
	}
	if took := time.Since(start); took > 2*p.opts.LeaseTTL {
		t.Errorf("taken over after %s", took)
	}
	if _, err := lost.Commit(context.Background(), mailbox.Commit{Ref: ref, Number: 1, Entries: [][]byte{[]byte("{}")}}); err == nil {
		t.Error("the lost worker could still write")
	}
	run.answers(t, "done")
	p.run().answers(t, "bob's")
}

func TestATurnThatLosesEveryWorkerIsAbandonedAndToldOf(t *testing.T) {
	p := newPlay(t)
	p.opts.LeaseTTL, p.opts.LeaseMargin = 60*time.Millisecond, 10*time.Millisecond
	r := p.replica(func(o *runtime.Options) { o.RenewEvery = time.Hour; o.MaxAttempts = 3 })
	p.deliver(r, p.says(alice, "hopeless"))
	for range 3 {
		if err := p.run().ended(t); err == nil {
			t.Error("a run whose lease ended was not cut")
		}
	}
	p.slack.until(t, "the notice", func() bool {
		return len(p.slack.posts) == 1 && p.slack.posts[0].To.DM == alice.User && strings.Contains(p.slack.posts[0].Markdown, "give up")
	})
	p.noRun()
}

func TestEndingAProcessHandsItsTurnsOver(t *testing.T) {
	p := newPlay(t)
	p.opts.LeaseTTL = time.Hour // whoever goes on has been given the turn: no lease has ended
	one := p.replica(nil)
	p.deliver(one, p.says(alice, "go on elsewhere"))
	run := p.run()
	p.replica(nil)
	run.do(t, func(r *fakeRun) (bool, error) {
		_, err := r.log.Boundary(r.ctx, chat.Entry{Role: chat.ToolRole, Origin: chat.Result, Text: "found"})
		return false, err
	})
	one.stop()
	run.do(t, func(r *fakeRun) (bool, error) { // boundaries, until one finds that the process ends
		for {
			if _, err := r.log.Boundary(r.ctx); err != nil {
				return false, err
			}
		}
	})
	run.ended(t)
	again := p.run()
	if len(again.turn.Own) != 2 || again.turn.Own[1].Text != "found" {
		t.Errorf("it goes on from %+v", again.turn.Own)
	}
	again.answers(t, "done")
}

func TestAGuestsMessageBecomesContext(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	guest := chat.Person("T1", "UGUEST")
	p.slack.facts[guest] = runtime.Facts{Standing: chat.ContextOnly, Why: "a guest account"}
	m := p.says(guest, "do something")
	m.Standing = chat.Unchecked
	p.wants(p.deliver(r, m), chat.Start)
	told := func() bool {
		return slices.ContainsFunc(p.slack.shown, func(c runtime.Change) bool {
			return c.State == runtime.ShownNotAllowed && c.Actor == guest && c.Why == "a guest account"
		})
	}
	p.slack.until(t, "the guest being told", told)
	p.noRun()

	p.deliver(r, p.says(alice, "help me"))
	run := p.run()
	steer := p.says(guest, "me too")
	steer.Standing, steer.Forced = chat.Unchecked, true
	p.wants(p.deliver(r, steer), chat.SteerContext)
	if steers := run.answers(t, "helped"); len(steers) > 0 {
		t.Errorf("the turn took %v", texts(steers))
	}
	run.ended(t)
}

func TestAFailureIsToldInOneSentence(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	o := p.deliver(r, p.says(alice, "fail"))
	run := p.run()
	run.do(t, func(*fakeRun) (bool, error) {
		return false, &agent.Failure{Kind: agent.ModelRefused, Cause: fmt.Errorf("secret words of the provider")}
	})
	p.slack.until(t, "the sentence", func() bool {
		return len(p.slack.posts) == 1 && strings.Contains(p.slack.posts[0].Markdown, o.Turn.Short()) &&
			!strings.Contains(p.slack.posts[0].Markdown, "secret")
	})
}

func TestAFullReplicaLeavesTurnsToThoseWithRoom(t *testing.T) {
	p := newPlay(t)
	full := p.replica(func(o *runtime.Options) { o.MaxRunning = 1 })
	p.deliver(full, p.says(alice, "first"))
	first := p.run()
	other := p.says(bob, "elsewhere")
	other.Conversation.Root = other.ID.TS
	p.wants(p.deliver(full, other), chat.Wait)
	p.noRun()
	first.answers(t, "done")
	if run := p.run(); run.turn.Actor != bob {
		t.Errorf("%s's turn runs", run.turn.Actor.Key())
	} else {
		run.answers(t, "done too")
	}
}

func TestAFirstMentionInAnOlderThreadReadsIt(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	root := p.says(carol, "the printer is broken")
	root.Standing = chat.ContextOnly
	p.slack.thread = []chat.Message{root}
	p.deliver(r, p.says(alice, "can you help?"))
	run := p.run()
	if got := texts(run.turn.Before); !slices.Equal(got, []string{"context:the printer is broken"}) {
		t.Errorf("the turn is shown %v", got)
	}
	passive := p.says(carol, "it is on fire now")
	passive.Addressed = false
	p.wants(p.deliver(r, passive), chat.AsContext)
	run.answers(t, "try again")
	p.deliver(r, p.says(alice, "and now?"))
	next := p.run()
	want := []string{"context:the printer is broken", "context:can you help?", "context:it is on fire now"}
	if got := texts(next.turn.Before); !slices.Equal(got, want) {
		t.Errorf("the next turn is shown %v, want %v", got, want)
	}
	next.answers(t, "run")
}
