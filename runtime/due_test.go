package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/agent"
	"reeve/plugins"
	"reeve/runtime"
	"reeve/runtime/chat"
)

// tea is what Alice has asked for in the play's thread, at nine.
func tea() plugins.Due {
	return plugins.Due{
		Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1700000000.000001"},
		Key:          "r1", Text: "say that tea is ready", CreatedBy: alice,
		Created: time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC), At: time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC), Zone: "Europe/Berlin",
	}
}

const teaLine = "_Reminder that <@UALICE> asked for on Mon 30 Nov 2026_"

func starts(t *testing.T, r *replica, d plugins.Due) bool {
	t.Helper()
	started, err := r.StartDue(context.Background(), "schedule", d)
	if err != nil {
		t.Fatal(err)
	}
	return started
}

// twoKinds offers a person's turn another list than a system actor's.
func twoKinds(o *runtime.Options) {
	o.Tools = func(who chat.Actor) []string {
		if who.IsPerson() {
			return []string{"look", "send"}
		}
		return []string{"look"}
	}
}

func TestADueTurnIsNobodysAndSaysWhoAskedForIt(t *testing.T) {
	p := newPlay(t)
	p.slack.facts[alice] = runtime.Facts{Name: "Alice :)", Standing: chat.MayInstruct}
	r := p.replica(twoKinds)
	if !starts(t, r, tea()) || starts(t, r, tea()) {
		t.Error("it began not once")
	}
	run := p.run()
	if run.turn.Actor != chat.Scheduler || !slices.Equal(run.turn.Offered, []string{"look"}) {
		t.Errorf("the turn is %q's, with %q", run.turn.Actor.Key(), run.turn.Offered)
	}
	want := "(Reminder asked for by Alice (UALICE) on Mon 30 Nov 2026, due on Tue 1 Dec 2026, 09:00 (Europe/Berlin):)\n\nsay that tea is ready"
	if got := run.turn.Own[0]; got.Text != want || got.Author() != chat.Scheduler || got.Authority() != chat.Instruction {
		t.Errorf("asked for is %+v", got)
	}
	if run.turn.Payer != alice {
		t.Errorf("in the day of %q", run.turn.Payer.Key())
	}
	if who := run.turn.Run(); len(who.Contributors) > 0 || !slices.Equal(who.Actors, []chat.Actor{chat.Scheduler}) {
		t.Errorf("its actors are %v and %v", who.Actors, who.Contributors)
	}
	run.answers(t, "Tea is ready.")
	p.slack.posted(t, teaLine+"\n\nTea is ready.")
	p.slack.until(t, "the end", func() bool { return len(p.slack.shown) >= 2 })
	for _, c := range p.slack.shown {
		if len(c.Messages) > 0 {
			t.Errorf("receipts on %v, which is no message in Slack", c.Messages)
		}
	}
	if post := p.slack.posts[0]; !slices.Contains(post.Mentions, "UALICE") || post.To.Thread != "1700000000.000001" {
		t.Errorf("posted %+v", post)
	}
	// In a later turn it is context, of the scheduler.
	p.deliver(r, p.says(bob, "thanks"))
	later := p.run()
	if before := texts(later.turn.Before); len(before) != 1 || !strings.HasPrefix(before[0], "context:(Reminder asked") || !slices.Equal(later.turn.Offered, []string{"look", "send"}) {
		t.Errorf("Bob's turn sees %q, with %q", before, later.turn.Offered)
	}
	later.answers(t, "done")
}

// Three replicas, each asked by several at once.
func TestP3_WhatIsDueBeginsOnceWhoeverAsks(t *testing.T) {
	p := newPlay(t)
	replicas := []*replica{p.replica(nil), p.replica(nil), p.replica(nil)}
	var began atomic.Int32
	for n := range 5 {
		d := tea()
		d.At = d.At.Add(time.Duration(n) * time.Hour)
		var racing sync.WaitGroup
		for i := range 9 {
			racing.Go(func() {
				if started, err := replicas[i%3].StartDue(context.Background(), "schedule", d); err != nil {
					t.Error(err)
				} else if started {
					began.Add(1)
				}
			})
		}
		racing.Wait()
		p.run().answers(t, "tea")
	}
	if began.Load() != 5 {
		t.Errorf("%d began", began.Load())
	}
	p.noRun()
	other := tea()
	other.Key = "r2"
	if !starts(t, replicas[0], other) {
		t.Error("another of the same time did not begin")
	}
	p.run().answers(t, "coffee")
}

