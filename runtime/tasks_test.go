package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/agent"
	"reeve/plugins"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func TestTaskIsGivenItsTurnOnceTheAnswerIsPosted(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.slack.facts[alice] = runtime.Facts{Name: "Alice", Zone: "Europe/Berlin", Standing: chat.MayInstruct}
	task, tries := learner()
	let := make(chan struct{})
	r := p.tasked(let, func(o *runtime.Options) { o.Policy.CrossActor = runtime.ModeSteer }, task)
	p.wants(p.deliver(r, p.says(alice, "note that I like tea")), chat.Start)
	run := p.run()
	p.wants(p.deliver(r, p.says(bob, "and I coffee")), chat.SteerContext)
	run.answers(t, "One moment.")
	run.answers(t, "Noted.")
	p.slack.posted(t, "Noted.")
	p.left(r, 1)
	none(t, tries, "the answer is not posted")
	close(let)
	got := next(t, tries)
	if got.Turn != run.turn.ID || got.Actor != alice || got.Outcome != plugins.Done || got.Try != 1 ||
		got.Key != "memory/learn/"+string(run.turn.ID) || got.Zone != "Europe/Berlin" || got.Visibility != chat.Public {
		t.Errorf("the task is given %+v", got.Ended)
	}
	if !slices.Equal(got.Contributors, []chat.Actor{bob}) || !slices.Equal(got.Actors, []chat.Actor{alice}) {
		t.Errorf("actors %v, contributors %v", got.Actors, got.Contributors)
	}
	var lines []string
	for _, e := range got.Transcript {
		what := "context "
		if got.Instruction(e) {
			what = "instruction "
		}
		lines = append(lines, what+string(e.Origin)+" "+e.Text)
	}
	want := []string{"instruction request note that I like tea", "context answer One moment.", "context steer and I coffee", "context answer Noted."}
	if !slices.Equal(lines, want) {
		t.Errorf("the transcript is %q, want %q", lines, want)
	}
	if err := got.Store.Set(t.Context(), "tea", []byte("yes")); err != nil {
		t.Error(err)
	}
	if _, found, err := r.box.PluginStore("memory", alice).Get(t.Context(), "tea"); err != nil || !found {
		t.Errorf("what it stored for Alice: %v %v", found, err)
	}
	got.end <- nil
	p.left(r, 0)
	none(t, tries, "it is done")
}

func TestWantsDecidesForEachWayInWhichATurnEnds(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	always, tries := learner()
	var asked []plugins.Ended
	always.Wants = func(e plugins.Ended) bool {
		asked = append(asked, e)
		return e.Outcome != plugins.Stopped
	}
	usual, done := learner()
	usual.Name = "usual"
	panics, never := learner()
	panics.Name, panics.Wants = "panics", func(plugins.Ended) bool { panic("a fault") }
	r := p.tasked(now(), nil, panics, always, usual)
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	run.do(t, func(*fakeRun) (bool, error) {
		return true, &agent.Failure{Kind: agent.StepsSpent, Cause: errors.New("too many")}
	})
	got := next(t, tries)
	if got.Outcome != plugins.Failed || got.Turn != run.turn.ID {
		t.Errorf("after a failure: %+v", got.Ended)
	}
	got.end <- nil
	if len(asked) != 1 || len(asked[0].Transcript) == 0 || asked[0].Transcript[0].Text != "one" || !asked[0].Instruction(asked[0].Transcript[0]) {
		t.Errorf("Wants was asked with %+v", asked)
	}
	p.deliver(r, p.says(alice, "two"))
	p.run()
	stop := p.says(alice, "stop")
	stop.Stop = true
	p.wants(p.deliver(r, stop), chat.Stop)
	p.slack.posted(t, mailbox.StoppedText)
	p.deliver(r, p.says(alice, "three"))
	p.run().answers(t, "Done.")
	for _, tries := range []chan tried{tries, done} {
		got := next(t, tries)
		if got.Outcome != plugins.Done || got.Transcript[0].Text != "three" {
			t.Errorf("after an answer: %+v", got.Ended)
		}
		got.end <- nil
	}
	p.left(r, 0)
	none(t, never, "its Wants panicked")
	none(t, tries, "a stopped turn needs none")
	none(t, done, "it is for turns that are done")
}

