package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"reeve/agent"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// errNothingLeft: all that a turn was asked for could not be read, and whoever
// wrote it was told.
var errNothingLeft = errors.New("nothing of the request can be read")

// unread says why an item of a log cannot be processed; nil when it can. A kind
// of item that a later release writes is left to it.
func unread(item mailbox.Item) error {
	switch item.Taken {
	case mailbox.TakenRequest, mailbox.TakenSteer, mailbox.TakenContext, mailbox.TakenThread:
		if err := mailbox.CheckVersion(item.Body); err != nil {
			return err
		}
		var m chat.Message
		if json.Unmarshal(item.Body, &m) != nil || m.ID.TS == "" {
			return errors.New("it is no message")
		}
	case mailbox.EntryItem:
		if err := mailbox.CheckVersion(item.Body); err != nil {
			return err
		}
		var e chat.Entry
		if json.Unmarshal(item.Body, &e) != nil || e.Role == "" || e.Origin == "" {
			return errors.New("it is no entry")
		}
	}
	return nil
}

// setAside takes out of the log what cannot be processed, from position on, and
// tells whose messages they are. An entry of the turn's own work that is lost
// is a failure of the turn: what follows from it is not known any more.
func (l *turnLog) setAside(ctx context.Context, from int, items []mailbox.Item) error {
	var lost error
	for i, item := range items {
		why := unread(item)
		if why == nil {
			continue
		}
		who := item.Author
		switch {
		case item.Taken == mailbox.EntryItem:
			who = chat.Actor{} // the turn's end tells its actor
			lost = &agent.Failure{Kind: agent.Internal, Cause: fmt.Errorf("entry %d of its log cannot be read: %w", from+i, why)}
		case who.IsZero() && item.Taken != mailbox.TakenThread:
			who = l.h.actor
		}
		if err := l.r.opts.Box.SetAside(ctx, l.h.ref.Conversation, l.h.ref.Turn, from+i, item, why.Error(), who); err != nil {
			return err
		}
		items[i].Taken = mailbox.Aside
	}
	return lost
}

// askedFor reports whether anything that the turn was asked for can be read.
func askedFor(log []mailbox.Item) bool {
	aside := func(i mailbox.Item) bool { return i.Taken == mailbox.Aside }
	request := func(i mailbox.Item) bool { return i.Taken == mailbox.TakenRequest }
	return slices.ContainsFunc(log, request) || !slices.ContainsFunc(log, aside)
}
