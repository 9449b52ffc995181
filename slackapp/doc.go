// Package slackapp is the edge to Slack: what comes in over Socket Mode is
// admitted, put into the mailbox and acknowledged; what the outbox holds is
// rendered and posted. Nothing else of the bot knows Slack's client library.
//
// # The way in
//
//	Sockets.Run       keeps the sockets open, as fast as the pace allows
//	  socket.handOn   an envelope came; the reader hands it on and reads
//	Edge.Take         bounds what is in flight
//	Edge.Run          one loop: what has arrived together is one batch
//	  ParseRaw, Admit what it is, by its raw form and what is known (pure)
//	  Edge.hold       an app_mention waits for its message
//	  Inbox.Deliver   one step of the mailbox for the whole batch
//	  Delivery.Ack    for each message that is durable now
//	  Notices.Told    what became of them, beside the loop
//
// The order is always the same: admission, one durable step, acknowledgement,
// work. An envelope that is not acknowledged comes again: Slack repeats it at
// once, after one minute and after five. Losing an acknowledgement therefore
// costs a duplicate, which the mailbox knows, and never a message.
//
// # Who is who
//
// Admit alone decides, from what Slack stamps on the raw event: never from a
// name, a profile or a text. What an app posted is an app's, also under a
// person's own token. Where a field is of an unexpected type, or a team is not
// said where it matters, the worse is taken. Without the bot's own identity
// nothing is admitted.
//
// # One message, two events
//
// A mention in a channel comes as message and as app_mention, in any order.
//
//	            message delivered here before or meanwhile ──> acknowledged
//	app_mention ── Hold (500 ms) ── key in the mailbox ──────> acknowledged
//	                    └─ Slack has the message ──> delivered like any other
//	                    └─ Slack has none, no app's ──> the event is delivered
//	                    └─ Slack or mailbox away ──> not acknowledged
//
// # Cards
//
// A card is a part of the outbox like any other, and so is what it becomes in the
// end: a part that takes the place of its post.
//
//	Sender            posts a card whole, or its arguments above it, or nothing
//	drain.edit        puts its record in its place, by where the mailbox says it is
//	Edge.addClick     who pressed what, and which boxes are ticked (Slack's word)
//	Cards.Click       what a button says is durable before it is acknowledged
//	Cards.Form        likewise a code; the answer goes along with the acknowledgement
//
// All words on a card are ours but calls' arguments and names, in which nothing
// is read as markup. A click says only what was pressed: whose card it is, and
// whether its turn still waits for it, is for the mailbox to know.
//
// # Sockets
//
// slack-go dials again at once, whatever happened, and without end. So each
// connection gets a client of its own that cannot ask for a second socket, and
// pace says when the next is made: waits double from half a second to thirty,
// with a jitter of a half, until a socket has stood for thirty seconds, and all
// sockets of the process together open six in ten seconds at most. A socket
// from which nothing was read for Silence, pings included, is dropped; that no
// event came means nothing. A refused token ends Run with an *AuthError.
//
// slack-go does not hand out why Slack closes a socket: a refresh, a warning
// and too_many_websockets look alike here, and are told apart by how long the
// socket stood.
//
// # Reading back
//
// ReadBack.Run gives a sign of life in the store while a socket stands. When
// nobody did for a while, one replica reads from Slack what was said meanwhile:
//
//	Gaps.Stamp        finds the gap, and who reads it
//	  reading.jobs    DMs with talk, channels, threads of ours, other DMs
//	  reading.do      one of them: read, admitted, put in the order of time
//	  Inbox.Deliver   the same step of the mailbox; what is known is known
//	Gaps.CloseGap     when all was read
//
// Each method is called at a third of the rate that Slack allows. What Slack
// refuses for good is left out; all else is asked for until it was given. A
// reading that breaks off is begun again from its beginning, by whoever lives.
package slackapp
