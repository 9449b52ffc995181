package runtime

import (
	"context"
	"slices"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

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

// notAllowed lets the edge tell an author in private that he may not instruct.
func (r *Runtime) notAllowed(c chat.Conversation, author chat.Actor, messages []chat.TS, why string) {
	change := Change{State: ShownNotAllowed, Conversation: c, Actor: author, Why: why}
	for _, ts := range messages {
		change.Messages = append(change.Messages, chat.MessageID{Team: c.Team, Channel: c.Channel, TS: ts})
	}
	r.opts.Slack.Show(change)
}
