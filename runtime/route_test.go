package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// fakeRouter hands each question to the test, which answers it.
type fakeRouter struct{ questions chan question }

type question struct {
	runtime.RouteQuestion
	answer chan answer
}

type answer struct {
	verdict runtime.Verdict
	err     error
}

func (f fakeRouter) Route(ctx context.Context, q runtime.RouteQuestion) (runtime.Verdict, error) {
	asked := question{q, make(chan answer, 1)}
	f.questions <- asked
	select {
	case a := <-asked.answer:
		return a.verdict, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (f fakeRouter) next(t *testing.T) question {
	t.Helper()
	select {
	case q := <-f.questions:
		return q
	case <-time.After(bound):
		t.Fatal("the router is not asked")
		return question{}
	}
}

// routing is a replica with a router, and what came of its questions.
func (p *play) routing() (*replica, fakeRouter, chan string) {
	router, results := fakeRouter{make(chan question, 100)}, make(chan string, 100)
	r := p.replica(func(o *runtime.Options) {
		o.Policy.CrossActor, o.Router = runtime.ModeRouter, router
		o.Count = func(name, label string, _ int) {
			if name == runtime.CountRouted {
				results <- label
			}
		}
	})
	return r, router, results
}

func wantResult(t *testing.T, results chan string, want string) {
	t.Helper()
	select {
	case got := <-results:
		if got != want {
			t.Fatalf("the router's opinion: %s, want %s", got, want)
		}
	case <-time.After(bound):
		t.Fatalf("no result, want %s", want)
	}
}

func TestRouterMovesWhatIsStillUnread(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	r, router, results := p.routing()
	p.deliver(r, p.says(alice, "draft the notice"))
	run := p.run()
	p.wants(p.deliver(r, p.says(bob, "the date is the 5th")), chat.Wait)
	q := router.next(t)
	if q.Own || q.Message != "the date is the 5th" || !slices.Equal(q.Running, []string{"draft the notice"}) {
		t.Errorf("asked: %+v", q.RouteQuestion)
	}
	q.answer <- answer{verdict: runtime.VerdictSteer}
	wantResult(t, results, "steer_context")
	p.wants(p.deliver(r, p.says(alice, "and what is for lunch")), chat.SteerOwn)
	q = router.next(t)
	if !q.Own || q.Message != "and what is for lunch" || !slices.Equal(q.Running, []string{"draft the notice"}) {
		t.Errorf("asked: %+v", q.RouteQuestion)
	}
	q.answer <- answer{verdict: runtime.VerdictFollowUp}
	wantResult(t, results, "wait")
	if got := texts(run.boundary(t)); !slices.Equal(got, []string{"context:the date is the 5th"}) {
		t.Errorf("steers: %q", got)
	}
	run.answers(t, "Drafted.")
	own := p.run()
	if got := texts(own.turn.Own); own.turn.Actor != alice || !slices.Equal(got, []string{"instruction:and what is for lunch"}) {
		t.Errorf("%s's turn has %q", own.turn.Actor.User, got)
	}
	var shown []runtime.ShownState
	p.slack.until(t, "two changes of mind", func() bool {
		shown = nil
		for _, c := range p.slack.shown {
			if c.State == runtime.ShownJoins || c.State == runtime.ShownWaits {
				shown = append(shown, c.State)
			}
		}
		return len(shown) == 2
	})
	if shown[0] != runtime.ShownJoins || shown[1] != runtime.ShownWaits {
		t.Errorf("shown: %v", shown)
	}
	own.answers(t, "Soup.")
	p.noRun()
}

func TestRouterThatHasNoOpinionChangesNothing(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	r, router, results := p.routing()
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	for _, a := range []answer{{err: errors.New("away")}, {verdict: "nonsense"}, {verdict: runtime.VerdictFollowUp}} {
		p.wants(p.deliver(r, p.says(bob, "two")), chat.Wait)
		router.next(t).answer <- a
		wantResult(t, results, "unchanged")
	}
	p.wants(p.deliver(r, p.says(alice, "three")), chat.SteerOwn)
	router.next(t).answer <- answer{verdict: runtime.VerdictSteer}
	wantResult(t, results, "unchanged")
	p.wants(p.deliver(r, p.says(carol, "late")), chat.Wait)
	router.next(t) // and never answers
	wantResult(t, results, "unchanged")
	if got := texts(run.boundary(t)); !slices.Equal(got, []string{"instruction:three"}) {
		t.Errorf("steers: %q", got)
	}
}

func TestRouterIsNotAskedWhereNothingIsToBeDecided(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	r, router, results := p.routing()
	p.wants(p.deliver(r, p.says(alice, "one")), chat.Start)
	p.run()
	forced := p.says(bob, "now")
	forced.Forced = true
	p.wants(p.deliver(r, forced), chat.SteerContext)
	passive := p.says(bob, "among us")
	passive.Addressed = false
	p.wants(p.deliver(r, passive), chat.AsContext)
	p.wants(p.deliver(r, p.says(bob, "asked")), chat.Wait)
	q := router.next(t)
	if q.Message != "asked" {
		t.Errorf("asked about %q", q.Message)
	}
	q.answer <- answer{}
	wantResult(t, results, "unchanged")
	plain := p.replica(nil)
	p.wants(p.deliver(plain, p.says(carol, "in another mode")), chat.Wait)
	if len(router.questions) > 0 {
		t.Errorf("asked about %q", (<-router.questions).Message)
	}
}

// Verdicts come in any order, and are carried out in that of their messages.
func TestRouterKeepsEachAuthorsOrder(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	r, router, results := p.routing()
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	p.wants(p.deliver(r, p.says(bob, "two")), chat.Wait)
	two := router.next(t)
	p.wants(p.deliver(r, p.says(bob, "three")), chat.Wait)
	router.next(t).answer <- answer{verdict: runtime.VerdictSteer}
	select {
	case got := <-results:
		t.Fatalf("three was decided before two: %s", got)
	case <-time.After(300 * time.Millisecond):
	}
	two.answer <- answer{verdict: runtime.VerdictSteer}
	wantResult(t, results, "steer_context")
	wantResult(t, results, "steer_context")
	if got := texts(run.boundary(t)); !slices.Equal(got, []string{"context:two", "context:three"}) {
		t.Errorf("steers: %q", got)
	}
}

func TestRouterIsAskedAboutSoManyAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.opts.MaxWaiting, p.opts.MaxWaitingAuthor = 100, 100
	r, router, results := p.routing()
	p.deliver(r, p.says(alice, "one"))
	p.run()
	var batch []chat.Message
	for range 33 {
		batch = append(batch, p.says(bob, "more"))
	}
	r.Deliver(t.Context(), batch)
	wantResult(t, results, "skipped")
	for range 32 {
		router.next(t).answer <- answer{}
		wantResult(t, results, "unchanged")
	}
}

// A question that is open does not hold up the end of a process.
func TestRouterIsCutAtTheEnd(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	r, router, results := p.routing()
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	p.deliver(r, p.says(bob, "two"))
	router.next(t)
	run.answers(t, "Done.")
	p.run().answers(t, "Done too.")
	r.end()
	wantResult(t, results, "unchanged")
}
