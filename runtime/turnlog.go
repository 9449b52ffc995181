package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// turnLog is the log of one run, written under its fence. It implements
// agent.Log.
type turnLog struct {
	r       *Runtime
	h       *holder
	claimed *mailbox.Claimed
	commits int64
	length  int // items in the log
	// fixed is what the first run found out, and thread and sections are what it
	// gathered; all of it is written with the first commit.
	fixed    *fixed
	thread   []mailbox.Item
	sections []chat.Entry
	// allowed are authors whose accounts were found fit to instruct.
	allowed  []chat.Actor
	mentions []chat.UserID
	// steered are the messages that this run took in.
	steered []chat.MessageID
	// withdrawn are those that a stop took back unread.
	withdrawn []chat.MessageID
	// next is what the closing step claimed.
	next *mailbox.Claimed
	// headed: what stands in front of a due turn's answer is said; see heading.
	headed bool
	// kept is what this run has written; see keep.
	kept []mailbox.Item
}

func (l *turnLog) Commit(ctx context.Context, entries ...chat.Entry) error {
	_, err := l.write(ctx, mailbox.Commit{}, entries)
	return err
}

// said are the entries of what was said before the turn and has been read from
// Slack. They are written with the first commit.
func (l *turnLog) said(messages []chat.Message) ([]chat.Entry, error) {
	l.thread = make([]mailbox.Item, len(messages))
	for i, m := range messages {
		body, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("encode message %s: %w", m.ID.TS, err)
		}
		l.thread[i] = mailbox.Item{Taken: mailbox.TakenThread, TS: m.ID.TS, Author: m.Author, Body: body}
	}
	return l.read().log(l.length, l.thread), nil
}

func (l *turnLog) read() reader { return reader{l.h.ref.Turn, l.h.actor} }

func (l *turnLog) Boundary(ctx context.Context, entries ...chat.Entry) ([]chat.Entry, error) {
	l.h.steered.Store(false)
	done, err := l.write(ctx, mailbox.Commit{Take: true}, entries)
	if err != nil {
		return nil, err
	}
	steers := l.taken(done.Taken)
	more, _, err := l.resolve(ctx, done.Unchecked)
	if err != nil {
		return nil, err
	}
	steers = append(steers, more...)
	if l.fixed.news {
		// The name of somebody who had not written before: whoever goes on with
		// the turn shows the same.
		if _, err := l.write(ctx, mailbox.Commit{}, nil); err != nil {
			return nil, err
		}
	}
	if l.r.isDraining() {
		return nil, errHandedOver
	}
	return steers, nil
}

func (l *turnLog) Held() context.Context { return l.h.held }

func (l *turnLog) Steered() bool { return l.h.steered.Load() }

// number is the next commit's. A step whose outcome stayed unknown has used its
// number up, and with it the ids of its parts.
func (l *turnLog) number() int64 {
	l.commits++
	return l.commits
}

// write is one commit: c, with entries and all that is the same for each.
func (l *turnLog) write(ctx context.Context, c mailbox.Commit, entries []chat.Entry) (mailbox.Committed, error) {
	if ctx.Err() != nil {
		return mailbox.Committed{}, context.Cause(ctx)
	}
	raw, err := encode(append(l.unwritten(), entries...))
	if err != nil {
		return mailbox.Committed{}, err
	}
	c.Parts = append(l.directs(entries, 0), l.overtaken(entries)...)
	c.Ref, c.Number, c.Thread, c.Entries, c.Allowed = l.h.ref, l.number(), l.thread, raw, l.allowed
	l.thread = nil
	for _, e := range entries {
		c.Answer = c.Answer || e.Role == chat.AssistantRole
	}
	// A stop may end ctx at any moment; the step itself is not cut, so that its
	// outcome is known.
	done, err := l.r.opts.Box.Commit(context.WithoutCancel(ctx), c)
	if err != nil {
		return mailbox.Committed{}, l.lost(ctx, err)
	}
	l.length += len(c.Thread) + len(raw)
	l.keep(c.Thread, raw)
	if done.Stop != nil {
		l.h.stop(errStopped)
		return mailbox.Committed{}, errStopped
	}
	return done, nil
}

// lost tells a stale lease from the store's other errors.
func (l *turnLog) lost(ctx context.Context, err error) error {
	if errors.Is(err, mailbox.ErrStale) {
		l.h.drop(errLeaseLost)
		return fmt.Errorf("%w: %w", errLeaseLost, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// encode writes entries as the log keeps them.
func encode(entries []chat.Entry) ([][]byte, error) {
	raw := make([][]byte, len(entries))
	for i, e := range entries {
		if e.Time.IsZero() && e.Origin != chat.Section { // which is of the time that its plugin says
			e.Time = time.Now().UTC()
		}
		b, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("encode entry: %w", err)
		}
		raw[i] = b
	}
	return raw, nil
}
