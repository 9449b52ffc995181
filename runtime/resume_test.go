package runtime_test

import (
	"context"
	"slices"
	"testing"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// What its actor says while his turn is parked joins it as his instruction, and
// nobody else's words do.
func TestWhatJoinedAParkedTurnIsItsActorsInstruction(t *testing.T) {
	p := newPlay(t)
	ref := p.lost().claims("t_parked")
	parking, err := p.lost().box.Park(context.Background(), mailbox.Park{Ref: ref, Number: 1})
	if err != nil || !parking.Parked {
		t.Fatalf("parked: %+v %v", parking, err)
	}
	r := p.replica(nil)
	in := func(m chat.Message) chat.Message {
		m.Conversation = ref.Conversation
		return m
	}
	p.wants(p.deliver(r, in(p.says(alice, "for four"))), chat.JoinParked)
	p.wants(p.deliver(r, in(p.says(bob, "and for me"))), chat.Start)
	if run := p.run(); run.turn.Actor != bob {
		t.Fatalf("a turn of %s runs", run.turn.Actor.Key())
	} else {
		run.answers(t, "for you")
	}
	forced := in(p.says(alice, "now"))
	forced.Forced = true
	p.wants(p.deliver(r, forced), chat.EndWait)
	run := p.run()
	got := texts(run.turn.Own)
	run.do(t, func(r *fakeRun) (bool, error) {
		steers, err := r.log.Boundary(r.ctx)
		got = append(got, texts(steers)...)
		return false, err
	})
	if want := []string{"instruction:t_parked", "instruction:for four", "instruction:now"}; !slices.Equal(got, want) {
		t.Errorf("the turn holds %q, want %q", got, want)
	}
	if run.turn.ID != "t_parked" || len(run.turn.Before) != 0 {
		t.Errorf("turn %s is shown %q of what was before it", run.turn.ID, texts(run.turn.Before))
	}
	run.answers(t, "done")
}

// The name of somebody who has not written before is fixed before the model
// reads it.
func TestANameThatCameWithASteerStays(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	steered := func(o *runtime.Options) { o.Policy.CrossActor = runtime.ModeSteer }
	p.slack.facts[bob] = runtime.Facts{Name: "Bob", Standing: chat.MayInstruct}
	r := p.replica(steered)
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	p.wants(p.deliver(r, p.says(bob, "and this")), chat.SteerContext)
	if got := run.boundary(t); len(got) != 1 || got[0].Name != "Bob" {
		t.Fatalf("steers: %+v", got)
	}
	r.end()
	p.slack.note(func() { p.slack.facts[bob] = runtime.Facts{Name: "Robert", Standing: chat.MayInstruct} })
	p.replica(steered)
	again := p.run()
	if own := again.turn.Own; len(own) != 2 || own[1].Name != "Bob" {
		t.Errorf("the run that goes on is shown %+v", own)
	}
	again.answers(t, "Done.")
}
