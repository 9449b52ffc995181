package slackapp

import (
	"context"
	"hash/fnv"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// laneCount is how many steps of the mailbox are under way at once. A
// conversation's messages take one lane, one step after another, so that their
// order holds; a 1:1 DM takes one as a whole, since its messages join each
// other's conversations.
const laneCount = 8

// lane is a queue of messages, and whether a step with some is under way. It
// is the loop's alone.
type lane struct {
	waiting []item
	busy    bool
}

// stored is a step that has ended.
type stored struct {
	lane     int
	batch    []item
	outcomes []runtime.Outcome
}

func laneOf(m chat.Message) int {
	key := m.Conversation.Key()
	if m.Visibility == chat.DM {
		key = string(m.ID.Channel)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return int(h.Sum32() % laneCount)
}

// deliver sends a batch on its ways. What comes while its lane is busy makes
// the lane's next step.
func (e *Edge) deliver(ctx context.Context, batch []item) {
	for _, it := range batch {
		n := laneOf(it.message)
		e.lanes[n].waiting = append(e.lanes[n].waiting, it)
	}
	for n := range e.lanes {
		e.begin(ctx, n)
	}
}

// begin starts a lane's next step, if it is free and has one.
func (e *Edge) begin(ctx context.Context, n int) {
	l := &e.lanes[n]
	if l.busy || len(l.waiting) == 0 {
		return
	}
	size := min(len(l.waiting), batchMost)
	batch := l.waiting[:size:size]
	l.waiting, l.busy = l.waiting[size:], true
	e.work.Go(func() {
		messages := make([]chat.Message, len(batch))
		for i, it := range batch {
			messages[i] = it.message
		}
		// A step that has begun is finished, even when the edge is being stopped.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opts.DeliverTimeout)
		defer cancel()
		e.stored <- stored{n, batch, e.opts.Inbox.Deliver(ctx, messages)}
	})
}

// ended takes a step's outcomes, and begins the lane's next.
func (e *Edge) ended(ctx context.Context, s stored) {
	e.lanes[s.lane].busy = false
	e.acknowledge(s.batch, s.outcomes)
	if ctx.Err() == nil {
		e.begin(ctx, s.lane)
	}
}

// finishLanes waits for the steps under way.
func (e *Edge) finishLanes(ctx context.Context) {
	for n := range e.lanes {
		for e.lanes[n].busy {
			e.ended(ctx, <-e.stored)
		}
	}
}
