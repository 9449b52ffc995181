package slackapp

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// Envelope is one delivery of Slack's, as it came over a socket.
type Envelope struct {
	ID      string          `json:"envelope_id"`
	Type    string          `json:"type"` // events_api, interactive or slash_commands
	Payload json.RawMessage `json:"payload"`
	// Attempt counts Slack's repetitions; the first delivery is 0.
	Attempt int    `json:"retry_attempt"`
	Reason  string `json:"retry_reason"`
	// Accepts: the acknowledgement may carry an answer.
	Accepts bool `json:"accepts_response_payload"`
}

// Delivery is an envelope with the way back. Ack returns at once; an
// acknowledgement that gets lost makes Slack deliver again.
type Delivery struct {
	Envelope
	Ack func()
	// Answer acknowledges with an answer; nil where none can be given.
	Answer func(answer any)
}

// Inbox is the runtime, as the edge sees it.
type Inbox interface {
	// Deliver puts messages that came together, in their order; outcome i
	// belongs to message i.
	Deliver(ctx context.Context, in []chat.Message) []runtime.Outcome
}

// Notices tells people what became of their messages.
type Notices interface {
	// Told is called after the acknowledgement, from one goroutine.
	Told(ctx context.Context, outcomes []runtime.Outcome)
}

// EdgeOptions say to whom an Edge talks. Zero durations and sizes mean the
// defaults.
type EdgeOptions struct {
	Self      Identity
	Admission Admission
	Inbox     Inbox
	Keys      Keys
	Fetcher   Fetcher
	Notices   Notices // may be nil
	// Clicks does what buttons say, and Home shows a home tab that a person has
	// opened; both may be nil.
	Clicks Clicks
	Forms  Forms // what windows ask, is handed in here; may be nil
	Home   func(ctx context.Context, person chat.Actor)

	Hold           time.Duration // of a mention, for its message; 500 ms
	LookUpTimeout  time.Duration // of a held mention's look-up and fetch; 8 s
	DeliverTimeout time.Duration // 10 s
	MaxInFlight    int           // envelopes that are not acknowledged; 1000
	Log            *slog.Logger
}

// batchMost is how many envelopes go to the mailbox together.
const batchMost = 128

// Edge admits what Slack delivers and acknowledges it when it is durable. The
// order is always: admission, one step of the mailbox, acknowledgement, work.
// Envelopes that have arrived while a step of their lane is under way make its
// next one.
type Edge struct {
	opts EdgeOptions
	log  *slog.Logger

	in       chan Delivery
	inFlight atomic.Int64
	dropped  atomic.Int64
	warned   atomic.Int64 // when a drop was last logged, Unix seconds
	closed   atomic.Bool

	// Of the loop alone.
	held  map[chat.MessageID]*held
	seen  *recent
	lanes [laneCount]lane

	due     chan chat.MessageID
	settled chan settled
	stored  chan stored
	lookUps chan struct{} // bounds the look-ups under way
	clicks  chan struct{} // bounds the clicks and home tabs under way
	told    chan []runtime.Outcome
	done    chan struct{}
	work    sync.WaitGroup
}

// NewEdge makes an edge; Run sets it to work.
func NewEdge(o EdgeOptions) *Edge {
	o.Hold = cmp.Or(o.Hold, 500*time.Millisecond)
	o.LookUpTimeout = cmp.Or(o.LookUpTimeout, 8*time.Second)
	o.DeliverTimeout = cmp.Or(o.DeliverTimeout, 10*time.Second)
	o.MaxInFlight = cmp.Or(o.MaxInFlight, 1000)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Edge{
		opts: o, log: o.Log,
		in:   make(chan Delivery, o.MaxInFlight),
		held: map[chat.MessageID]*held{}, seen: newRecent(4096),
		due: make(chan chat.MessageID), settled: make(chan settled), stored: make(chan stored), lookUps: make(chan struct{}, 8), clicks: make(chan struct{}, 32),
		told: make(chan []runtime.Outcome, 256), done: make(chan struct{}),
	}
}

// EdgeStats are an edge's counters.
type EdgeStats struct {
	InFlight int64 // envelopes that are not acknowledged yet
	Dropped  int64 // let go unacknowledged because too many were in flight
}

// Stats may be called at any time.
func (e *Edge) Stats() EdgeStats {
	return EdgeStats{InFlight: e.inFlight.Load(), Dropped: e.dropped.Load()}
}

// Take accepts a delivery and returns at once. false: it was not taken, and
// will not be acknowledged; Slack delivers it again.
func (e *Edge) Take(d Delivery) bool {
	if e.closed.Load() {
		return false
	}
	if e.inFlight.Add(1) > int64(e.opts.MaxInFlight) {
		e.inFlight.Add(-1)
		e.dropped.Add(1)
		if now, last := time.Now().Unix(), e.warned.Load(); now-last >= 10 && e.warned.CompareAndSwap(last, now) {
			e.log.Warn("too many envelopes in flight, leaving new ones to slack's retries", "dropped", e.dropped.Load())
		}
		return false
	}
	e.in <- d // never blocks: the channel holds MaxInFlight
	return true
}

// Run works until ctx ends; the batch under way is finished and acknowledged.
// What was taken and not begun stays unacknowledged. It is called once.
func (e *Edge) Run(ctx context.Context) error {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	e.work.Go(func() { e.tell(stop) })
	for ctx.Err() == nil {
		e.step(ctx)
	}
	e.finishLanes(ctx)
	e.closed.Store(true)
	for _, h := range e.held {
		h.timer.Stop()
	}
	close(e.done)
	cancel()
	e.work.Wait()
	return ctx.Err()
}

// step waits for something to do and does it, with all else that is there.
func (e *Edge) step(ctx context.Context) {
	var batch []item
	select {
	case <-ctx.Done():
		return
	case id := <-e.due:
		e.lookUp(ctx, id)
	case s := <-e.settled:
		batch = e.addSettled(batch, s)
	case s := <-e.stored:
		e.ended(ctx, s)
	case d := <-e.in:
		batch = e.add(ctx, batch, d)
	}
	for range batchMost {
		select {
		case id := <-e.due:
			e.lookUp(ctx, id)
			continue
		case s := <-e.settled:
			batch = e.addSettled(batch, s)
			continue
		case d := <-e.in:
			batch = e.add(ctx, batch, d)
			continue
		default:
		}
		break
	}
	e.deliver(ctx, batch)
}

// tell hands outcomes to the notices, so that these never delay a batch.
func (e *Edge) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case outcomes := <-e.told:
			e.opts.Notices.Told(ctx, outcomes)
		}
	}
}
