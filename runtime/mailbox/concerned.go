package mailbox

import (
	"context"

	"reeve/runtime/chat"
)

// logHead is how many items of a log may stand in front of its first request:
// what was said in the thread before it.
const logHead = 250

// concerned is who is told of what becomes of a turn: its actor, or, of a system
// actor's, who has no DM, the person who asked for what was due. What cannot be
// read concerns nobody: no notice is worth holding a step up for.
func (b *Box) concerned(ctx context.Context, c chat.Conversation, turn chat.TurnID, actor chat.Actor) chat.Actor {
	if actor.System == "" || turn == "" {
		return actor
	}
	head, err := b.rdb.LRange(ctx, b.keys.log(c, turn), 0, logHead).Result()
	if err != nil {
		return actor
	}
	for _, item := range itemsOf(head) {
		if m, ok := messageIn(item.Body); ok && item.Taken == TakenRequest && m.Due != nil && m.Due.CreatedBy.IsPerson() {
			return m.Due.CreatedBy
		}
	}
	return actor
}
