package mailbox_test

import (
	"context"
	"errors"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// run is a turn in the hands of a worker.
type run struct {
	w   *world
	t   *testing.T
	box *mailbox.Box
	mailbox.Ref
	claimed *mailbox.Claimed
	n       int64
	parts   int
	send    *mailbox.SendLease // of what it has put out
}

// runs wants a claim and makes a run of it.
func (w *world) runs(c *mailbox.Claimed) *run {
	w.t.Helper()
	if c == nil {
		w.t.Fatal("no turn was claimed")
	}
	return &run{
		w: w, t: w.t, box: w.box, claimed: c, n: c.Commits,
		Ref: mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token},
	}
}

// began is runs, and wants the actor and the messages that the log begins with.
func (w *world) began(c *mailbox.Claimed, actor chat.Actor, log string) *run {
	w.t.Helper()
	r := w.runs(c)
	if c.Actor != actor {
		w.t.Fatalf("turn %s is %s's, want %s", c.Turn, c.Actor.User, actor.User)
	}
	w.wantLog(log, c.Log)
	return r
}

func entries(texts ...string) [][]byte {
	var raw [][]byte
	for _, text := range texts {
		raw = append(raw, []byte(text))
	}
	return raw
}

func (r *run) commit(c mailbox.Commit) mailbox.Committed {
	r.t.Helper()
	r.n++
	c.Ref, c.Number = r.Ref, r.n
	got, err := r.box.Commit(context.Background(), c)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// boundary commits a text and takes the steers that wait.
func (r *run) boundary(text string) []mailbox.Item {
	r.t.Helper()
	return r.commit(mailbox.Commit{Entries: entries(text), Take: true}).Taken
}

// answers commits a model's answer.
func (r *run) answers(text string) {
	r.t.Helper()
	r.commit(mailbox.Commit{Entries: entries(text), Answer: true})
}

func (r *run) part(text string) chat.Part {
	r.parts++
	return chat.Part{
		ID: string(r.Turn) + "/" + text, Turn: r.Turn, Markdown: text,
		To: chat.Destination{Channel: r.Conversation.Channel, Thread: r.Conversation.Root},
	}
}

// tryClose closes with one answer and one part of the given text.
func (r *run) tryClose(outcome mailbox.Outcome, text string, next mailbox.Next) (mailbox.Closing, error) {
	r.n++
	c := mailbox.Close{Ref: r.Ref, Number: r.n, Outcome: outcome, Next: next}
	if text != "" {
		c.Entries, c.Parts = entries(text), []chat.Part{r.part(text)}
	}
	return r.box.Close(context.Background(), c)
}

// close wants the turn to end, and answers the next one.
func (r *run) close(outcome mailbox.Outcome, text string) mailbox.Closing {
	r.t.Helper()
	got, err := r.tryClose(outcome, text, r.w.room())
	if err != nil {
		r.t.Fatal(err)
	}
	if !got.Closed {
		r.t.Fatalf("turn %s stays open: %+v", r.Turn, got)
	}
	return got
}

func (r *run) done(text string) mailbox.Closing {
	r.t.Helper()
	return r.close(mailbox.Done, text)
}

// staysOpen wants a done turn to go on, with what it read.
func (r *run) staysOpen(text, taken string) mailbox.Closing {
	r.t.Helper()
	got, err := r.tryClose(mailbox.Done, text, r.w.room())
	if err != nil {
		r.t.Fatal(err)
	}
	if got.Closed || got.Stop != nil {
		r.t.Fatalf("turn %s closed, or stops: %+v", r.Turn, got)
	}
	r.w.wantLog(taken, got.Taken)
	return got
}

// wait names the wait in which the turn was parked last.
func (r *run) wait() mailbox.WaitID { return mailbox.Park{Number: r.n}.ID() }

// parks wants no error.
func (r *run) parks(p mailbox.Park) mailbox.Parking {
	r.t.Helper()
	r.n++
	p.Ref, p.Number, p.For = r.Ref, r.n, []byte("consent")
	got, err := r.box.Park(context.Background(), p)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *run) park(next mailbox.Next, texts ...string) mailbox.Parking {
	r.t.Helper()
	return r.parks(mailbox.Park{Next: next, Entries: entries(texts...)})
}

// endWait ends a wait of the turn, as an account that is there does.
func (r *run) endWait(box *mailbox.Box, wait mailbox.WaitID, next mailbox.Next) (bool, *mailbox.Claimed, error) {
	return endWait(box, r.Conversation, r.Turn, wait, next)
}

func endWait(box *mailbox.Box, c chat.Conversation, turn chat.TurnID, wait mailbox.WaitID, next mailbox.Next) (bool, *mailbox.Claimed, error) {
	end, err := box.EndWait(context.Background(), mailbox.EndingWait{
		Conversation: c, Turn: turn, Wait: wait, Ending: chat.Ending{How: chat.ByAccount}, Next: next,
	})
	return end.Ended, end.Claimed, err
}

// endsWait ends the turn's last wait, and wants that to succeed.
func (r *run) endsWait(box *mailbox.Box, next mailbox.Next) *mailbox.Claimed {
	r.t.Helper()
	ended, got, err := r.endWait(box, r.wait(), next)
	if err != nil || !ended {
		r.t.Fatalf("the end of wait %s of turn %s: %v %v", r.wait(), r.Turn, ended, err)
	}
	return got
}

func (r *run) renew() (mailbox.Pulse, error) {
	pulses, errs := r.box.Renew(context.Background(), []mailbox.Ref{r.Ref})
	return pulses[0], errs[0]
}

// isLost wants every write of a lost worker to be refused.
func (r *run) isLost() {
	r.t.Helper()
	ctx, next := context.Background(), r.w.noRoom()
	tries := map[string]func() error{
		"renew": func() error { _, err := r.renew(); return err },
		"commit": func() error {
			_, err := r.box.Commit(ctx, mailbox.Commit{Ref: r.Ref, Number: 99, Entries: entries("late"), Take: true})
			return err
		},
		"close": func() error { _, err := r.tryClose(mailbox.Done, "late", next); return err },
		"fail":  func() error { _, err := r.tryClose(mailbox.Failed, "late", next); return err },
		"park": func() error {
			_, err := r.box.Park(ctx, mailbox.Park{Ref: r.Ref, Number: 99, Next: next, Entries: entries("late")})
			return err
		},
	}
	for what, try := range tries {
		if err := try(); !errors.Is(err, mailbox.ErrStale) {
			r.t.Errorf("%s by a lost worker: %v, want ErrStale", what, err)
		}
	}
}
