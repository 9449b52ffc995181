package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"reeve/agent"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m, redistest.NoSync()) }

const bound = 10 * time.Second // of any wait in these tests

var (
	alice = chat.Person("T1", "UALICE")
	bob   = chat.Person("T1", "UBOB")
	carol = chat.Person("T1", "UCAROL")
)

// play is a store with some replicas on it.
type play struct {
	t      *testing.T
	url    string
	prefix string
	opts   mailbox.Options
	slack  *fakeSlack
	agent  *fakeAgent
	last   int
}

func newPlay(t *testing.T) *play {
	s := redistest.Shared(t)
	return &play{
		t: t, url: s.URL(), prefix: s.Prefix(),
		opts:  mailbox.Options{LeaseTTL: time.Second, LeaseMargin: 200 * time.Millisecond},
		slack: newFakeSlack(), agent: newFakeAgent(),
	}
}

// policy is by what replicas decide where a test says nothing else.
var policy = runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone}

// beside is a way to the play's store, of a replica or of a process that is none.
func (p *play) beside() *mailbox.Box {
	p.t.Helper()
	o := p.opts
	o.URL, o.Prefix = p.url, p.prefix
	box, err := mailbox.Open(o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = box.Shutdown() })
	return box
}

// replica is one process of the play.
type replica struct {
	*runtime.Runtime
	box  *mailbox.Box
	stop context.CancelFunc
	done chan error
}

func (p *play) replica(change func(*runtime.Options)) *replica {
	p.t.Helper()
	box := p.beside()
	opts := runtime.Options{
		Box: box, Slack: p.slack, Agent: p.agent, Bot: "UBOT",
		Policy:     policy,
		RenewEvery: 300 * time.Millisecond, ShutdownGrace: time.Second,
	}
	if change != nil {
		change(&opts)
	}
	rt, err := runtime.New(opts)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &replica{rt, box, cancel, make(chan error, 1)}
	go func() { r.done <- rt.Run(ctx) }()
	p.t.Cleanup(r.end)
	return r
}

// end stops the replica as SIGTERM does, and waits for it.
func (r *replica) end() {
	r.stop()
	if err := <-r.done; err != nil {
		r.done <- err
	}
}

// says makes an addressed message in the play's one thread.
func (p *play) says(who chat.Actor, text string) chat.Message {
	p.last++
	return chat.Message{
		ID:           chat.MessageID{Team: "T1", Channel: "C1", TS: chat.TS(fmt.Sprintf("1700000000.%06d", p.last))},
		Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1700000000.000001"},
		Author:       who, Addressed: true, Standing: chat.MayInstruct, Visibility: chat.Public, Text: text,
	}
}

func (p *play) deliver(r *replica, m chat.Message) runtime.Outcome {
	p.t.Helper()
	o := r.Deliver(context.Background(), []chat.Message{m})[0]
	if o.Err != nil {
		p.t.Fatalf("deliver %q: %v", m.Text, o.Err)
	}
	return o
}

func (p *play) wants(o runtime.Outcome, want chat.Disposition) runtime.Outcome {
	p.t.Helper()
	if o.Disposition != want {
		p.t.Fatalf("%q by %s was decided as %s, want %s", o.Message.Text, o.Message.Author.Key(), o.Disposition, want)
	}
	return o
}

// fakeAgent lets the test hold each run and say how it goes on.
type fakeAgent struct {
	runs chan *fakeRun
}

// fakeRun is one call of the agent.
type fakeRun struct {
	turn agent.Turn
	log  agent.Log
	ctx  context.Context
	step chan func(*fakeRun) (bool, error)
	end  chan struct{}
	err  error
}

func newFakeAgent() *fakeAgent { return &fakeAgent{runs: make(chan *fakeRun, 1000)} }

func (a *fakeAgent) Run(ctx context.Context, turn agent.Turn, log agent.Log) error {
	r := &fakeRun{turn: turn, log: log, ctx: ctx, step: make(chan func(*fakeRun) (bool, error)), end: make(chan struct{})}
	a.runs <- r
	defer close(r.end)
	for {
		select {
		case <-ctx.Done():
			r.err = context.Cause(ctx)
			return r.err
		case step := <-r.step:
			over, err := step(r)
			if over || err != nil {
				r.err = err
				return err
			}
		}
	}
}

