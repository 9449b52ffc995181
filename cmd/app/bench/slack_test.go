package bench

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

// channels is how many channels the posts are spread over.
const channels = 64

func channel(n int) string { return fmt.Sprintf("CBENCH%03d", n%channels) }

// workspace is a simulated Slack and one reader of what happens in it.
type workspace struct {
	*simulator.Server
	b    *testing.B
	next atomic.Int64

	mu      sync.Mutex
	said    map[string]time.Time      // by the ts of people's messages at the top
	replies map[string]time.Time      // nobody has asked for yet
	waiting map[string]chan time.Time // by the ts of the root
}

func newWorkspace(b *testing.B) *workspace {
	b.Helper()
	world := simulator.DefaultWorld()
	for n := range channels {
		world.AddChannel(simulator.Channel{
			ID: channel(n), Name: fmt.Sprintf("bench-%d", n), Members: []string{simulator.Alice, simulator.Bob, world.Bot.UserID},
		})
	}
	w := &workspace{
		Server: simulator.ForTest(b, simulator.Options{World: world}), b: b,
		said: map[string]time.Time{}, replies: map[string]time.Time{}, waiting: map[string]chan time.Time{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	go func() {
		// Accepts nothing, and so sees each event once.
		_, _ = w.WaitAfter(ctx, 0, func(e simulator.Event) bool { w.see(e); return false })
	}()
	return w
}

func (w *workspace) see(e simulator.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := e.Message
	switch {
	case e.Kind != simulator.MessagePosted:
	case m.User != w.Bot().UserID && m.ThreadTS == "":
		w.said[m.TS] = e.Time
	case m.User != w.Bot().UserID:
	case w.waiting[m.ThreadTS] != nil:
		w.waiting[m.ThreadTS] <- e.Time
		delete(w.waiting, m.ThreadTS)
	default:
		w.replies[m.ThreadTS] = e.Time
	}
}

func isTwin(e *simulator.Envelope) bool {
	return bytes.Contains(e.Payload, []byte(`"type":"app_mention"`))
}

// mention says something new to the bot, and returns the message's ts.
func (w *workspace) mention(text string, options ...simulator.SayOptions) (in, ts string) {
	in = channel(int(w.next.Add(1)))
	return in, w.Say(simulator.Alice, in, "<@"+w.Bot().UserID+"> "+text, options...)
}

// reply waits until the bot has posted below a message, and says how long after.
func (w *workspace) reply(ts string) time.Duration {
	w.mu.Lock()
	came, ok := w.replies[ts]
	var wait chan time.Time
	if !ok {
		wait = make(chan time.Time, 1)
		w.waiting[ts] = wait
	}
	delete(w.replies, ts)
	w.mu.Unlock()
	if !ok {
		timer := time.NewTimer(30 * time.Second)
		defer timer.Stop()
		select {
		case came = <-wait:
		case <-timer.C:
			w.b.Errorf("no reply to %s", ts)
			return 0
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer delete(w.said, ts)
	return came.Sub(w.said[ts])
}

// ask is a mention and its reply.
func (w *workspace) ask() time.Duration {
	_, ts := w.mention("what is new?")
	return w.reply(ts)
}

// askMany asks n times, with some in flight, and returns how many were answered
// a second.
func (w *workspace) askMany(n, inFlight int) float64 {
	var left atomic.Int64
	left.Store(int64(n))
	start := time.Now()
	var asking sync.WaitGroup
	for range inFlight {
		asking.Go(func() {
			for left.Add(-1) >= 0 && !w.b.Failed() {
				w.ask()
			}
		})
	}
	asking.Wait()
	return float64(n) / time.Since(start).Seconds()
}

// acks are the times to the acknowledgement of people's messages after a mark.
func (w *workspace) acks(mark int64) (took times) {
	for _, e := range w.Events(mark) {
		if e.Kind == simulator.Acked && bytes.Contains(e.Envelope.Payload, []byte(`"user":"`+simulator.Alice)) && !isTwin(e.Envelope) {
			took = append(took, e.Envelope.AckedAt.Sub(e.Envelope.Attempts[0].At))
		}
	}
	return took
}