func TestTaskThatFailsIsTriedEightTimesAndSetAside(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	tries := make(chan plugins.Ended, 100)
	task := runtime.Task{Plugin: "memory", Task: plugins.Task{Name: "learn", Timeout: 50 * time.Millisecond,
		Run: func(ctx context.Context, e plugins.Ended) error {
			tries <- e
			switch e.Try {
			case 1:
				panic("a fault")
			case 2:
				<-ctx.Done()
				return ctx.Err()
			}
			return errors.New("the provider is away")
		}}}
	r := p.tasked(now(), nil, task)
	p.deliver(r, p.says(alice, "one"))
	p.run().answers(t, "Done.")
	for want := 1; want <= 8; want++ {
		select {
		case e := <-tries:
			if e.Try != want {
				t.Fatalf("try %d, want %d", e.Try, want)
			}
		case <-time.After(bound):
			t.Fatalf("try %d never comes", want)
		}
	}
	p.left(r, 0)
	dead, err := r.box.Dead(t.Context())
	if err != nil || len(dead) != 1 || !strings.HasPrefix(dead[0].Where, "task:memory/learn/") || dead[0].Why != "the provider is away" {
		t.Errorf("set aside: %+v %v", dead, err)
	}
	if len(tries) > 0 {
		t.Error("it is tried a ninth time")
	}
	p.deliver(r, p.says(alice, "two"))
	p.run().answers(t, "Turns go on.")
}

func TestTaskThatIsDeafToItsTimeIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	release, tries := make(chan struct{}), make(chan int, 100)
	defer close(release)
	task := runtime.Task{Plugin: "memory", Task: plugins.Task{Name: "learn", Timeout: 10 * time.Millisecond,
		Run: func(_ context.Context, e plugins.Ended) error {
			tries <- e.Try
			if e.Try < 3 {
				<-release
			}
			return nil
		}}}
	r := p.tasked(now(), func(o *runtime.Options) { o.MaxTasks = 1 }, task)
	p.deliver(r, p.says(alice, "one"))
	p.run().answers(t, "Done.")
	p.left(r, 0) // its third try, in the one place that there is
	if n := len(tries); n != 3 {
		t.Errorf("%d tries", n)
	}
}

func TestTaskIsCutAfterTheGraceAndDoneElsewhere(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	task, tries := learner()
	first := p.tasked(now(), func(o *runtime.Options) { o.ShutdownGrace = 50 * time.Millisecond }, task)
	p.deliver(first, p.says(alice, "one"))
	p.run().answers(t, "Done.")
	cut := next(t, tries)
	first.end()
	if cut.ctx.Err() == nil {
		t.Error("the process ended, and its task was not cut")
	}
	p.tasked(now(), nil, task)
	again := next(t, tries)
	if again.Try != 1 || again.Key != cut.Key {
		t.Errorf("in the next process: try %d of %s", again.Try, again.Key)
	}
	again.end <- nil
	p.left(first, 0)
}

func TestTaskIsGivenTheGraceToEnd(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	task, tries := learner()
	r := p.tasked(now(), func(o *runtime.Options) { o.ShutdownGrace = bound }, task)
	p.deliver(r, p.says(alice, "one"))
	p.run().answers(t, "Done.")
	got := next(t, tries)
	r.stop()
	select {
	case <-got.ctx.Done():
		t.Errorf("it was cut within the grace: %v", context.Cause(got.ctx))
	case <-time.After(300 * time.Millisecond):
	}
	got.end <- nil
	<-r.done
	r.done <- nil
	p.left(r, 0)
}

// A try whose lease ends is cut: somebody else may have begun it.
func TestTaskWithoutALeaseIsCut(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	task, tries := learner()
	r := p.tasked(now(), func(o *runtime.Options) { o.RenewEvery = time.Hour }, task)
	p.deliver(r, p.says(alice, "one"))
	p.run().answers(t, "Done.")
	got := next(t, tries)
	select {
	case <-got.ctx.Done():
	case <-time.After(bound):
		t.Fatal("it goes on without a lease")
	}
	next(t, tries).end <- nil
	p.left(r, 0)
}

// A lease is renewed for as long as a try takes.
func TestTaskKeepsItsLeaseForAsLongAsItRuns(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.opts.LeaseTTL, p.opts.LeaseMargin = 500*time.Millisecond, 100*time.Millisecond
	task, tries := learner()
	fast := func(o *runtime.Options) { o.RenewEvery = 50 * time.Millisecond }
	r := p.tasked(now(), fast, task)
	p.tasked(now(), fast, task)
	p.deliver(r, p.says(alice, "one"))
	p.run().answers(t, "Done.")
	got := next(t, tries)
	<-time.After(3 * p.opts.LeaseTTL)
	none(t, tries, "the first try still runs")
	if got.ctx.Err() != nil {
		t.Fatalf("it was cut: %v", context.Cause(got.ctx))
	}
	got.end <- nil
	p.left(r, 0)
	none(t, tries, "it is done")
}

