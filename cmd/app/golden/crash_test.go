package golden

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// A tenth of the shipped intervals: a lost worker's turn is taken over within
// 1.2 s.
var tenth = apptest.Intervals{LeaseTTL: time.Second, LeaseMargin: 200 * time.Millisecond, RenewEvery: 300 * time.Millisecond}

// The process is killed while the model answers, and another one starts: the
// turn goes on there, and is answered once.
func TestP2_KilledWhileTheModelAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	held, release := scripted.Answer("The lost answer.").Held()
	defer release()
	p.Model.Then(held, scripted.Answer("The answer."), scripted.Answer("Another answer."))
	first := p.StartOther(t, tenth)
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> hello")
	p.Asked(t, 1)
	first.Kill()
	second := p.StartOther(t, tenth)
	p.Posted(t, simulator.General, root, 1)
	p.Quiet(500 * time.Millisecond)
	second.Term(t)
	if got := texts(p, simulator.General, root); got != "The answer." {
		t.Errorf("the thread says %q", got)
	}
	if n := len(p.Model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	runs := p.Journal.With("turn runs")
	if len(runs) != 2 || runs[0].Text("turn") != runs[1].Text("turn") {
		t.Errorf("runs: %v", runs)
	}
}

// Once Slack is answered, nothing is lost: the process is killed while one turn
// runs, a steer waits for it and others wait behind it.
func TestP2_KilledWhileMessagesWait(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	held, release := scripted.Answer("The lost answer.").Held()
	defer release()
	p.Model.Then(held)
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		return scripted.Answer("answer to " + r.Messages[len(r.Messages)-1].Content)
	})
	first := p.StartOther(t, tenth)
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> request")
	p.Asked(t, 1)
	in := simulator.SayOptions{Thread: root}
	p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> steer", in)
	p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> of Bob", in)
	p.Slack.Say(simulator.Carol, simulator.General, "<@UBOT> of Carol", in)
	p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> of Bob again", in)
	p.Until(t, "all is acknowledged", func() bool { return p.Slack.Unacknowledged() == 0 })
	first.Kill()
	second := p.StartOther(t, tenth)
	p.Posted(t, simulator.General, root, 4)
	p.Quiet(500 * time.Millisecond)
	second.Term(t)
	want := "answer to steer|answer to of Bob|answer to of Carol|answer to of Bob again"
	if got := texts(p, simulator.General, root); got != want {
		t.Errorf("the thread says %q, want %q", got, want)
	}
	if r := p.Model.Requests()[1]; r.Count("request") != 1 || r.Count("steer") != 1 || r.Count("of Bob") != 0 {
		t.Errorf("the turn went on with %v", requestLines(r))
	}
}

// A replica that is told to end hands its turn over to another one, which goes
// on at once, and ends well. With the shipped binary and its intervals.
func TestHandOverToAnotherReplica(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil, "SHUTDOWN_GRACE=1s")
	held, release := scripted.Answer("The lost answer.").Held()
	defer release()
	p.Model.Then(held, scripted.Answer("The answer."), scripted.Answer("Another answer."))
	first := p.Start(t)
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> hello")
	p.Asked(t, 1)
	second := p.Start(t)
	began := time.Now()
	first.Term(t)
	p.Posted(t, simulator.General, root, 1)
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the hand-over took %v", took) // a lost lease takes longer than ten
	}
	p.Quiet(500 * time.Millisecond)
	second.Term(t)
	if got := texts(p, simulator.General, root); got != "The answer." {
		t.Errorf("the thread says %q", got)
	}
	if len(p.Journal.With("turn handed over")) != 1 || len(p.Journal.With("turn ended", "outcome", "done")) != 1 {
		t.Errorf("the log says %q", p.Journal.Texts())
	}
}

// A call in flight is given its time: an answer that comes within the grace is
// posted by the replica that ends.
func TestSigtermLetsACallInFlightFinish(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	held, release := scripted.Answer("The answer.").Held()
	defer release()
	p.Model.Then(held)
	r := p.Start(t)
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> hello")
	p.Asked(t, 1)
	r.Signal(t, syscall.SIGTERM)
	p.Until(t, "it shuts down", func() bool { return len(p.Journal.With("shutting down")) == 1 })
	release()
	code, err := r.End(20 * time.Second)
	if code != 0 || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
	if got := texts(p, simulator.General, root); got != "The answer." {
		// It may also be left to the next replica; lost it is not.
		next := p.Start(t)
		p.Posted(t, simulator.General, root, 1)
		next.Term(t)
		if got := texts(p, simulator.General, root); got != "The answer." {
			t.Errorf("the thread says %q", got)
		}
	}
}

// texts are the bot's posts in a thread, by "|".
func texts(p *apptest.Place, channel, root string) string {
	var list []string
	for _, m := range p.Posts(channel, root) {
		list = append(list, apptest.ShownText(m))
	}
	return strings.Join(list, "|")
}
