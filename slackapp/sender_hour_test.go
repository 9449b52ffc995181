package slackapp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// TestP7_AnHourOfOutage: the shipped sender, with the shipped intervals, through
// an hour in which Slack refuses connections, swallows calls, fails and limits,
// and in the middle of which the process is restarted. Answers of posts that were
// carried out are lost at its beginning. The hour passes on a clock of its own.
func TestP7_AnHourOfOutage(t *testing.T) {
	line := newHourLine()
	sim := simulator.ForTest(t, simulator.Options{Now: line.clock})
	b := &bench{T: t, sim: sim, root: sim.Say(simulator.Alice, simulator.General, "hello", simulator.SayOptions{Quiet: true})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		line.carry()
	}()
	defer func() {
		close(line.requests)
		<-ended
	}()
	synctest.Test(t, func(t *testing.T) {
		api := slack.New(sim.BotToken(), slack.OptionAPIURL(sim.APIURL()),
			slack.OptionHTTPClient(&http.Client{Transport: line, Timeout: 30 * time.Second}))
		self, err := slackapp.WhoAmI(t.Context(), api)
		if err != nil {
			t.Fatal(err)
		}
		dm := b.part(4, "private")
		dm.To = chat.Destination{DM: simulator.Bob}
		box := &hourBox{outbox: newOutbox(b.part(1, "one"), b.part(2, "two"), b.part(3, "three"), dm)}
		start := func(look bool) (stop func()) {
			sender := slackapp.NewSender(slackapp.SenderOptions{Outbox: box, Client: api, Self: self})
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				_ = sender.Run(ctx)
			}()
			box.last = time.Now()
			sender.Post(mailbox.SendLease{
				Conversation: chat.Conversation{Team: simulator.HomeTeam, Channel: simulator.General, Root: chat.TS(b.root)},
				Token:        "1-a", Start: time.Now(), Look: look,
			}, box.left())
			return func() {
				cancel()
				<-over
			}
		}

		began := time.Now()
		sim.Fail(simulator.Fault{Method: "chat.postMessage", LoseAnswer: true, Times: 2})
		stop := start(false)
		synctest.Wait()
		b.expect(b.posted(simulator.General, b.root), "one") // and nobody but Slack knows
		line.mood.Store(refuses)
		<-time.After(15 * time.Minute)
		line.mood.Store(swallows)
		<-time.After(15 * time.Minute)
		stop()
		stop = start(true)
		<-time.After(10 * time.Minute)
		line.mood.Store(passes)
		sim.Fail(simulator.Fault{Method: "*", Status: http.StatusServiceUnavailable, Times: -1})
		<-time.After(10 * time.Minute)
		sim.Heal()
		sim.Fail(simulator.Fault{Method: "*", Status: http.StatusTooManyRequests, RetryAfter: 30, Times: -1})
		<-time.After(10 * time.Minute)
		sim.Heal()

		healed, tries := time.Now(), line.tries.Load()
		if lasted := healed.Sub(began); lasted < time.Hour {
			t.Errorf("the outage lasted only %v", lasted)
		}
		if left := box.left(); len(left) != 4 {
			t.Errorf("%d parts were left by the outage", len(left))
		}
		<-box.released
		took := time.Since(healed)
		stop()
		t.Logf("%d tries in an hour; all was posted %v after it; the lease was renewed at least every %v", tries, took, box.longest)
		if took > 90*time.Second {
			t.Errorf("all was posted only %v after the outage", took)
		}
		if tries < 100 || tries > 700 {
			t.Errorf("%d tries in an hour", tries)
		}
		if box.longest >= 10*time.Second {
			t.Errorf("the lease was not renewed for %v", box.longest)
		}
	})
	b.expect(b.posted(simulator.General, b.root), "one", "two", "three")
	b.expect(b.posted(simulator.BobDM, ""), "private")
}

// hourBox is an outbox that sees how often its lease is renewed.
type hourBox struct {
	*outbox
	mu      sync.Mutex
	last    time.Time
	longest time.Duration
}

func (o *hourBox) Sent(ctx context.Context, l mailbox.SendLease, done ...mailbox.Posted) ([]chat.Part, error) {
	o.mu.Lock()
	o.longest, o.last = max(o.longest, time.Since(o.last)), time.Now()
	o.mu.Unlock()
	return o.outbox.Sent(ctx, l, done...)
}

// What becomes of a call on its way.
const (
	passes = iota
	refuses
	swallows
)

// hourLine carries calls out of a bubble, whose clock stands still meanwhile, to
// a Slack that takes its time from there.
type hourLine struct {
	mood  atomic.Int32
	tries atomic.Int64
	now   atomic.Int64 // of the bubble, when it last called

	one      sync.Mutex // call at a time
	requests chan *http.Request
	answers  chan hourAnswer
}

type hourAnswer struct {
	*http.Response
	err error
}

func newHourLine() *hourLine {
	l := &hourLine{requests: make(chan *http.Request), answers: make(chan hourAnswer)}
	l.now.Store(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()) // where a bubble begins
	return l
}

func (l *hourLine) clock() time.Time { return time.Unix(0, l.now.Load()) }

// RoundTrip belongs to the bubble.
func (l *hourLine) RoundTrip(r *http.Request) (*http.Response, error) {
	l.tries.Add(1)
	switch l.mood.Load() {
	case refuses:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case swallows:
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	out, err := http.NewRequestWithContext(context.Background(), r.Method, r.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = r.Header.Clone()
	l.one.Lock()
	defer l.one.Unlock()
	l.now.Store(time.Now().UnixNano())
	l.requests <- out
	answer := <-l.answers
	return answer.Response, answer.err
}

// carry belongs outside of it.
func (l *hourLine) carry() {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for r := range l.requests {
		answer, err := client.Do(r)
		if err == nil {
			var body []byte
			body, err = io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			answer.Body = io.NopCloser(bytes.NewReader(body))
		}
		l.answers <- hourAnswer{answer, err}
	}
}
