package tasks

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

func TestTaskFollowsTheReply(t *testing.T) {
	p := newPlace(t)
	p.Model.Then(scripted.Answer("Noted."))
	p.StartOther(t, apptest.Tenth)
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> I like tea")
	p.seen("witnessed", 1)
	p.Answered(t, simulator.General, root, "Noted.")
	p.Quiet(500 * time.Millisecond)
	seen := p.Journal.With("seen")
	if len(seen) != 1 || seen[0].Text("asked") != "I like tea" || seen[0].Text("outcome") != "done" || seen[0].Text("actor") != "T1:UALICE" {
		t.Errorf("the task saw %v", seen)
	}
	turn := seen[0].Text("turn")
	if out := p.command(t, "turn", turn); !strings.Contains(out, "tasks         witness/sees") || strings.Contains(out, "tasks left") {
		t.Errorf("the turn's story:\n%s", out)
	}
}

// The process is killed between the step that closes the turn and its task, at
// every point that lies there: the answer is posted once, and the task is run.
func TestTaskOutlivesItsProcess(t *testing.T) {
	for _, point := range []string{"posting", "closed", "posted", "marked"} {
		t.Run(point, func(t *testing.T) {
			p := newPlace(t)
			p.Model.Then(scripted.Answer("Noted."))
			first := p.StartOther(t, apptest.Tenth, "DIE_AT="+point)
			root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> I like tea")
			if _, err := first.End(apptest.Patience); err != nil {
				t.Fatal(err)
			}
			p.StartOther(t, apptest.Tenth)
			p.seen("witnessed", 1)
			p.Answered(t, simulator.General, root, "Noted.")
			p.Quiet(1500 * time.Millisecond)
			if n := len(p.Journal.With("witnessed")); n != 1 {
				t.Errorf("it was run %d times", n)
			}
			p.Answered(t, simulator.General, root, "Noted.")
		})
	}
}

// The process is killed while the task runs: another one tries it again.
func TestTaskIsTriedAgainWhenItsProcessIsKilled(t *testing.T) {
	p := newPlace(t)
	p.Model.Then(scripted.Answer("Noted."))
	first := p.StartOther(t, apptest.Tenth, "WITNESS_DOES=hold")
	p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> I like tea")
	p.seen("seen", 1)
	first.Kill()
	p.StartOther(t, apptest.Tenth)
	again := p.seen("seen", 2)
	p.seen("witnessed", 1)
	if again["try"] != 2.0 || again["first"] != false || again.Text("turn") != p.Journal.With("seen")[0].Text("turn") {
		t.Errorf("the second try: %v", again)
	}
}

// After SIGTERM a task gets the grace, and another process goes on; the try does
// not count.
func TestTaskIsReleasedAtTheEnd(t *testing.T) {
	p := newPlace(t, "SHUTDOWN_GRACE=1s")
	p.Model.Then(scripted.Answer("Noted."))
	first := p.StartOther(t, apptest.Tenth, "WITNESS_DOES=hold")
	p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> I like tea")
	p.seen("seen", 1)
	first.Term(t)
	p.StartOther(t, apptest.Tenth)
	if again := p.seen("seen", 2); again["try"] != 1.0 {
		t.Errorf("the next process's try: %v", again)
	}
	p.seen("witnessed", 1)
}

func TestTaskThatFailsIsAmongTheDeadAndTouchesNoReply(t *testing.T) {
	p := newPlace(t)
	p.Model.Then(scripted.Answer("Noted."), scripted.Answer("That too."))
	p.StartOther(t, apptest.Tenth, "WITNESS_DOES=fail")
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> I like tea")
	p.seen("seen", 2)
	p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> and coffee", simulator.SayOptions{Thread: root})
	p.Answered(t, simulator.General, root, "Noted.", "That too.")
	p.seen("seen", 16)
	p.Until(t, "both are given up", func() bool {
		n := 0
		for _, l := range p.Journal.With("task not done") {
			if l.Text("outcome") == "aside" {
				n++
			}
		}
		return n == 2
	})
	out := p.command(t, "dead")
	if n := strings.Count(out, "task:witness/sees/"); n != 2 || !strings.Contains(out, "deadline exceeded") {
		t.Errorf("reeve dead shows %d tasks:\n%s", n, out)
	}
	p.Answered(t, simulator.General, root, "Noted.", "That too.")
}

// command runs a command of an operator beside the processes.
func (p *place) command(t *testing.T, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	if code := app.Main(args, nil, app.Options{Environ: p.Env, Stdout: &out, Stderr: &err, Dotenv: t.TempDir() + "/none"}); code != 0 {
		t.Fatalf("%v ended with %d: %s", args, code, err.String())
	}
	return out.String()
}
