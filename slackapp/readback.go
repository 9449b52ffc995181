package slackapp

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Gaps keeps, for all replicas, the sign that somebody can acknowledge, and the
// gap that its lack leaves. The mailbox is one.
type Gaps interface {
	Stamp(ctx context.Context, s mailbox.Sign) (*mailbox.Gap, error)
	CloseGap(ctx context.Context, g mailbox.Gap) (closed bool, err error)
	Touched(ctx context.Context, before time.Time) ([]chat.Conversation, error)
}

// Line says whether Slack can reach this process. Sockets are one.
type Line interface {
	// Heard is how long ago anything was read from Slack, and how many sockets
	// were opened so far. live is false while no socket stands.
	Heard() (silent time.Duration, opened int64, live bool)
}

// Edits is told of messages whose text has changed.
type Edits interface {
	// Edited gets a message as it reads now: Edited is the ts of the edit, which
	// its author made himself.
	Edited(ctx context.Context, m chat.Message) error
}

// ReadBackOptions are what a ReadBack is made of. Zero durations and numbers
// mean the shipped values.
type ReadBackOptions struct {
	Gaps      Gaps
	Line      Line
	Reader    *Reader
	Self      Identity
	Admission Admission
	Inbox     Inbox
	Notices   Notices // may be nil
	Edits     Edits   // may be nil: edits are not read back

	// StampEvery is the pause between signs of life; 2 s. GapAfter is the
	// longest pause that is no gap; 5 s.
	StampEvery, GapAfter time.Duration
	// Lease is how long a replica that died keeps the right to read; 10 s.
	// Margin is how long before its end the holder stops; 2 s.
	Lease, Margin time.Duration
	// Rate and Burst bound the calls of each method; one in 4 s after a burst of
	// 3, which is a third of what Slack allows.
	Rate  rate.Limit
	Burst int
	Log   *slog.Logger
}

// deafAfter is the silence before a new socket from which on the old one counts
// as dead all that time. Slack pings more often.
const deafAfter = 22 * time.Second

// idleLook is how often a process that Slack cannot reach looks whether it can.
const idleLook = 250 * time.Millisecond

// ReadBack finds the times in which no replica could acknowledge, and reads
// from Slack what was said in them. A replica that can acknowledge says so in
// the store every two seconds; whoever says so and finds that nobody did for
// longer than five has found a gap, be it that the sockets were away, or Redis,
// or that no process lived. One replica reads it back, and only a finished
// reading closes it. Until then it is begun again, by whoever is alive: what
// has entered before is known, and enters once.
type ReadBack struct {
	opts  ReadBackOptions
	log   *slog.Logger
	calls map[string]*rate.Limiter // by method

	// Of the loop alone.
	opened  int64     // sockets, at the last sign
	heard   time.Time // when anything was last read from Slack
	signed  time.Time // when the last sign that was taken was sent
	failing bool

	mu      sync.Mutex
	gap     *mailbox.Gap // that stands, as far as known
	reading *reading
	work    sync.WaitGroup
}

// NewReadBack makes a ReadBack; Run sets it to work.
func NewReadBack(o ReadBackOptions) *ReadBack {
	o.StampEvery = cmp.Or(o.StampEvery, 2*time.Second)
	o.GapAfter = cmp.Or(o.GapAfter, 5*time.Second)
	o.Lease = cmp.Or(o.Lease, 10*time.Second)
	o.Margin = cmp.Or(o.Margin, 2*time.Second)
	o.Rate = cmp.Or(o.Rate, rate.Every(4*time.Second))
	o.Burst = cmp.Or(o.Burst, 3)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	b := &ReadBack{opts: o, log: o.Log, calls: map[string]*rate.Limiter{}}
	for _, method := range []string{callList, callHistory, callReplies} {
		b.calls[method] = rate.NewLimiter(o.Rate, o.Burst)
	}
	return b
}

// Run gives signs of life and reads gaps back until ctx ends.
func (b *ReadBack) Run(ctx context.Context) error {
	defer b.work.Wait()
	defer b.leave()
	for ctx.Err() == nil {
		timer := time.NewTimer(b.sign(ctx))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	return ctx.Err()
}

// ReadBackStats say how far reading back is.
type ReadBackStats struct {
	// From is where the gap begins that stands; zero: none does.
	From    time.Time
	Reading bool // in this process
}

// Stats may be called at any time.
func (b *ReadBack) Stats() ReadBackStats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := ReadBackStats{Reading: b.reading != nil}
	if b.gap != nil {
		s.From = b.gap.From
	}
	return s
}

// sign gives a sign of life, if there is any, and acts on what it learns. It
// answers when to come again.
func (b *ReadBack) sign(ctx context.Context) time.Duration {
	silent, opened, live := b.opts.Line.Heard()
	if !live {
		b.distrust()
		return min(idleLook, b.opts.StampEvery)
	}
	start := time.Now()
	deaf := opened != b.opened && !b.heard.IsZero() && start.Sub(b.heard) > deafAfter
	gap, err := b.opts.Gaps.Stamp(ctx, mailbox.Sign{
		Silent: silent, NewSocket: deaf, GapAfter: b.opts.GapAfter, DeafAfter: deafAfter, Lease: b.opts.Lease,
	})
	if err != nil {
		if ctx.Err() == nil && !b.failing {
			b.failing = true
			b.log.Warn("no sign of life can be given", "err", err)
		}
		b.distrust()
		return b.opts.StampEvery
	}
	b.failing, b.opened, b.heard, b.signed = false, opened, start.Add(-silent), start
	b.see(ctx, gap)
	return b.opts.StampEvery
}

// see begins to read a gap that is ours, and lets go of one that is not.
func (b *ReadBack) see(ctx context.Context, gap *mailbox.Gap) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gap = gap
	if gap != nil && gap.Opened {
		b.log.Warn("nobody could acknowledge for a while, what was said is read back", "gap", gap.Number, "from", gap.From)
	}
	mine := gap != nil && gap.Mine
	switch {
	case mine && b.reading == nil:
		ctx, cancel := context.WithCancel(ctx)
		r := &reading{ReadBack: b, gap: *gap, cancel: cancel}
		b.reading = r
		b.log.Info("reading back", "gap", gap.Number, "from", gap.From)
		b.work.Go(func() {
			defer cancel()
			r.run(ctx)
			b.mu.Lock()
			defer b.mu.Unlock()
			b.reading = nil
		})
	case !mine && b.reading != nil:
		b.reading.cancel()
	}
}

// distrust stops a reading whose right may have ended.
func (b *ReadBack) distrust() {
	if time.Since(b.signed) > b.opts.Lease-b.opts.Margin {
		b.leave()
	}
}

func (b *ReadBack) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading != nil {
		b.reading.cancel()
	}
}

// Heard implements Line.
func (s *Sockets) Heard() (silent time.Duration, opened int64, live bool) {
	for _, st := range s.Status() {
		if st.Hello && st.Silent < s.opts.Silence && (!live || st.Silent < silent) {
			silent, live = st.Silent, true
		}
	}
	return silent, s.Connects(), live
}
