package slackapp

import (
	"context"

	"reeve/runtime/chat"
)

// EditsInto is the way of edits that were read back: that of those which Slack
// delivers.
type EditsInto struct {
	Inbox   Inbox
	Notices Notices // may be nil
}

// Edited implements Edits. How the message read before is not known: one that
// never addressed the bot, and does now, has had the mention added.
func (e EditsInto) Edited(ctx context.Context, m chat.Message) error {
	m.Forced = false // an edit forces nothing
	m.Change = &chat.Change{Kind: chat.Edited, TS: editTS(m), ByAuthor: true, Differs: true, AddsMention: m.Addressed}
	outcomes := e.Inbox.Deliver(ctx, []chat.Message{m})
	for _, o := range outcomes {
		if o.Err != nil {
			return o.Err
		}
	}
	if e.Notices != nil {
		e.Notices.Told(ctx, outcomes)
	}
	return nil
}

// editTS is an id for the edit, the same each time that it is read. Slack gives
// an edit's time in whole seconds, and two messages may be edited in one.
func editTS(m chat.Message) chat.TS {
	if len(m.Edited) != len(m.ID.TS) {
		return m.Edited
	}
	const fraction = len(".000000")
	at := len(m.Edited) - fraction
	return m.Edited[:at] + m.ID.TS[at:]
}
