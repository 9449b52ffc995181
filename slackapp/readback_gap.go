package slackapp

import (
	"context"
	"slices"
	"strings"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

const (
	// overlap is read again before a gap: what was on its way when the last sign
	// was given, by a clock that need not be Slack's.
	overlap = 30 * time.Second
	// editsBefore is how old a message may be at the beginning of a gap, so that
	// its edit is found.
	editsBefore = time.Hour
	// readBatch is how many messages are delivered in one step at most.
	readBatch = 64
)

// reading is one attempt at a gap.
type reading struct {
	*ReadBack
	gap    mailbox.Gap
	cancel context.CancelFunc

	since, oldest  chat.TS // where messages, and edits, begin
	read           map[chat.Conversation]bool
	found, entered int
}

// run reads the gap back and closes it. What Slack or the store does not give
// now is asked for again, until ctx ends.
func (r *reading) run(ctx context.Context) {
	start := time.Now()
	from := r.gap.From.Add(-overlap)
	r.read = map[chat.Conversation]bool{}
	r.since, r.oldest = slackTime(from), slackTime(from.Add(-editsBefore))
	jobs, err := r.jobs(ctx)
	for wait := time.Second; err == nil && len(jobs) > 0; wait = min(2*wait, time.Minute) {
		if jobs, err = r.pass(ctx, jobs); len(jobs) > 0 && err == nil {
			err = pause(ctx, wait)
		}
	}
	closed := false
	if err == nil {
		closed, err = again(ctx, func() (bool, error) { return r.opts.Gaps.CloseGap(ctx, r.gap) })
	}
	log := r.log.With("gap", r.gap.Number, "from", r.gap.From, "messages", r.found, "entered", r.entered, "took", time.Since(start).Round(time.Millisecond).String())
	switch {
	case ctx.Err() != nil:
		log.Info("reading back broken off")
	case err != nil:
		log.Warn("gap not read back", "err", scrubbed(err))
	default:
		log.Info("gap read back", "closed", closed)
	}
}

// pass does each job once and answers those that are to be tried again.
func (r *reading) pass(ctx context.Context, jobs []job) (left []job, err error) {
	for _, j := range jobs {
		err := r.do(ctx, j)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
		case refusedForGood(err), lacksScope(err):
			r.log.Warn("not read back, slack refuses it", "channel", j.in.id, "err", scrubbed(err))
		default:
			r.log.Warn("not read back yet", "channel", j.in.id, "err", scrubbed(err))
			left = append(left, j)
		}
	}
	return left, nil
}

// do reads what one job names and delivers it in the order of time.
func (r *reading) do(ctx context.Context, j job) error {
	var said []chat.Message
	thread := func(root chat.TS) chat.Conversation {
		return chat.Conversation{Team: r.opts.Self.Team, Channel: j.in.id, Root: root}
	}
	if !j.top && r.read[thread(j.threads[0])] {
		return nil // with its channel
	}
	if j.top {
		top, threads, err := r.top(ctx, j.in)
		if err != nil {
			return err
		}
		said = top
		for _, t := range threads {
			if !slices.Contains(j.threads, t) {
				j.threads = append(slices.Clone(j.threads), t)
			}
		}
	}
	for _, root := range j.threads {
		replies, err := r.thread(ctx, j.in, thread(root))
		if err != nil && (len(j.threads) == 1 && !j.top || !refusedForGood(err)) {
			return err
		}
		said = append(said, replies...)
	}
	slices.SortFunc(said, func(a, b chat.Message) int { return strings.Compare(string(a.ID.TS), string(b.ID.TS)) })
	said = slices.CompactFunc(said, func(a, b chat.Message) bool { return a.ID.TS == b.ID.TS })
	for _, m := range said {
		if m.ID.TS < r.since {
			if err := r.edited(ctx, m); err != nil {
				return err
			}
		}
	}
	said = slices.DeleteFunc(said, func(m chat.Message) bool { return m.ID.TS < r.since })
	for batch := range slices.Chunk(said, readBatch) {
		if err := r.deliver(ctx, batch); err != nil {
			return err
		}
	}
	for _, root := range j.threads {
		r.read[thread(root)] = true
	}
	return nil
}
