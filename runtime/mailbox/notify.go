package mailbox

import (
	"context"
	"fmt"
	"time"

	"reeve/runtime/chat"
)

// Noticed is the conversation in whose outbox stands what a person is told apart
// from any turn: no thread has its name.
func Noticed(person chat.Actor) chat.Conversation {
	return chat.Conversation{Team: person.Team, Channel: chat.ChannelID(person.User), Root: "0"}
}

// Notify queues a part that belongs to no turn, for the DM of a person. Within 8
// days a part with the ID of an earlier one is that one. send is set when this
// process is to post parts: all that stands in the outbox, oldest first.
func (b *Box) Notify(ctx context.Context, person chat.Actor, part chat.Part) (send *SendLease, parts []chat.Part, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	if !person.IsPerson() || part.ID == "" {
		return nil, nil, fmt.Errorf("notify %q: it takes a person, and a part with an id", person.Key())
	}
	c := Noticed(person)
	part.To = chat.Destination{DM: person.User}
	item, err := partItem(part)
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.notify, []string{b.keys.conv(c), b.keys.out(c), b.keys.index(c)},
		b.keys.of(c), c.Key(), item, b.owner, nonce(), b.opts.LeaseTTL.Milliseconds())
	if err != nil {
		return nil, nil, fmt.Errorf("notify %s: %w", person.Key(), err)
	}
	send, parts = b.sendLease(ctx, c, v[0], v[1], start, []chat.Part{part})
	return send, parts, nil
}
