package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Runtime carries messages into turns and turns to their ends. It is safe for
// concurrent use.
type Runtime struct {
	opts Options

	mu       sync.Mutex
	holders  map[chat.TurnID]*holder
	early    early
	reserved int  // places promised to calls under way, and turns that run
	wanted   bool // a place was asked for when there was none
	ending   chan struct{}
	idle     chan struct{} // closed when, at the end, no place is taken any more
	// wake lets recovery look at the index now.
	wake   chan struct{}
	cut    context.Context // ends when turns in flight are to be cut
	cutNow context.CancelFunc
	board  *board // of tasks
	routes routes
}

// setup is what is fixed at a turn's first claim.
type setup struct {
	Tools []string `json:"tools"`
	// Nobodys are the tools of a turn of a system actor. Both lists are kept: whose
	// turn a step begins is found out in it.
	Nobodys []string `json:"nobodys"`
}

// somebody stands for any person.
var somebody = chat.Person("T", "U")

// setup is what a turn that begins now would be given.
func (r *Runtime) setup() []byte {
	var s setup
	if r.opts.Tools != nil {
		s.Tools, s.Nobodys = r.opts.Tools(somebody), r.opts.Tools(chat.Scheduler)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // names cannot fail to encode
	}
	return raw
}

// New makes a Runtime; Run sets it to work.
func New(opts Options) (*Runtime, error) {
	opts = opts.filled()
	if opts.Box == nil || opts.Slack == nil || opts.Agent == nil || opts.Bot == "" {
		return nil, errors.New("new runtime: it needs a mailbox, Slack, an agent and the bot's user id")
	}
	cut, cutNow := context.WithCancel(context.Background())
	return &Runtime{
		opts: opts, holders: map[chat.TurnID]*holder{},
		ending: make(chan struct{}), idle: make(chan struct{}),
		wake: make(chan struct{}, 1), cut: cut, cutNow: cutNow, board: newBoard(opts.Tasks, opts.MaxTasks),
	}, nil
}

// Run renews leases, takes over what lost workers left, and listens to other
// processes. When ctx ends it takes no new work, hands each turn over at its
// next boundary, cuts what is in flight after the grace, and returns.
func (r *Runtime) Run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var helpers sync.WaitGroup
	helpers.Go(func() { r.renew(background) })
	helpers.Go(func() { r.recover(ctx) })
	helpers.Go(func() { r.sweep(ctx) })
	helpers.Go(func() { r.listen(background) })
	helpers.Go(func() { r.watch(background) })
	<-ctx.Done()
	r.drain()
	stop()
	helpers.Wait()
	return ctx.Err()
}

// drain hands over what runs and waits until it is handed over: also what a
// call that is under way may still claim. Tasks are given the same grace.
func (r *Runtime) drain() {
	r.mu.Lock()
	close(r.ending)
	if r.reserved == 0 {
		close(r.idle)
	}
	r.mu.Unlock()
	r.board.close()
	grace, over := context.WithTimeout(context.Background(), r.opts.ShutdownGrace)
	defer over()
	for _, idle := range []chan struct{}{r.idle, r.board.idle} {
		select {
		case <-idle:
		case <-grace.Done():
		}
	}
	r.cutNow()
	<-r.idle
	<-r.board.idle
	r.routes.open.Wait()
}

// isDraining: the process ends, and begins nothing new.
func (r *Runtime) isDraining() bool {
	select {
	case <-r.ending:
		return true
	default:
		return false
	}
}

// reserve takes a place for a turn, if there is one. Otherwise the next place
// that becomes free is looked for.
func (r *Runtime) reserve() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isDraining() {
		return false
	}
	if r.reserved >= r.opts.MaxRunning {
		r.wanted = true
		return false
	}
	r.reserved++
	return true
}

// release gives a place back, to whoever found none.
func (r *Runtime) release() {
	r.mu.Lock()
	r.reserved--
	wanted := r.wanted
	r.wanted = false
	if r.isDraining() && r.reserved == 0 {
		close(r.idle)
	}
	r.mu.Unlock()
	if wanted {
		r.look()
	}
}

// look wakes recovery.
func (r *Runtime) look() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Running counts the turns that run in this process.
func (r *Runtime) Running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.holders)
}

// next is what this process offers a step that may start a turn.
func (r *Runtime) next(claim bool) mailbox.Next {
	return mailbox.Next{Claim: claim, Turn: newTurnID(), Setup: r.setup()}
}

func newTurnID() chat.TurnID {
	return chat.TurnID("t_" + strings.ToLower(ulid.Make().String()))
}
