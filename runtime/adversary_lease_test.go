package runtime_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"reeve/agent"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// claimedBy lets a worker that is lost at once claim the turn of a message: it
// never renews or commits again.
func (p *play) claimedBy(m chat.Message) (*mailbox.Box, mailbox.Ref) {
	p.t.Helper()
	box := p.beside()
	results, errs := box.PutAll(context.Background(), []mailbox.Put{{Message: m, Row: runtime.DecideRow(m, policy), Turn: "t_lost", Claim: true}})
	if errs[0] != nil || results[0].Claimed == nil {
		p.t.Fatalf("not claimed: %v", errs[0])
	}
	return box, mailbox.Ref{Conversation: m.Conversation, Turn: "t_lost", Token: results[0].Claimed.Token}
}

// A steer that came while a turn was between workers is read before the next
// model call, not only when a renewal tells of it.
func TestASteerBetweenTwoWorkersIsKnownToTheNext(t *testing.T) {
	p := newPlay(t)
	p.claimedBy(p.says(alice, "one"))
	r := p.replica(func(o *runtime.Options) { o.RenewEvery = time.Hour })
	p.wants(p.deliver(r, p.says(alice, "two")), chat.SteerOwn)
	run := p.run()
	if !run.log.Steered() {
		t.Error("the next worker does not know of the steer")
	}
	if got := texts(run.answers(t, "done")); len(got) != 1 {
		t.Errorf("the turn took %v", got)
	}
	run.answers(t, "done")
}

// Signals are sent as soon as a turn is claimed, and may be there before the
// answer to the claim.
func TestAStopThatComesWithItsMessageCutsTheRun(t *testing.T) {
	p := newPlay(t)
	p.opts.LeaseTTL = time.Minute
	r := p.replica(func(o *runtime.Options) { o.RenewEvery = time.Hour })
	for range 20 {
		m, stop := p.says(alice, "one"), p.says(alice, "stop")
		m.Conversation.Root, stop.Conversation.Root, stop.Stop = m.ID.TS, m.ID.TS, true
		outcomes := r.Deliver(context.Background(), []chat.Message{m, stop})
		p.wants(outcomes[0], chat.Start)
		p.wants(outcomes[1], chat.Stop)
		p.run().ended(t)
	}
}

// deafAgent does not hear that its run is over.
type deafAgent struct {
	*fakeAgent
	deaf chan chan struct{} // each run of it, until it is let go
}

func (a *deafAgent) Run(ctx context.Context, turn agent.Turn, log agent.Log) error {
	select {
	case letGo := <-a.deaf:
		<-letGo
		return context.Cause(ctx)
	default:
		return a.fakeAgent.Run(ctx, turn, log)
	}
}

// lines are the messages of a log.
type lines chan string

func (l lines) Enabled(context.Context, slog.Level) bool { return true }
func (l lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l lines) WithGroup(string) slog.Handler            { return l }
func (l lines) Handle(_ context.Context, r slog.Record) error {
	select {
	case l <- r.Message:
	default:
	}
	return nil
}

func (l lines) await(t *testing.T, want string) {
	t.Helper()
	late := time.After(bound)
	for {
		select {
		case got := <-l:
			if got == want {
				return
			}
		case <-late:
			t.Fatalf("never logged: %s", want)
		}
	}
}

// A run that hangs past its lease must not take the holder of the next run of
// its turn with it, in the same process.
func TestALateRunLeavesTheNextRunOfItsTurnAlone(t *testing.T) {
	p := newPlay(t)
	p.opts.LeaseTTL, p.opts.LeaseMargin = 2*time.Second, 100*time.Millisecond
	deaf, letGo, log := &deafAgent{p.agent, make(chan chan struct{}, 1)}, make(chan struct{}), make(lines, 1000)
	deaf.deaf <- letGo
	r := p.replica(func(o *runtime.Options) {
		o.Agent, o.Logger, o.RenewEvery = deaf, slog.New(log), time.Hour
	})
	p.wants(p.deliver(r, p.says(alice, "one")), chat.Start)
	run := p.run() // the lease of the first has ended
	close(letGo)
	log.await(t, "turn lost")
	stop := p.says(alice, "stop")
	stop.Stop = true
	p.wants(p.deliver(r, stop), chat.Stop)
	if err := run.ended(t); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("the next run ended with %v, want the stop", err)
	}
	p.slack.posted(t, "Stopped.")
}