// It waits behind whoever's turn runs, whatever the mode, and steers nothing.
func TestP4_WhatIsDueWaitsForATurnOfItsOwn(t *testing.T) {
	p := newPlay(t)
	r := p.replica(func(o *runtime.Options) { o.Policy.CrossActor = runtime.ModeSteer })
	p.wants(p.deliver(r, p.says(bob, "work")), chat.Start)
	bobs := p.run()
	starts(t, r, tea())
	second := tea()
	second.Key, second.Text, second.CreatedBy = "r2", "say that coffee is ready", carol
	starts(t, r, second)
	if steers := bobs.answers(t, "done"); len(steers) > 0 {
		t.Errorf("it steered Bob's turn: %q", texts(steers))
	}
	due := p.run()
	if len(due.turn.Own) != 2 {
		t.Errorf("the turn has %q", texts(due.turn.Own))
	}
	// A third one does not steer the running one, and a forced message is context.
	third := tea()
	third.Key = "r3"
	starts(t, r, third)
	forced := p.says(bob, "use milk")
	forced.Forced = true
	p.wants(p.deliver(r, forced), chat.SteerContext)
	if steers := due.answers(t, "both are ready"); len(steers) != 1 || steers[0].Author() != bob || steers[0].Authority() != chat.Context {
		t.Errorf("steered by %q", texts(steers))
	}
	due.answers(t, "with milk")
	p.slack.posted(t, teaLine+"\n\n_Reminder that <@UCAROL> asked for on Mon 30 Nov 2026_\n\nboth are ready")
	p.slack.posted(t, "with milk")
	p.run().answers(t, "again")
}

func TestWhatIsMissedIsReportedByCode(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	d := tea()
	d.Report, d.Note = true, "It was missed."
	if !starts(t, r, d) {
		t.Error("nothing began")
	}
	p.slack.posted(t, teaLine+" It was missed.\n> say that tea is ready")
	d.Report = false
	if starts(t, r, d) {
		t.Error("what was reported as missed was done all the same")
	}
	p.noRun()
}

// Who asked may not instruct any more, or is not there any more: that ends it,
// and is told where it can be, once.
func TestWhatIsDueOfSomebodyWhoIsGoneEnds(t *testing.T) {
	for name, c := range map[string]struct {
		facts runtime.Facts
		place error
		want  string
		dm    chat.UserID
	}{
		"deactivated": {runtime.Facts{Standing: chat.ContextOnly, Why: "a deactivated account"}, nil, teaLine + " It has ended: <@UALICE> has a deactivated account.\n> say that tea is ready", ""},
		"not there":   {runtime.Facts{Standing: chat.MayInstruct}, plugins.Refusal("you are not in that channel any more."), teaLine + " It has ended: you are not in that channel any more.\n> say that tea is ready", "UALICE"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			p.slack.facts[alice] = c.facts
			r := p.replica(func(o *runtime.Options) {
				o.Place = func(context.Context, chat.Actor, chat.Conversation) (chat.Visibility, error) {
					return chat.Public, c.place
				}
			})
			started, err := r.StartDue(context.Background(), "schedule", tea())
			if _, refused := errors.AsType[plugins.Refusal](err); started || !refused {
				t.Fatalf("started=%v, %v", started, err)
			}
			p.slack.posted(t, c.want)
			if started, err := r.StartDue(context.Background(), "schedule", tea()); started || err != nil {
				t.Errorf("again: %v, %v", started, err)
			}
			p.noRun()
			if len(p.slack.posts) != 1 || p.slack.posts[0].To.DM != c.dm || (c.dm == "") != (p.slack.posts[0].To.Channel == "C1") {
				t.Errorf("posted %+v", p.slack.posts)
			}
		})
	}
}

