package runtime

import (
	"context"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// retryFacts is how long a closing waits before it asks again about the author
// of a steer, when Slack does not answer.
const retryFacts = time.Second

func (l *turnLog) Close(ctx context.Context, answer chat.Entry) ([]chat.Entry, bool, error) {
	answer.Text = l.heading() + answer.Text
	// Names and notes need no place in the log of a turn that ends.
	entries, err := encode(append(l.sections, answer))
	if err != nil {
		return nil, false, err
	}
	l.sections = nil
	return l.finish(ctx, entries, l.parts(l.r.opts.Slack.Split(answer.Text)))
}

// finish closes the turn as done, with what is still to be written, unless
// steers wait: then it answers these.
func (l *turnLog) finish(ctx context.Context, entries [][]byte, parts []chat.Part) ([]chat.Entry, bool, error) {
	for {
		l.h.steered.Store(false)
		closing, err := l.close(ctx, mailbox.Done, entries, parts)
		switch {
		case err != nil:
			return nil, false, err
		case closing.Stop != nil:
			l.h.stop(errStopped)
			return nil, false, errStopped
		case closing.Closed:
			return nil, true, nil
		}
		l.length += len(entries)
		l.keep(nil, entries)
		entries, parts = nil, nil // they are written, and posted all the same
		steers := l.taken(closing.Taken)
		if l.fixed.news {
			if _, err := l.write(ctx, mailbox.Commit{}, nil); err != nil {
				return nil, false, err
			}
		}
		more, waiting, err := l.resolve(ctx, closing.Unchecked)
		if err != nil {
			return nil, false, err
		}
		if steers = append(steers, more...); len(steers) > 0 {
			return steers, false, nil
		}
		if waiting {
			select {
			case <-ctx.Done():
				return nil, false, context.Cause(ctx)
			case <-l.r.ending:
				return nil, false, errHandedOver
			case <-time.After(retryFacts):
			}
		}
	}
}

// close is one try to end the turn. What it queues is given to the sender.
func (l *turnLog) close(ctx context.Context, outcome mailbox.Outcome, entries [][]byte, parts []chat.Part) (mailbox.Closing, error) {
	if ctx.Err() != nil {
		return mailbox.Closing{}, context.Cause(ctx)
	}
	claim := !l.r.isDraining()
	closing, err := l.r.opts.Box.Close(context.WithoutCancel(ctx), mailbox.Close{
		Ref: l.h.ref, Number: l.number(), Outcome: outcome, Entries: entries, Parts: parts,
		Allowed: l.allowed, Tasks: l.tasks(outcome, entries), Next: l.r.next(claim),
	})
	if err != nil {
		return closing, l.lost(ctx, err)
	}
	l.next, l.withdrawn = closing.Next, closing.Withdrawn
	if closing.Send != nil {
		l.r.opts.Slack.Post(*closing.Send, closing.Parts)
	}
	return closing, nil
}
