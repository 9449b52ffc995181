package runtime

import (
	"encoding/json"
	"fmt"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

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
