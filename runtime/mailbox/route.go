package mailbox

import (
	"context"
	"fmt"

	"reeve/runtime/chat"
)

// Route is a change of mind about a message that has not been read yet.
type Route struct {
	Conversation chat.Conversation
	// Turn is the running turn that the change was thought of for.
	Turn   chat.TurnID
	TS     chat.TS
	Author chat.Actor
	// Edited is the version of the message: the ts of the edit that its text
	// comes from; empty for none.
	Edited chat.TS
	// Demote makes an unread steer of the turn's own actor wait for a turn of
	// its own. Otherwise a waiting message of another author's joins the turn, as
	// context.
	Demote bool
}

// Route moves a message, if nothing has changed meanwhile: the turn runs and is
// not being stopped, and the message stands unread and unedited where it stood.
// moved is false otherwise, and where it would break its author's order.
func (b *Box) Route(ctx context.Context, r Route) (moved bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	c, how := r.Conversation, "p"
	if r.Demote {
		how = "d"
	}
	id := chat.MessageID{Team: c.Team, Channel: c.Channel, TS: r.TS}
	v, err := b.one(ctx, &b.scripts.route, []string{b.keys.conv(c), b.keys.turn(c, r.Turn), b.keys.message(id), b.keys.index(c)},
		b.keys.of(c), c.Key(), string(r.Turn), string(r.TS), r.Author.Key(), string(r.Edited), how, nonce())
	if err != nil {
		return false, fmt.Errorf("route message %s: %w", r.TS, err)
	}
	return len(v) > 0 && num(v[0]) == 1, nil
}

// Running reads the turn that runs in a conversation; ok is false when none does.
func (b *Box) Running(ctx context.Context, c chat.Conversation) (t ClosedTurn, ok bool, err error) {
	runCtx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	turn, err := b.rdb.HGet(runCtx, b.keys.conv(c), "run").Result()
	if isNil(err) {
		return ClosedTurn{}, false, nil
	}
	if err != nil {
		return ClosedTurn{}, false, fmt.Errorf("read what runs in %s: %w", c.Key(), err)
	}
	return b.ReadTurn(ctx, c, chat.TurnID(turn))
}