// Slack, or the place's kind, cannot be asked: nothing begins, and nothing ends.
func TestWhatIsDueWaitsForSlack(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	p.slack.down[alice] = true
	started, err := r.StartDue(context.Background(), "schedule", tea())
	if _, refused := errors.AsType[plugins.Refusal](err); started || err == nil || refused {
		t.Errorf("started=%v, %v", started, err)
	}
	p.slack.note(func() { p.slack.down[alice] = false })
	if !starts(t, r, tea()) {
		t.Error("it did not begin later")
	}
	p.run().answers(t, "tea")
}

func TestMoreThanMayWaitIsRefusedAndComesLater(t *testing.T) {
	p := newPlay(t)
	p.opts.MaxWaitingAuthor = 2
	r := p.replica(nil)
	p.deliver(r, p.says(bob, "work"))
	bobs := p.run()
	refused := 0
	for n := range 4 {
		d := tea()
		d.At = d.At.Add(time.Duration(n) * time.Hour)
		started, err := r.StartDue(context.Background(), "schedule", d)
		if !started && err != nil {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d were refused", refused)
	}
	bobs.answers(t, "done")
	p.run().answers(t, "tea")
	d := tea()
	d.At = d.At.Add(3 * time.Hour)
	if !starts(t, r, d) {
		t.Error("what was refused does not come later")
	}
	p.run().answers(t, "tea")
}

func TestAFailedDueTurnIsToldToWhoAsked(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	starts(t, r, tea())
	run := p.run()
	sentence := (&agent.Failure{Kind: agent.StepsSpent}).Sentence(run.turn.ID)
	run.do(t, func(*fakeRun) (bool, error) { return true, &agent.Failure{Kind: agent.StepsSpent} })
	p.slack.until(t, "two posts", func() bool { return len(p.slack.posts) == 2 })
	for i, to := range []chat.Destination{{Channel: "C1", Thread: "1700000000.000001"}, {DM: "UALICE"}} {
		if post := p.slack.posts[i]; post.Markdown != teaLine+"\n\n"+sentence || post.To != to {
			t.Errorf("posted %+v", post)
		}
	}
}

func TestAnybodyStopsADueTurn(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	d := tea()
	d.At = time.Unix(1_600_000_000, 0) // before the stop
	starts(t, r, d)
	run := p.run()
	stop := p.says(bob, "stop")
	stop.Stop = true
	p.wants(p.deliver(r, stop), chat.Stop)
	if err := run.ended(t); !errors.Is(err, agent.ErrStopped) {
		t.Errorf("ended with %v", err)
	}
	p.slack.until(t, "who stopped it", func() bool {
		return len(p.slack.posts) == 1 && strings.HasSuffix(p.slack.posts[0].Markdown, "Stopped by <@UBOB>.")
	})
}

func TestAnAbandonedDueTurnIsToldToWhoAsked(t *testing.T) {
	p := newPlay(t)
	r := p.replica(func(o *runtime.Options) { o.MaxAttempts = 1 })
	starts(t, r, tea())
	p.run().do(t, func(*fakeRun) (bool, error) { return true, errors.New("broken off") })
	p.slack.until(t, "the notice", func() bool {
		return slices.ContainsFunc(p.slack.posts, func(post chat.Part) bool {
			return post.To.DM == "UALICE" && strings.Contains(post.Markdown, "I had to give it up")
		})
	})
}

// Of a turn whose tools were fixed by a release that knew no such turns, or that
// cannot be read, no tool is offered.
func TestWithoutAListADueTurnHasNoTools(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	starts(t, r, tea())
	if run := p.run(); run.turn.Offered == nil || len(run.turn.Offered) > 0 {
		t.Errorf("offered %v", run.turn.Offered)
	}
}
