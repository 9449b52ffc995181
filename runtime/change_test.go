package runtime_test

import (
	"slices"
	"testing"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// changed is a message's change as the play's next event.
func (p *play) changed(m chat.Message, kind chat.ChangeKind, text string) chat.Message {
	event := p.says(m.Author, text).ID.TS
	m.Change = &chat.Change{Kind: kind, TS: event, ByAuthor: true, Differs: true, AddsMention: true}
	m.Text, m.Edited = text, event
	if kind == chat.Deleted {
		m.Author, m.Text, m.Edited = chat.Actor{}, "", ""
	}
	return m
}

func TestP4_DeletionStopsTheTurnAndSaysSo(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	request := p.says(alice, "book a table")
	p.deliver(r, request)
	run := p.run()
	steer := p.says(alice, "for four")
	p.wants(p.deliver(r, steer), chat.SteerOwn)
	if o := p.wants(p.deliver(r, p.changed(request, chat.Deleted, "")), chat.Stop); o.Message.Author != alice {
		t.Errorf("the deleted message is said to be %s's", o.Message.Author.Key())
	}
	<-run.ctx.Done()
	_ = run.ended(t)
	p.slack.posted(t, mailbox.DeletedText)
	p.slack.until(t, "the end of the turn's messages and of the steer that went with it", func() bool {
		var ended []chat.MessageID
		for _, c := range p.slack.shown {
			if c.State == runtime.ShownEnded {
				ended = append(ended, c.Messages...)
			}
		}
		return slices.Equal(ended, []chat.MessageID{request.ID, steer.ID})
	})
	p.noRun()
}

// The worker that goes on with a turn does not read what was deleted meanwhile,
// and still knows that somebody else's words were there.
func TestP4_DeletedTextIsNotResumed(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	p.deliver(r, p.says(alice, "book a table"))
	run := p.run()
	foreign := p.says(bob, "the place is closed")
	foreign.Forced = true
	p.wants(p.deliver(r, foreign), chat.SteerContext)
	run.do(t, func(r *fakeRun) (bool, error) {
		_, err := r.log.Boundary(r.ctx)
		return false, err
	})
	p.wants(p.deliver(r, p.changed(foreign, chat.Deleted, "")), chat.Blank)
	r.end() // hands the turn over
	p.replica(nil)
	again := p.run()
	if got := len(again.turn.Own); got != 2 {
		t.Fatalf("the turn goes on with %d entries, want 2", got)
	}
	if e := again.turn.Own[1]; e.Author() != bob || e.Origin != chat.Steer || e.Authority() != chat.Context || e.Text != "(This message was deleted.)" {
		t.Errorf("what is left of the message: %+v", e)
	}
	again.answers(t, "booked")
}

func TestP4_EditOfARequestIsACorrection(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	request := p.says(alice, "book a table")
	p.deliver(r, request)
	run := p.run()
	p.wants(p.deliver(r, p.changed(request, chat.Edited, "book two tables")), chat.SteerOwn)
	if !run.log.Steered() {
		t.Error("the run was not told of its correction")
	}
	steers := run.answers(t, "booked")
	if got := texts(steers); !slices.Equal(got, []string{"instruction:book two tables"}) {
		t.Fatalf("the turn took %v", got)
	}
	if e := steers[0]; !e.Corrects || e.Message == nil || *e.Message != request.ID {
		t.Errorf("the correction: %+v", e)
	}
	p.wants(p.deliver(r, p.changed(request, chat.Edited, "book three")), chat.Ignored)
	run.answers(t, "booked two")
}

func TestP3_EditEntersItsMessageOnce(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	edit := p.changed(p.says(alice, "book a table"), chat.Edited, "reeve, book a table")
	o := p.wants(p.deliver(r, edit), chat.Start)
	if o.Message.Change != nil || o.Message.ID != edit.ID {
		t.Errorf("what entered: %+v", o.Message)
	}
	p.wants(p.deliver(r, edit), chat.Ignored)
	if got := texts(p.run().turn.Own); !slices.Equal(got, []string{"instruction:reeve, book a table"}) {
		t.Errorf("the turn begins with %v", got)
	}
}

// A person who may not instruct any more corrects nothing: his turn goes on
// with what it has read.
func TestEditByWhomMayNotInstructIsNoSteer(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	request := p.says(alice, "book a table")
	p.deliver(r, request)
	run := p.run()
	edit := p.changed(request, chat.Edited, "book two tables")
	edit.Standing = chat.ContextOnly
	p.wants(p.deliver(r, edit), chat.Ignored)
	run.answers(t, "booked")
	p.slack.posted(t, "booked")
	p.noRun()
}
