package slackapp_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/agent"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

func TestMain(m *testing.M) { redistest.Main(m, redistest.NoSync()) }

// office is a Slack and a store with replicas that answer each message with
// its own text. Intervals are a tenth of the shipped ones.
type office struct {
	*testing.T
	ctx   context.Context
	sim   *simulator.Server
	space *redistest.Space
	said  map[string][]string
}

func newOffice(t *testing.T) *office {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return &office{
		T: t, ctx: ctx, sim: simulator.ForTest(t, simulator.Options{}), space: redistest.Shared(t), said: map[string][]string{},
	}
}

// replica is one process.
type replica struct {
	*runtime.Runtime
	box    *mailbox.Box
	line   *wire
	sender *slackapp.Sender
	stop   context.CancelFunc
	ended  chan struct{}
}

func (o *office) replica() *replica {
	o.Helper()
	box, err := mailbox.Open(mailbox.Options{
		URL: o.space.URL(), Prefix: o.space.Prefix(), LeaseTTL: time.Second, LeaseMargin: 200 * time.Millisecond,
	})
	if err != nil {
		o.Fatal(err)
	}
	r := &replica{box: box, line: newWire(o.T, strings.TrimPrefix(o.sim.URL(), "http://")), ended: make(chan struct{})}
	r.line.open(o.T)
	client := slackapp.NewClient(slackapp.ClientOptions{BotToken: o.sim.BotToken(), APIURL: "http://" + r.line.addr + "/api/"})
	self, err := slackapp.WhoAmI(o.ctx, client)
	if err != nil {
		o.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(o.Output(), nil))
	r.sender = slackapp.NewSender(slackapp.SenderOptions{
		Outbox: box, Client: client, Self: self, Log: log, LeaseTTL: time.Second, LeaseMargin: 200 * time.Millisecond,
		RenewEvery: 300 * time.Millisecond, CallTimeout: 200 * time.Millisecond,
		Backoff: 50 * time.Millisecond, BackoffCap: 300 * time.Millisecond, Rate: 1000, Burst: 100,
	})
	r.Runtime, err = runtime.New(runtime.Options{
		Box: box, Slack: desk{r.sender}, Agent: echo{}, Bot: "UBOT", Logger: log,
		Policy:     runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone},
		RenewEvery: 300 * time.Millisecond, ShutdownGrace: time.Second,
	})
	if err != nil {
		o.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	var parts sync.WaitGroup
	parts.Go(func() { _ = r.Run(ctx) })
	parts.Go(func() { _ = r.sender.Run(ctx) })
	go func() {
		parts.Wait()
		close(r.ended)
	}()
	o.Cleanup(func() {
		r.end()
		_ = box.Shutdown()
	})
	return r
}

// end stops a replica as SIGTERM does.
func (r *replica) end() {
	r.stop()
	<-r.ended
}

// dies cuts a replica off from everything, as if it were gone.
func (r *replica) dies() {
	r.line.cut()
	_ = r.box.Shutdown()
}

// desk is the part of the edge that a runtime without sockets needs.
type desk struct{ *slackapp.Sender }

func (desk) Facts(context.Context, chat.Actor) (runtime.Facts, error) {
	return runtime.Facts{Standing: chat.MayInstruct}, nil
}
func (desk) Known(chat.Actor) (runtime.Facts, bool) { return runtime.Facts{}, false }
func (desk) Thread(context.Context, chat.Conversation, chat.TS) ([]chat.Message, bool, error) {
	return nil, false, nil
}
func (desk) Split(text string) []string { return strings.Split(text, "|") }
func (desk) Show(runtime.Change)        {}

// echo answers a turn with the words of its request.
type echo struct{}

func (echo) Run(ctx context.Context, turn agent.Turn, log agent.Log) error {
	words := turn.Own
	for {
		answer := "re: " + words[len(words)-1].Text
		steers, closed, err := log.Close(ctx, chat.Entry{Role: chat.AssistantRole, Origin: chat.Answer, Text: answer, Posted: true})
		if closed || err != nil {
			return err
		}
		words = steers
	}
}

// asks lets a replica take a message in a thread, or a new one, and answers the
// thread.
func (o *office) asks(r *replica, root, text string) string {
	o.Helper()
	ts := o.sim.Say(simulator.Alice, simulator.General, text, simulator.SayOptions{Quiet: true, Thread: root})
	if root == "" {
		root = ts
	}
	out := r.Deliver(o.ctx, []chat.Message{{
		ID:           chat.MessageID{Team: simulator.HomeTeam, Channel: simulator.General, TS: chat.TS(ts)},
		Conversation: chat.Conversation{Team: simulator.HomeTeam, Channel: simulator.General, Root: chat.TS(root)},
		Author:       chat.Person(simulator.HomeTeam, simulator.Alice), Standing: chat.MayInstruct, Addressed: true, Text: text,
	}})
	if out[0].Err != nil {
		o.Fatal(out[0].Err)
	}
	for i, piece := range strings.Split(text, "|") {
		if i == 0 {
			piece = "re: " + piece
		}
		o.said[root] = append(o.said[root], piece)
	}
	return root
}

// settles waits until every thread has as many answers as it had questions, and
// wants each once, in order.
func (o *office) settles() {
	o.Helper()
	err := o.sim.WaitUntil(o.ctx, func() bool {
		for root, want := range o.said {
			if len(o.answers(root)) < len(want) {
				return false
			}
		}
		return true
	})
	if err != nil {
		o.Error("not everything was posted")
	}
	for root, want := range o.said {
		if got := o.answers(root); !slices.Equal(got, want) {
			o.Errorf("posted %q, want %q", got, want)
		}
	}
}

