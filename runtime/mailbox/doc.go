// Package mailbox is the store of conversations on Redis: what waits, which
// turn runs and who holds it, each turn's log, and the outbox.
//
// # Steps
//
// Every transition is one Lua script, in one file beside the Go that calls it.
// Scripts treat payloads as opaque strings and decide by hash fields alone. A
// repeated call is answered as the first was, so that a lost answer can be
// asked for again. All keys of one (team, channel) share one of 64 hash tags,
// so each step is atomic on Redis Cluster too.
//
//	put        a message enters, is decided and applied; may claim a turn
//	claim      a replica takes over a lost worker's turn, or starts the next
//	renew      the holder keeps its lease
//	commit     entries are written; at a boundary, waiting steers are taken
//	close      answer, parts, cursor and state; may claim the next turn
//	park       the turn waits for something outside and holds nobody
//	end_wait   what it waited for is settled; it queues
//	handover   the holder gives a turn up
//	settle     an unread message leaves its lane: its author may not instruct
//	sent       posted parts leave the outbox
//	send_claim a replica takes over a lost sender's outbox
//
// # Round trips
//
// From an envelope to its reply there are two durable steps: put (with the
// decision, the claim and the turn's first entries) and close (answer, outbox,
// cursor, state and the next claim). A turn that reads an older thread from
// Slack commits it before its first model call. Each model
// answer that calls tools is one commit, and its results with the steers that
// wait are another. Posted parts leave the outbox after the reply.
//
//	put        1, for all messages that arrive together
//	commit     1
//	close      1
//	renew      1 every 3 s, for all turns of a process
//	sent       1 a part, after it was posted
//
// # Keys
//
// keys.go names them; prelude.lua has the same names. In a conversation's
// shard: conv (its running turn, parked turns by actor, closing number, fence,
// sender's lease), wait (waiting messages, "TS AUTHOR", which sort by time),
// ready (turns whose wait has ended), thread (what was said without addressing
// the bot, and stands in no turn's log yet), closed (ended turns by closing number), out (parts to post), turn
// (one turn's state, lease and cursor), log (its entries), steer (its unread
// messages), msg (one message: where it is, and how its first delivery was
// answered), dm (a DM's last conversation), and leases: the index of what will
// be due and when, by the server's clock.
//
// # Leases
//
// A lease is a turn's token (a counter and a random nonce), held until a time
// of the server's clock. Every write of a run carries the token and is refused
// when it is not the turn's any more: another worker has it, it was handed over,
// parked or closed. A lease that has ended and that nobody claimed goes on with
// its next renewal. The holder trusts a lease for TTL less a
// margin from when it sent the renewal. Replicas look at the index when the
// earliest lease in it ends; a lease made after that look ends one TTL after it
// at the earliest, so nobody polls.
package mailbox
