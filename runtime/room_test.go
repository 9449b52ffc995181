package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// lost is a process that claims turns, each in a thread of its own, and is gone.
type lost struct {
	*play
	box *mailbox.Box
}

func (p *play) lost() lost {
	p.t.Helper()
	return lost{p, p.beside()}
}

func (l lost) claims(turn chat.TurnID) mailbox.Ref {
	l.t.Helper()
	m := l.says(alice, string(turn))
	m.Conversation.Root = m.ID.TS
	row := runtime.DecideRow(m, policy)
	results, errs := l.box.PutAll(context.Background(), []mailbox.Put{{Message: m, Row: row, Turn: turn, Claim: true}})
	if errs[0] != nil || results[0].Claimed == nil {
		l.t.Fatalf("not claimed: %v", errs[0])
	}
	return mailbox.Ref{Conversation: m.Conversation, Turn: turn, Token: results[0].Claimed.Token}
}

// backlog loses more turns than one look at the index brings.
func (l lost) backlog() {
	l.t.Helper()
	for i := range 70 {
		l.claims(chat.TurnID(fmt.Sprintf("t_%02d", i)))
	}
}

// To post an answer takes no room: a backlog of turns that a replica cannot take
// does not hide the outboxes that it can.
func TestP7_AFullReplicaPostsWhatALostSenderLeft(t *testing.T) {
	p := newPlay(t)
	l := p.lost()
	l.backlog()
	ref := l.claims("t_done")
	closing, err := l.box.Close(context.Background(), mailbox.Close{Ref: ref, Number: 1, Outcome: mailbox.Done,
		Parts: []chat.Part{{ID: "t_done/0", Turn: "t_done", Markdown: "left behind", To: chat.Destination{Channel: "C1"}}}})
	if err != nil || closing.Send == nil {
		t.Fatalf("closed by its worker: %+v %v", closing, err)
	}
	p.replica(func(o *runtime.Options) { o.MaxRunning = 1 })
	p.run() // and goes on running
	p.slack.posted(t, "left behind")
	p.noRun()
}

// A parked turn's time is kept by whoever looks at the index. To end its wait
// takes no room, either.
func TestP4_AWaitEndsByItself(t *testing.T) {
	parks := func(l lost, turn chat.TurnID, within time.Duration) {
		t.Helper()
		ref := l.claims(turn)
		parking, err := l.box.Park(context.Background(), mailbox.Park{Ref: ref, Number: 1, Within: within})
		if err != nil || !parking.Parked {
			t.Fatalf("parked: %+v %v", parking, err)
		}
	}
	t.Run("and the turn goes on", func(t *testing.T) {
		p := newPlay(t)
		parks(p.lost(), "t_parked", p.opts.LeaseTTL/10)
		p.replica(nil)
		run := p.run()
		if run.turn.ID != "t_parked" {
			t.Errorf("turn %s runs", run.turn.ID)
		}
		run.answers(t, "not approved")
	})
	t.Run("in a replica that is full", func(t *testing.T) {
		p := newPlay(t)
		l := p.lost()
		l.backlog()
		parks(l, "t_parked", 2*p.opts.LeaseTTL) // the backlog is due before
		p.replica(func(o *runtime.Options) { o.MaxRunning = 1 })
		p.run()
		late := time.After(bound)
		for {
			ref := chat.Conversation{Team: "T1", Channel: "C1", Root: chat.TS(fmt.Sprintf("1700000000.%06d", p.last))}
			story, err := l.box.Story(context.Background(), ref, "t_parked")
			if err != nil {
				t.Fatal(err)
			}
			if story.State == "queued" && story.Ended == chat.ByTime {
				return
			}
			select {
			case <-late:
				t.Fatalf("the turn is %s", story.State)
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}