func (o *office) answers(root string) (texts []string) {
	for _, m := range o.sim.Messages(simulator.General, root) {
		if m.User == "UBOT" {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// unsent is how many parts the outboxes hold.
func (o *office) unsent(r *replica) int {
	o.Helper()
	g, err := r.box.Gauges(o.ctx)
	if err != nil {
		o.Fatal(err)
	}
	return g.Unsent.N
}

// calls waits until a method is called.
func (o *office) calls(mark int64, method string) {
	o.Helper()
	if _, err := o.sim.WaitAfter(o.ctx, mark, func(e simulator.Event) bool {
		return e.Kind == simulator.Called && e.Call.Method == method
	}); err != nil {
		o.Fatal(err)
	}
}

// TestP7_AnOutageOfSlackDelays: through refused connections, errors, lost
// answers, a restart and a second replica everything is posted once, in order.
func TestP7_AnOutageOfSlackDelays(t *testing.T) {
	o := newOffice(t)
	a, b := o.replica(), o.replica()
	var roots []string
	for i := range 4 {
		roots = append(roots, o.asks(a, "", fmt.Sprint("before ", i)))
	}
	o.settles()

	a.line.cut() // Slack refuses connections
	b.line.cut()
	for i, root := range roots {
		o.asks([]*replica{a, b}[i%2], root, fmt.Sprintf("while away %d|its second part", i))
	}
	a.end() // the process is restarted meanwhile
	if o.unsent(b) == 0 {
		t.Error("the outage is none: nothing stands in the outboxes")
	}
	c := o.replica()
	o.sim.Fail(simulator.Fault{Method: "*", Status: 503, Times: -1})
	mark := o.sim.Mark()
	b.line.open(t) // now it answers with errors
	for _, root := range roots[:2] {
		o.asks(c, root, "while it fails")
	}
	for range 3 {
		o.calls(mark, "conversations.replies")
		mark = o.sim.Mark()
	}
	o.sim.Heal()
	o.sim.Fail(simulator.Fault{Method: "chat.postMessage", LoseAnswer: true, Times: 5})
	o.sim.Fail(simulator.Fault{Method: "conversations.replies", LoseAnswer: true, Times: 3})
	o.settles()
	for _, root := range roots {
		o.asks(b, root, "after")
	}
	o.settles()
}

// TestP7_ALostSendersSuccessorLooksFirst: a replica dies with a part carried out
// and not marked, and others behind it.
func TestP7_ALostSendersSuccessorLooksFirst(t *testing.T) {
	o := newOffice(t)
	a := o.replica()
	o.sim.Fail(simulator.Fault{Method: "chat.postMessage", Delay: time.Hour}) // carried out at once
	mark := o.sim.Mark()
	root := o.asks(a, "", "one|two|three")
	if _, err := o.sim.WaitAfter(o.ctx, mark, func(e simulator.Event) bool {
		return e.Kind == simulator.MessagePosted && e.Message.User == "UBOT"
	}); err != nil {
		t.Fatal(err)
	}
	a.dies()
	start := time.Now()
	b := o.replica()
	o.asks(b, root, "four")
	o.settles()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v to take the outbox over", took)
	}
	if looks := o.sim.Calls("conversations.replies"); len(looks) == 0 {
		t.Error("the successor did not look")
	}
}

// TestP7_ALostSenderMayHavePostedSeveral: a replica loses Redis, posts several
// parts of a thread of which Redis does not learn, and dies.
func TestP7_ALostSenderMayHavePostedSeveral(t *testing.T) {
	o := newOffice(t)
	a := o.replica()
	release := o.sim.Hold("chat.postMessage")
	defer release()
	root := o.asks(a, "", "one|two|three")
	if err := o.sim.WaitHeld(o.ctx, "chat.postMessage", 1); err != nil {
		t.Fatal(err)
	}
	if err := a.box.Shutdown(); err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := o.sim.WaitMessage(o.ctx, func(m simulator.Message) bool { return m.User == "UBOT" && m.Text == "two" }); err != nil {
		t.Fatal(err)
	}
	a.dies()
	o.asks(o.replica(), root, "four")
	o.settles()
}

// wire is a replica's connection to Slack, which can be cut: then it refuses.
type wire struct {
	t    *testing.T
	to   string
	addr string

	mu    sync.Mutex
	ln    net.Listener
	conns []net.Conn
	work  sync.WaitGroup
}

func newWire(t *testing.T, to string) *wire {
	l := &wire{t: t, to: to, addr: "127.0.0.1:0"}
	t.Cleanup(func() {
		l.cut()
		l.work.Wait()
	})
	return l
}

func (l *wire) open(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", l.addr)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ln, l.addr = ln, ln.Addr().String()
	l.work.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			l.work.Go(func() { l.carry(c) })
		}
	})
}

func (l *wire) carry(c net.Conn) {
	up, err := net.Dial("tcp", l.to)
	if err != nil {
		_ = c.Close()
		return
	}
	l.mu.Lock()
	l.conns = append(l.conns, c, up)
	l.mu.Unlock()
	l.work.Go(func() {
		_, _ = io.Copy(up, c)
		_ = up.Close()
	})
	_, _ = io.Copy(c, up)
	_ = c.Close()
}

func (l *wire) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ln != nil {
		_ = l.ln.Close()
	}
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}
