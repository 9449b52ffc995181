package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// retryFacts is how long a closing waits before it asks again about the author
// of a steer, when Slack does not answer.
const retryFacts = time.Second

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

// taken are the entries of steers that the last step put into the log.
func (l *turnLog) taken(items []mailbox.Item) []chat.Entry {
	if err := l.setAside(context.Background(), l.length, items); err != nil {
		l.r.opts.Logger.Error("item not set aside", "turn", l.h.ref.Turn, "err", err)
	}
	entries := l.read().log(l.length, items)
	l.r.name(entries, l.fixed)
	l.length += len(items)
	l.keep(items, nil)
	l.mentions = append(l.mentions, participants(entries)...)
	l.steered = append(l.steered, messagesOf(entries)...)
	return entries
}

// resolve looks up the authors of unread steers and takes those that may
// instruct; the others become context. waiting: Slack did not answer for some.
func (l *turnLog) resolve(ctx context.Context, unchecked []mailbox.Unchecked) (steers []chat.Entry, waiting bool, err error) {
	found, unknown, err := l.check(ctx, unchecked)
	if err != nil || !found {
		return nil, len(unknown) > 0, err
	}
	done, err := l.write(ctx, mailbox.Commit{Take: true}, nil)
	if err != nil {
		return nil, false, err
	}
	return l.taken(done.Taken), len(unknown) > 0, nil
}

// check looks up the authors of unread steers. found: one of them may instruct,
// and is allowed from now on. What was written by who may not is context. unknown
// are those about whom Slack did not answer.
func (l *turnLog) check(ctx context.Context, unchecked []mailbox.Unchecked) (found bool, unknown []chat.Actor, err error) {
	for _, u := range unchecked {
		if slices.Contains(l.allowed, u.Author) {
			found = true
			continue
		}
		if slices.Contains(unknown, u.Author) {
			continue
		}
		facts, err := l.r.opts.Slack.Facts(ctx, u.Author)
		switch {
		case err != nil:
			unknown = append(unknown, u.Author)
			l.r.opts.Logger.Warn("author of a steer not looked up", "turn", l.h.ref.Turn, "author", u.Author.Key(), "err", err)
		case facts.Standing == chat.ContextOnly:
			if err := l.r.opts.Box.Settle(ctx, l.h.ref.Conversation, u.TS, u.Author); err != nil {
				return false, nil, l.lost(ctx, err)
			}
			l.r.notAllowed(l.h.ref.Conversation, u.Author, []chat.TS{u.TS}, facts.Why)
		default:
			found = true
			l.allowed = append(l.allowed, u.Author)
		}
	}
	return found, unknown, nil
}

// parts are texts as the outbox posts them, in the conversation's thread.
func (l *turnLog) parts(texts []string) []chat.Part {
	c := l.h.ref.Conversation
	visibility, seen := readers(l.claimed)
	parts := make([]chat.Part, len(texts))
	for i, text := range texts {
		parts[i] = chat.Part{
			ID: partID(l.h.ref.Turn, l.commits+1, i), Turn: l.h.ref.Turn,
			To: chat.Destination{Channel: c.Channel, Thread: c.Root}, Markdown: text, Mentions: l.mentions,
			Visibility: visibility, Seen: seen,
		}
	}
	return parts
}

// directs are what entries tell the turn's actor by direct message. They are
// numbered behind other parts of the same step.
func (l *turnLog) directs(entries []chat.Entry, others int) []chat.Part {
	var parts []chat.Part
	for _, e := range entries {
		if e.DM == "" || !l.h.actor.IsPerson() {
			continue
		}
		for _, text := range l.r.opts.Slack.Split(e.DM) {
			parts = append(parts, chat.Part{
				ID: partID(l.h.ref.Turn, l.commits+1, others+len(parts)), Turn: l.h.ref.Turn,
				To: chat.Destination{DM: l.h.actor.User}, Markdown: text,
			})
		}
	}
	return parts
}

// readers is who could read the conversation when the turn's first message
// came, and that message; none when the turn has been elsewhere meanwhile, since
// it may have been parked.
func readers(c *mailbox.Claimed) (chat.Visibility, chat.TS) {
	for _, item := range c.Log {
		var m chat.Message
		if item.Taken == mailbox.TakenRequest && json.Unmarshal(item.Body, &m) == nil {
			if !c.Fresh {
				return m.Visibility, ""
			}
			return m.Visibility, item.TS
		}
	}
	return "", ""
}

// partID is "TURN/N": N is the commit that wrote it, with the piece where an
// answer has several, so that a repeated commit names the same parts.
func partID(turn chat.TurnID, commit int64, piece int) string {
	if piece == 0 {
		return fmt.Sprintf("%s/%d", turn, commit)
	}
	return fmt.Sprintf("%s/%d.%d", turn, commit, piece)
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

// notAllowed lets the edge tell an author in private that he may not instruct.
func (r *Runtime) notAllowed(c chat.Conversation, author chat.Actor, messages []chat.TS, why string) {
	change := Change{State: ShownNotAllowed, Conversation: c, Actor: author, Why: why}
	for _, ts := range messages {
		change.Messages = append(change.Messages, chat.MessageID{Team: c.Team, Channel: c.Channel, TS: ts})
	}
	r.opts.Slack.Show(change)
}
