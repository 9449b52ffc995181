package runtime

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// recover takes over what has no worker: turns and outboxes of lost processes,
// and conversations whose messages wait for a process with room. It sleeps
// until the earliest lease in the index ends, and at most one TTL: a lease that
// is made after the look ends no earlier.
func (r *Runtime) recover(ctx context.Context) {
	for ctx.Err() == nil {
		wait := r.recoverDue(ctx)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// retryIndex is how long to wait after the index could not be read.
const retryIndex = time.Second

// recoverDue does what is due now, the longest due first, and answers when to
// look again: at once when something was taken over, since one look does not
// bring everything.
func (r *Runtime) recoverDue(ctx context.Context) time.Duration {
	due, err := r.opts.Box.Due(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.opts.Logger.Warn("index not read", "err", err)
		}
		return retryIndex
	}
	slices.SortStableFunc(due, func(a, b mailbox.Due) int { return cmp.Compare(a.In, b.In) })
	wait := r.opts.Box.LeaseTTL()
	for _, d := range due {
		if d.Kind == mailbox.DueTurn || d.Kind == mailbox.DueTask {
			// A lease may have ended because the store was away: its holder
			// gets time to come back.
			d.In = max(d.In, r.opts.Box.Unsettled())
		}
		if d.In > 0 {
			wait = min(wait, d.In)
			continue
		}
		switch took, err := r.takeOver(ctx, d); {
		case err != nil:
			r.opts.Logger.Warn("not taken over", "conversation", d.Conversation.Key(), "kind", d.Kind, "err", err)
			wait = min(wait, retryIndex)
		case took:
			wait = 0
		}
	}
	return wait
}

// takeOver reports whether this process now works on what was due.
func (r *Runtime) takeOver(ctx context.Context, d mailbox.Due) (bool, error) {
	if d.Kind == mailbox.DueSend {
		lease, parts, ok, err := r.opts.Box.ClaimSending(ctx, d.Conversation)
		if err == nil && ok {
			r.opts.Slack.Post(lease, parts)
		}
		return ok, err
	}
	if d.Kind == mailbox.DueWait {
		return r.expire(ctx, d)
	}
	if d.Kind == mailbox.DueTask {
		return r.takeTask(ctx, d)
	}
	if !r.reserve() {
		return false, nil // a place that becomes free looks again
	}
	next := r.next(true)
	next.LostBy, next.Due = d.Seen, d.Turn
	if d.Kind != mailbox.DueTurn {
		next.LostBy = time.UnixMilli(0) // what is on offer is nobody's loss
	}
	result, err := r.opts.Box.Claim(ctx, d.Conversation, next, r.opts.MaxAttempts)
	if err == nil && result.Exhausted != nil {
		result.Claimed, err = r.abandon(ctx, result.Exhausted)
	}
	if result.Untouched {
		r.opts.Logger.Warn("nobody has touched this for long: it is parked", "conversation", d.Conversation.Key())
		if result.Send != nil {
			r.opts.Slack.Post(*result.Send, result.Parts)
		}
	}
	if err != nil || result.Claimed == nil {
		r.release()
		return result.Untouched, err
	}
	if result.Exhausted == nil && result.Claimed.Turn != next.Turn {
		r.opts.Count(CountResumed, "", 1)
	}
	r.start(result.Claimed)
	return true, nil
}

// expire ends a wait whose time is over. That takes no room: without it, the
// turn waits in the queue.
func (r *Runtime) expire(ctx context.Context, d mailbox.Due) (bool, error) {
	next := r.next(r.reserve())
	ended, claimed, err := r.opts.Box.ExpireWait(ctx, d.Conversation, d.Turn, next)
	if ended {
		r.opts.Logger.Info("wait expired", "turn", d.Turn, "conversation", d.Conversation.Key())
	}
	r.goOn(claimed, next)
	return ended, err
}

// abandon ends a turn that has lost all its workers. Its actor is told in the
// same step; the next turn starts in it.
func (r *Runtime) abandon(ctx context.Context, e *mailbox.Exhausted) (*mailbox.Claimed, error) {
	var parts []chat.Part
	if e.Actor.IsPerson() {
		parts = []chat.Part{{
			ID: partID(e.Turn, 0, 0), Turn: e.Turn, To: chat.Destination{DM: e.Actor.User},
			Markdown: "I had to give up on your request (turn " + e.Turn.Short() + "): every attempt at it broke off. " +
				"Please ask again; if it happens again, tell whoever runs me the turn's name.",
		}}
	} else {
		parts = r.abandonedDue(ctx, e)
	}
	closing, err := r.opts.Box.Close(ctx, mailbox.Close{
		Ref: e.Ref, Number: e.Commits + 1, Outcome: mailbox.Abandoned, Parts: parts, Next: r.next(true),
		Tasks: r.abandonedTasks(ctx, e),
	})
	if errors.Is(err, mailbox.ErrStale) {
		return nil, nil // another replica was first
	}
	if err != nil {
		return nil, err
	}
	r.opts.Count(CountEnded, string(mailbox.Abandoned), 1)
	r.opts.Logger.Error("turn abandoned", "turn", e.Turn, "conversation", e.Conversation.Key(), "actor", e.Actor.Key())
	if closing.Send != nil {
		r.opts.Slack.Post(*closing.Send, closing.Parts)
	}
	return closing.Next, nil
}
