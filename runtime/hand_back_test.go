package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/runtime"
	"reeve/runtime/chat"
)

// handsBack calls the tool as the gate does, from within a run.
func (p *play) handsBack(r *replica, run *fakeRun, call, message string) plugins.Result {
	p.t.Helper()
	arguments, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		p.t.Fatal(err)
	}
	result, err := r.HandBackTool().Call(p.t.Context(), plugins.Call{
		Run: run.turn.Run(), Key: plugins.CallKey(run.turn.ID, call),
	}, arguments)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

// boundary takes the steers that wait.
func (r *fakeRun) boundary(t *testing.T) (steers []chat.Entry) {
	t.Helper()
	r.do(t, func(r *fakeRun) (bool, error) {
		var err error
		steers, err = r.log.Boundary(r.ctx)
		return false, err
	})
	return steers
}

func TestHandedBackMessageRunsForItsAuthorNext(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	r := p.replica(func(o *runtime.Options) { o.Policy.CrossActor = runtime.ModeSteer })
	p.deliver(r, p.says(alice, "tidy my notes"))
	run := p.run()
	steer := p.says(bob, "and book me a room")
	p.wants(p.deliver(r, steer), chat.SteerContext)
	id := "C1:" + string(steer.ID.TS)
	refused := func(call, message, want string) {
		t.Helper()
		if got := p.handsBack(r, run, call, message); !got.Error || !strings.Contains(got.Text, want) {
			t.Errorf("%s: %+v, want %q", message, got, want)
		}
	}
	refused("c0", id, "No message of somebody else's") // it is not read yet
	if got := texts(run.boundary(t)); len(got) != 1 || got[0] != "context:and book me a room" {
		t.Fatalf("steers: %q", got)
	}
	if got := p.handsBack(r, run, "c1", id); got.Error || !strings.Contains(got.Text, "its author's own request now") {
		t.Errorf("handed back: %+v", got)
	}
	if got := p.handsBack(r, run, "c1", id); got.Error {
		t.Errorf("the same call, made again after a crash: %+v", got)
	}
	refused("c2", id, "already handed back")
	refused("c3", string(steer.ID.TS), "already handed back") // a ts alone is enough
	refused("c4", "C1:1700000000.000001", "by the person you act for")
	refused("c5", "C2:"+string(steer.ID.TS), "no message of this conversation")
	refused("c6", "", "no message of this conversation")
	p.slack.until(t, "its receipt", func() bool {
		for _, c := range p.slack.shown {
			if c.State == runtime.ShownWaits && c.Actor == bob && c.Messages[0] == steer.ID {
				return true
			}
		}
		return false
	})
	run.answers(t, "Tidied. Bob's room comes next.")
	bobs := p.run()
	if got := texts(bobs.turn.Own); bobs.turn.Actor != bob || len(got) != 1 || got[0] != "instruction:and book me a room" {
		t.Errorf("%s's turn has %q", bobs.turn.Actor.User, got)
	}
	if run.turn.Actor != alice {
		t.Error("the first turn changed hands")
	}
	if got := p.handsBack(r, run, "c7", id); !got.Error || !strings.Contains(got.Text, "this run is over") {
		t.Errorf("a run that is over: %+v", got)
	}
	bobs.answers(t, "Booked.")
	p.noRun()
	// What waits is not shown as done by the turn that handed it back.
	p.slack.until(t, "both ends", func() bool {
		ends := 0
		for _, c := range p.slack.shown {
			if c.State == runtime.ShownDone {
				ends++
			}
			if c.State == runtime.ShownDone && c.Actor == alice && len(c.Messages) != 1 {
				t.Errorf("Alice's turn is shown done on %v", c.Messages)
			}
		}
		return ends == 2
	})
}

func TestDeletedMessageIsNotHandedBack(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	r := p.replica(func(o *runtime.Options) { o.Policy.CrossActor = runtime.ModeSteer })
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	steer := p.says(bob, "two")
	p.deliver(r, steer)
	run.boundary(t)
	gone := steer
	gone.Author, gone.Text = chat.Actor{}, ""
	gone.Change = &chat.Change{Kind: chat.Deleted, TS: "1700000000.000900"}
	p.wants(p.deliver(r, gone), chat.Blank)
	if got := p.handsBack(r, run, "c1", "C1:"+string(steer.ID.TS)); !got.Error || !strings.Contains(got.Text, "was deleted") {
		t.Errorf("a deleted message: %+v", got)
	}
	run.answers(t, "Done.")
	p.noRun()
}
