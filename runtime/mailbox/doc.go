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
//	park       the turn waits for something outside and holds nobody; what it
//	           asks stands in the outbox
//	end_wait   what it waited for is settled, or its time is over; it queues, and
//	           its card is changed
//	handover   the holder gives a turn up
//	settle     an unread message leaves its lane: its author may not instruct
//	edit       a message has another text: what becomes of it depends on where
//	           it stands
//	remove     a message was deleted, likewise
//	sent       posted parts leave the outbox; where a card stands is kept; what
//	           will not be posted is set aside, and told of
//	send_claim a replica takes over a lost sender's outbox
//	stamp      a replica says that it can acknowledge, and learns of gaps
//	close_gap  a gap was read back
//	mend       a conversation's records are compared, and put right
//	aside      an item that cannot be processed is taken out of the way
//	abandon    an operator ends a turn, whoever holds it
//	hand_back  a message that was steered into somebody else's turn becomes its
//	           author's follow-up, once
//	route      a message that nobody has read waits after all, or joins after all
//	task_claim, task_renew, task_end
//	           a try of a task that follows a turn: taken up, kept, over
//	notify     a person is told something apart from any turn, once
//	store_set  a key of a plugin's store is written
//	erase      what a conversation holds of a person is taken out, for an operator
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
//	put        1, for all messages that arrive together; 1 more for a stop by reaction
//	           to a post in a DM whose turn is elsewhere
//	commit     1
//	close      1
//	park       1, and 1 for end_wait
//	renew      1 every 3 s, for all turns of a process
//	sent       1 a part, after it was posted; 1 more for one in a DM, and 1 to
//	           find the post that a part takes the place of
//	task       2 a try, and 1 to read its turn; renewed as turns are
//	hand_back  1 a call; route 1, and 2 to read what runs
//	stores     1 a call
//
// What a process sends by itself, that is idle too:
//
//	stamp      1 every 2 s, of each process that can acknowledge
//	Ping       1 when nothing was answered for 2.25 s, and so none beside the
//	           stamps; 4 a second while the store is away
//	Due        1 when the earliest lease in the index ends, or work is offered,
//	           and every 10 s
//	Once       1 a minute, to learn whose turn it is to sweep; 1 more for the
//	           sweep itself, and 1 for each conversation that it looks into
//	Probe      6 an hour on a connection of their own: what the server promises
//	           to keep
//
// # Keys
//
// keys.go names them; prelude_keys.lua has the same names. In a conversation's
// shard: conv (its running turn, parked turns by actor, closing number, fence,
// sender's lease, and when something of a person's was erased), wait (waiting messages, "TS AUTHOR", which sort by time),
// ready (turns whose wait has ended), thread (what was said without addressing
// the bot, and stands in no turn's log yet), closed (ended turns by closing number), out (parts to post), turn
// (one turn's state, lease and cursor), log (its entries), steer (its unread
// messages), msg (one message: where it is, and how its first delivery was
// answered), dm (a DM's last conversation), task (one
// that follows a turn), place (where a card was posted), told (what a person was
// told apart from a turn), and leases: the index of what will
// be due and when, by the server's clock. For operators and the sweep, lists of
// what there is in a shard and since when: waiting, running, parked, unsent, tasks and
// ended; and dead, the records that were set aside. And touched: the threads to read back,
// by when somebody last spoke in them. Outside of any shard: alive (the last sign
// of life, and the gap that stands), and store (a plugin's own data for one person,
// or for all: a hash, which never expires).
//
// # Waits
//
// A turn may wait several times. Each wait has a name: the number of the commit
// that began it, or, of what nobody had touched, the time at which it was parked.
// Whoever can end a wait carries its name, and a name that is not the one that
// stands ends nothing: not a click that comes late or twice, nor what was meant
// for an earlier wait. A wait that has a time stands in the index until then, and
// is ended by whoever looks there; a word of its actor's that forces, a stop, and
// an operator's abandon end whatever the turn waits for. What each wait was, since
// when, how it ended and by whom stands with the turn.
//
// A wait may have a card, which is one of the parts of its park. Nobody has to
// remember that it stands there: with the turn stands the part that takes its
// place (Park.Void), and the step that ends the wait queues it, with how it ended
// put in. So the sweep can do it too, which knows nothing of cards.
//
//	what ends the wait                  the card     the turn
//	EndWait with parts (a click)        those parts  waits for a worker
//	EndWait without                     void         waits for a worker
//	its time is over                    void         waits for a worker
//	a forced message of its actor's     void         waits for a worker
//	the card is refused, lost, unread   void         waits for a worker
//	a stop, a deletion, an abandon      void         has ended
//
// A click is the turn's actor's alone (EndingWait.By): anybody else's is answered
// NotYours, also when it comes late. The void stays after an answer until a worker
// has the turn: nothing has been done yet of what was allowed, so that a stop, or an
// abandon, in between undoes it, and so does a day in which nobody acts on it; the
// card is then changed a second time. The worker's claim drops the void.
//
// What we post into a person's DM is known as a card or a notice, wherever that DM's
// keys are: a reply below one changes nothing, and PutResult.Below says so; a stop by
// reaction to one is put where its turn is. That is written into the DM's shard before
// the part leaves the outbox.
//
// # Index
//
// An index has bands, by score, each read for itself, so that no backlog of one
// hides what stands in another: turns' leases; work on offer, for whoever has
// room; and outboxes and waits, which a process without room serves too.
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
//
// # Tasks
//
// The step that closes a turn writes down the tasks that are to follow it. They
// come into the index when no part of the turn waits to be posted any more: in the
// closing, or in the step that takes the last part out of the outbox. From there
// a task has a lease of its own kind, renewed and fenced like a turn's, in a band
// of the index of its own. A claim counts a try; a release takes it back.
//
//	held ── last part posted ──> due ── claim ──> tried ──> done        gone
//	                              ▲                 ├──────> set aside   among the dead
//	                              └── pause, lost, <┘
//	                                  released
//
// # Handing back and routing
//
// hand_back takes nothing away from the turn that has read the message: it stays in
// that log, where the model has seen it and the conflict remains, and waits besides
// at its place by ts. What its turn would have given back of it at
// the end (see finish) is struck off, so that it waits once. It is remembered with
// the message, so that a second call changes nothing, and a deletion finds both
// places. A later steer of the same author that is not read yet is not held up by
// it: it was accepted for the turn that runs.
//
// route changes the lane of one unread message, if the turn that it was decided
// for still runs and is not being stopped, and the message is the version that was
// asked about. It keeps the author's order: a message does not join before an
// older one of his that waits, and does not wait while a newer one of his is about
// to be read; it is then left where it is. What was handed back is not promoted
// again.
//
// # Broken records
//
// A step that fails over what it found (a key of another type, a field that is
// no number, a turn that is not where its conversation says) is not an error
// that comes back for ever: the conversation is mended and the step tried once
// more. What is derived is made again from what it was derived from; a turn that
// cannot go on is abandoned; an item that cannot be read goes to the dead list.
// Whose it was is told by DM in the step that does it. Scripts read what they
// need before they write, so that a record that cannot be read leaves no half
// step. The sweep does the same for what no step runs into.
//
// # How long things live
//
// Conversations and ended turns expire some time after they were touched last;
// nothing live does: the step that makes something live takes the expiry off,
// and the one that puts it to rest sets it. A message's key lives for eight
// days from when the message is read or withdrawn, whatever the setting, so that
// it enters once. What nobody has touched for a day is parked when it is found,
// and waits for a word of its actor's, or of an operator's.
//
// # Gaps
//
// One key says when, by the server's clock, some process could last acknowledge:
// a socket stood, and this very write was taken. Whoever writes it and finds
// that it is old has found a gap, and writes down in the same step where it
// begins: at what was last heard from Slack before. So a time in which no
// process lived is a gap too.
//
//	none   a late sign          open, from what was last heard
//	open   a sign of anybody    read by him, for as long as he signs
//	read   his signs end        open, and read from its beginning by the next
//	read   a late sign          read, and prolonged
//	read   read to the end      none; prolonged: open, from where it was
//
// There is one gap at a time. One that is prolonged while it is read stays open
// from where it was prolonged: the reader has read what was before.
package mailbox
