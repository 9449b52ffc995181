package slackapp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp/render"
)

// drain empties one conversation's outbox under one lease. Its loop alone talks
// to the mailbox; a lane for each destination talks to Slack.
type drain struct {
	s     *Sender
	lease mailbox.SendLease
	log   *slog.Logger

	// Of the loop.
	given   map[string]bool     // ids that a lane has, or had
	done    []mailbox.Posted    // out, but not out of the outbox yet
	out     chan mailbox.Posted // from the lanes
	lanes   sync.WaitGroup
	over    context.Context // ends when the lanes must
	endOver context.CancelFunc

	mu      sync.Mutex
	queues  map[chat.Destination][]queued // of each lane that runs
	places  map[string]posted             // of parts that this drain has posted
	trusted time.Time                     // when the last renewal began
	renewed chan struct{}                 // closed by the next renewal
}

// queued is a part that waits for its lane. look: an earlier sender may have
// posted it.
type queued struct {
	part chat.Part
	look bool
}

func newDrain(s *Sender, lease mailbox.SendLease) *drain {
	over, end := context.WithCancel(context.Background())
	return &drain{
		s: s, lease: lease, log: s.opts.Log.With("conversation", lease.Conversation.Key()),
		given: map[string]bool{}, out: make(chan mailbox.Posted), over: over, endOver: end,
		queues: map[chat.Destination][]queued{}, places: map[string]posted{}, trusted: lease.Start, renewed: make(chan struct{}),
	}
}

func (d *drain) run(parts []chat.Part) {
	defer d.lanes.Wait()
	defer d.endOver()
	d.give(parts, d.lease.Look)
	renew := time.NewTicker(d.s.opts.RenewEvery)
	defer renew.Stop()
	if len(parts) == 0 && d.settle() {
		return
	}
	for {
		select {
		case p := <-d.out:
			d.done = append(d.done, p)
			d.gather()
		case <-renew.C:
		case <-d.s.stop:
			d.finish()
			return
		}
		if d.settle() {
			return
		}
	}
}

// gather takes what else is out by now.
func (d *drain) gather() {
	for {
		select {
		case p := <-d.out:
			d.done = append(d.done, p)
		default:
			return
		}
	}
}

// settle tells the mailbox what is out and renews the lease with the same step.
// It reports whether the drain is over: nothing is left, or the lease is lost.
func (d *drain) settle() (over bool) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), d.s.opts.CallTimeout)
	defer cancel()
	left, err := d.s.opts.Outbox.Sent(ctx, d.lease, d.done...)
	if err != nil {
		return d.lost(err)
	}
	d.done = nil
	d.renew(start)
	d.give(left, false)
	return len(left) == 0
}

// lost reports whether the lease is: the mailbox says so, or has not answered
// for as long as a lease lives. Whoever takes it over finds the parts.
func (d *drain) lost(err error) bool {
	if errors.Is(err, mailbox.ErrStale) {
		d.log.Info("sender's lease lost", "err", err)
		return true
	}
	d.log.Warn("outbox not reached", "err", err)
	d.mu.Lock()
	defer d.mu.Unlock()
	return since(d.trusted) > d.s.opts.LeaseTTL
}

// finish lets the lanes end what they have begun, and gives the lease up.
func (d *drain) finish() {
	ended := make(chan struct{})
	go func() {
		d.lanes.Wait()
		close(ended)
	}()
	for waiting := true; waiting; {
		select {
		case p := <-d.out:
			d.done = append(d.done, p)
		case <-ended:
			waiting = false
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.s.opts.CallTimeout)
	defer cancel()
	if err := d.s.opts.Outbox.Release(ctx, d.lease, d.done...); err != nil && !errors.Is(err, mailbox.ErrStale) {
		d.log.Warn("lease not given up; the next sender waits for its end, and finds what is posted", "parts", len(d.done), "err", err)
	}
}

// give hands parts to the lanes of their destinations. look: an earlier sender
// may have posted any of them. Lanes do not wait until the mailbox knows what is
// out, so that more than the first one of a lane may be.
func (d *drain) give(parts []chat.Part, look bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range parts {
		if d.given[p.ID] {
			continue
		}
		d.given[p.ID] = true
		queue, runs := d.queues[p.To]
		d.queues[p.To] = append(queue, queued{p, look})
		if !runs {
			d.lanes.Go(func() { d.lane(p.To) })
		}
	}
}

// lane posts the parts of one destination, one after another.
func (d *drain) lane(to chat.Destination) {
	for {
		d.mu.Lock()
		queue := d.queues[to]
		if len(queue) == 0 {
			delete(d.queues, to)
			d.mu.Unlock()
			return
		}
		d.queues[to] = queue[1:]
		d.mu.Unlock()
		posted, err := d.deliver(queue[0].part, render.Markdown, queue[0].look)
		if err != nil {
			return // over, or stopped
		}
		select {
		case d.out <- posted:
		case <-d.over.Done():
			return
		}
	}
}

// since is how long ago t was, by whichever clock says more: the monotonic one
// stands still while a machine sleeps, the other may be set.
func since(t time.Time) time.Duration {
	return max(time.Since(t), time.Now().Round(0).Sub(t.Round(0)))
}

func (d *drain) renew(start time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trusted = start
	close(d.renewed)
	d.renewed = make(chan struct{})
}

// trust is how much longer the lease may be trusted, and what tells of its next
// renewal.
func (d *drain) trust() (time.Duration, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.s.opts.LeaseTTL - d.s.opts.LeaseMargin - since(d.trusted), d.renewed
}