func (p *play) run() *fakeRun {
	p.t.Helper()
	select {
	case r := <-p.agent.runs:
		return r
	case <-time.After(bound):
		p.t.Fatal("no turn began to run")
		return nil
	}
}

func (p *play) noRun() {
	p.t.Helper()
	select {
	case r := <-p.agent.runs:
		p.t.Fatalf("a turn of %s runs that should wait", r.turn.Actor.Key())
	default:
	}
}

// do makes the run take one step and waits until it is taken.
func (r *fakeRun) do(t *testing.T, step func(*fakeRun) (bool, error)) {
	t.Helper()
	taken := make(chan struct{})
	select {
	case r.step <- func(r *fakeRun) (bool, error) { defer close(taken); return step(r) }:
		<-taken
	case <-r.end:
		t.Fatalf("the run had ended: %v", r.err)
	case <-time.After(bound):
		t.Fatal("the run takes no step")
	}
}

// answers closes the turn with a text, and answers the steers that came first.
func (r *fakeRun) answers(t *testing.T, text string) (steers []chat.Entry) {
	t.Helper()
	r.do(t, func(r *fakeRun) (bool, error) {
		var closed bool
		var err error
		steers, closed, err = r.log.Close(r.ctx, chat.Entry{Role: chat.AssistantRole, Origin: chat.Answer, Text: text, Posted: true})
		return closed, err
	})
	return steers
}

func (r *fakeRun) ended(t *testing.T) error {
	t.Helper()
	select {
	case <-r.end:
		return r.err
	case <-time.After(bound):
		t.Fatal("the run does not end")
		return nil
	}
}

// texts are what people typed among entries.
func texts(entries []chat.Entry) []string {
	var list []string
	for _, e := range entries {
		if e.Message != nil {
			list = append(list, string(e.Authority())+":"+e.Text)
		}
	}
	return list
}

// fakeSlack keeps what was posted and shown.
type fakeSlack struct {
	mu     sync.Mutex
	facts  map[chat.Actor]runtime.Facts
	down   map[chat.Actor]bool
	thread []chat.Message
	posts  []chat.Part
	shown  []runtime.Change
	change chan struct{}
}

func newFakeSlack() *fakeSlack {
	return &fakeSlack{facts: map[chat.Actor]runtime.Facts{}, down: map[chat.Actor]bool{}, change: make(chan struct{})}
}

func (s *fakeSlack) Facts(_ context.Context, who chat.Actor) (runtime.Facts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down[who] {
		return runtime.Facts{}, errors.New("slack does not answer")
	}
	if f, ok := s.facts[who]; ok {
		return f, nil
	}
	return runtime.Facts{Standing: chat.MayInstruct}, nil
}

func (s *fakeSlack) Known(who chat.Actor) (runtime.Facts, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.facts[who]
	return f, ok && !s.down[who]
}

func (s *fakeSlack) Thread(context.Context, chat.Conversation, chat.TS) ([]chat.Message, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.thread, false, nil
}

func (s *fakeSlack) Split(text string) []string { return []string{text} }

func (s *fakeSlack) Post(_ mailbox.SendLease, parts []chat.Part) {
	s.note(func() { s.posts = append(s.posts, parts...) })
}

func (s *fakeSlack) Show(c runtime.Change) { s.note(func() { s.shown = append(s.shown, c) }) }

func (s *fakeSlack) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.change)
	s.change = make(chan struct{})
}

// until waits until what was posted and shown satisfies ok.
func (s *fakeSlack) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	late := time.After(bound)
	for {
		s.mu.Lock()
		met, changed := ok(), s.change
		s.mu.Unlock()
		if met {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("never seen: %s; posted %+v", what, s.posts)
		}
	}
}

func (s *fakeSlack) posted(t *testing.T, text string) {
	t.Helper()
	s.until(t, "a post of "+text, func() bool {
		for _, p := range s.posts {
			if p.Markdown == text {
				return true
			}
		}
		return false
	})
}
