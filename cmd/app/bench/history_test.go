package bench

import (
	"context"
	"encoding/json"
	"time"

	"reeve/agent"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// desk is a runtime on a growing mailbox, with people who are known and a model
// that answers at once.
type desk struct {
	*growing
	runtime *runtime.Runtime
	done    chan chat.TurnID
}

func (g *growing) desk() *desk {
	d := &desk{growing: g, done: make(chan chat.TurnID, 10)}
	var err error
	d.runtime, err = runtime.New(runtime.Options{
		Box: g.box, Slack: d, Agent: d, Bot: "UBOT", HistoryTokens: agent.DefaultContextTokens * 3 / 4,
		Policy: runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone},
	})
	if err != nil {
		g.b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.runtime.Run(ctx)
	}()
	g.b.Cleanup(func() {
		stop()
		<-ended
	})
	return d
}

// another is one more message in a conversation with turns since its last
// summary: from its delivery to the turn's end, with all that is read for its
// prompt.
func (d *desk) another(in func() chat.Message) func() time.Duration {
	return func() time.Duration {
		first, m := in(), d.next()
		m.ID.Channel, m.Conversation = first.ID.Channel, first.Conversation
		start := time.Now()
		if out := d.runtime.Deliver(context.Background(), []chat.Message{m}); out[0].Err != nil || out[0].Disposition != chat.Start {
			d.b.Fatalf("message %s: %s, %v", m.ID.TS, out[0].Disposition, out[0].Err)
		}
		<-d.done
		return time.Since(start)
	}
}

// summarised adds turns to a conversation: one that summarises what was before
// it, and then others.
func (d *desk) summarised(first chat.Message, more int) chat.Message {
	d.quickly(func() {
		for i := range more + 1 {
			m := d.next()
			m.ID.Channel, m.Conversation = first.ID.Channel, first.Conversation
			c := d.start(m)
			r := &running{c, mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token}, c.Commits}
			if i == 0 {
				raw, _ := json.Marshal(chat.Entry{
					Role: chat.UserRole, Origin: chat.Summary, Text: "What was said so far.",
					Covers: &chat.Range{From: 1, To: c.History, Reader: c.Actor},
				})
				d.commit(r, false, raw)
			}
			c.Commits = r.number
			d.end(c)
		}
	})
	return first
}

// Run implements runtime.Agent.
func (d *desk) Run(ctx context.Context, turn agent.Turn, log agent.Log) error {
	agent.BuildRequest(turn, nil, 0)
	_, _, err := log.Close(ctx, chat.Entry{Role: chat.AssistantRole, Origin: chat.Answer, Text: "Here is what you asked for.", Posted: true})
	return err
}

// What follows implements runtime.Slack.

func (d *desk) Facts(context.Context, chat.Actor) (runtime.Facts, error) {
	return runtime.Facts{Name: "Alice", Standing: chat.MayInstruct}, nil
}

func (d *desk) Known(chat.Actor) (runtime.Facts, bool) {
	return runtime.Facts{Name: "Alice", Standing: chat.MayInstruct}, true
}

func (d *desk) Thread(context.Context, chat.Conversation, chat.TS) ([]chat.Message, bool, error) {
	return nil, false, nil
}

func (d *desk) Split(string) []string { return nil }

func (d *desk) Post(mailbox.SendLease, []chat.Part) {}

func (d *desk) Show(c runtime.Change) {
	if c.State == runtime.ShownDone {
		d.done <- c.Turn
	}
}