func TestTaskOfAPluginThatIsNotOnHereIsSetAside(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	task, tries := learner()
	never := make(chan struct{})
	defer close(never)
	with := p.tasked(never, nil, task)
	p.deliver(with, p.says(alice, "one"))
	p.run().answers(t, "Done.")
	p.left(with, 1)
	with.end()
	without := p.tasked(now(), nil)
	p.left(without, 0)
	dead, err := without.box.Dead(t.Context())
	if err != nil || len(dead) != 1 || dead[0].Why != "no plugin that is on here has this task" {
		t.Errorf("set aside: %+v %v", dead, err)
	}
	none(t, tries, "its plugin is gone")
}

func TestTaskOfAnAbandonedTurn(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.opts.LeaseTTL, p.opts.LeaseMargin = 200*time.Millisecond, 50*time.Millisecond
	task, tries := learner()
	task.Wants = func(e plugins.Ended) bool { return e.Outcome == plugins.Abandoned }
	lost := func(o *runtime.Options) { o.RenewEvery, o.MaxAttempts = time.Hour, 1 }
	r := p.tasked(now(), lost, task)
	p.deliver(r, p.says(alice, "one"))
	p.run() // and never goes on
	got := next(t, tries)
	if got.Outcome != plugins.Abandoned || len(got.Transcript) != 1 || got.Transcript[0].Text != "one" {
		t.Errorf("given %+v", got.Ended)
	}
	got.end <- nil
	p.left(r, 0)
}

// A task that does not say whether it is wanted delays one answer, by a second,
// and takes nothing away from the others.
func TestWantsThatHangsCostsItselfAlone(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	hangs, never := learner()
	release := make(chan struct{})
	defer close(release)
	asked := make(chan struct{}, 10)
	hangs.Name, hangs.Wants = "hangs", func(plugins.Ended) bool { asked <- struct{}{}; <-release; return true }
	wanted, tries := learner()
	wanted.Wants = func(plugins.Ended) bool { return true }
	usual, done := learner()
	usual.Name = "usual"
	r := p.tasked(now(), nil, hangs, wanted, usual)
	for _, text := range []string{"one", "two", "three"} {
		p.deliver(r, p.says(alice, text))
		p.run().answers(t, "Answer to "+text)
		for _, tries := range []chan tried{tries, done} {
			got := next(t, tries)
			if got.Transcript[0].Text != text {
				t.Errorf("after %q: %+v", text, got.Ended)
			}
			got.end <- nil
		}
	}
	p.left(r, 0)
	none(t, never, "its Wants hangs")
	if len(asked) != 1 {
		t.Errorf("while it hung it was asked %d times", len(asked))
	}
}

// A steer that the model has read goes back to its author when the turn fails,
// or is stopped by an older stop. The turn was one with a conflict all the same.
func TestAConflictOutlivesASteerThatIsTakenBack(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	task, tries := learner()
	task.Wants = func(e plugins.Ended) bool { return e.Actor == alice }
	r := p.tasked(now(), func(o *runtime.Options) { o.Policy.CrossActor = runtime.ModeSteer }, task)
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	stop := p.says(alice, "stop") // sent before Bob writes, and delivered after
	stop.Stop = true
	p.wants(p.deliver(r, p.says(bob, "delete it")), chat.SteerContext)
	if got := texts(run.boundary(t)); len(got) != 1 {
		t.Fatalf("steers: %q", got)
	}
	run.do(t, func(r *fakeRun) (bool, error) {
		return false, r.log.Commit(r.ctx, chat.Entry{Role: chat.AssistantRole, Origin: chat.CallOrigin, Calls: []chat.ToolCall{{ID: "c1", Tool: "delete"}}})
	})
	p.wants(p.deliver(r, stop), chat.Stop)
	got := next(t, tries)
	if !slices.Equal(got.Contributors, []chat.Actor{bob}) || got.Outcome != plugins.Stopped {
		t.Errorf("contributors %v of a turn that is %s", got.Contributors, got.Outcome)
	}
	for _, e := range got.Transcript {
		if e.Author == bob {
			t.Errorf("taken back, it is still there: %+v", e)
		}
	}
	got.end <- nil
	p.run().answers(t, "Bob's turn.")
	p.left(r, 0)
}
