package chaos

import (
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// Five workers in a row lose a turn: four are killed, the fifth is frozen and
// woken when all is over. The turn is abandoned, its actor is told once and in
// private, who waits behind it is answered without anybody writing again, and
// the fifth has written nothing.
func TestP2_FiveWorkersAreLost(t *testing.T) {
	t.Parallel()
	p := apptest.NewPlace(t, simulator.Options{RetryScale: 0.02}, redistest.Start(t), "HTTP_ADDR=127.0.0.1:0")
	const request, other = "the request that kills", "something else"
	lost, release := scripted.Answer("What nobody may see.").Held()
	defer release()
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		if strings.Contains(r.Messages[len(r.Messages)-1].Content, request) {
			return lost
		}
		return scripted.Answer("Here you are.")
	})
	worker := p.StartOther(t, quick())
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> "+request)
	p.Asked(t, 1)
	p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> "+other, simulator.SayOptions{Thread: root})
	p.Until(t, "Bob's message is taken", func() bool { return p.Slack.Unacknowledged() == 0 })
	for n := 2; n <= 5; n++ {
		worker.Kill()
		worker = p.StartOther(t, quick())
		p.Asked(t, n)
	}
	fifth := &place{t: t, Place: p}
	fifth.freeze(worker)
	next := p.StartOther(t, quick())

	p.Until(t, "the turn is abandoned", func() bool { return len(next.Journal.With("turn abandoned")) == 1 })
	posts := p.Posted(t, simulator.General, root, 1)
	told := p.Posted(t, simulator.AliceDM, "", 1)
	if text := apptest.ShownText(posts[0]); text != "Here you are." {
		t.Errorf("the thread says %q", text)
	}
	turn := next.Journal.With("turn abandoned")[0].Text("turn")
	if text := apptest.ShownText(told[0]); apptest.TurnOf(told[0]) != turn || !strings.Contains(text, "give up") {
		t.Errorf("Alice is told %q, of turn %s", text, apptest.TurnOf(told[0]))
	}

	fifth.wake(worker)
	release()
	// It is alive and well, and finds that the turn is no longer its own.
	p.Until(t, "the fifth knows", func() bool { return len(worker.Journal.With("turn lost", "turn", turn)) > 0 })
	again := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> "+other, simulator.SayOptions{Thread: root})
	posts = p.Posted(t, simulator.General, root, 2)
	fifth.calm(time.Second)
	if got, told := p.Posts(simulator.General, root), p.Posts(simulator.AliceDM, ""); len(got) != 2 || len(told) != 1 {
		t.Errorf("after %s: %d posts in the thread, %d in private", again, len(got), len(told))
	}
	if text := apptest.ShownText(posts[1]); text != "Here you are." {
		t.Errorf("Alice's next message is answered %q", text)
	}
	if n := len(p.Model.Requests()); n != 7 {
		t.Errorf("the model was asked %d times", n)
	}
}

// With the shipped binary and the shipped intervals: a killed worker's turn
// goes on within twelve seconds, at another replica and after a restart.
func TestP8_ShippedIntervals(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		t.Run(map[bool]string{false: "another replica", true: "a restart"}[restart], func(t *testing.T) {
			t.Parallel()
			p := apptest.NewPlace(t, simulator.Options{}, redistest.Start(t))
			held, release := scripted.Answer("The lost answer.").Held()
			defer release()
			p.Model.Then(held, scripted.Answer("The answer."))
			first := p.Start(t)
			root := p.Slack.Say(simulator.Alice, simulator.General, "<@UBOT> hello")
			p.Asked(t, 1)
			if !restart {
				p.Start(t)
			}
			first.Kill()
			began := time.Now()
			if restart {
				p.Start(t)
			}
			p.Asked(t, 2)
			if took := time.Since(began); took > 12*time.Second {
				t.Errorf("the turn stood still for %v", took)
			} else {
				t.Logf("the turn stood still for %v", took.Round(time.Millisecond))
			}
			if posts := p.Posted(t, simulator.General, root, 1); apptest.ShownText(posts[0]) != "The answer." {
				t.Errorf("the thread says %q", apptest.ShownText(posts[0]))
			}
		})
	}
}
