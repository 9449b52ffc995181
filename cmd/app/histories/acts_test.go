// Package histories plays random histories of a conversation whose model is
// hostile: it asks for any call with any arguments, while people speak, steer,
// edit, delete, stop, click and connect accounts, and workers are lost at each of
// their steps. What may have happened is worked out from what the players did and
// from the turns' logs, without asking the gate.
package histories

import (
	"fmt"

	"reeve/runtime/chat"
)

// act is one thing that is done in a history. It names what it is about by where
// that stands in the view that it was chosen for, so that any world can play it.
type act struct {
	Kind kind
	Who  int // of people
	On   int // of the view's asks, messages or cards
	// Replica is the one that is told.
	Replica int
	Words   int // of words
	// Of a message.
	Addressed, Forced, Stop, Unchecked bool
	// Of a click: the ids that are ticked, and whether it is made twice.
	Allowed       []string
	Refuse, Twice bool
	// Reply is what the model answers.
	Reply reply
	// Steps is after how many steps of a run's log its worker is lost; of a
	// connection, how it ends.
	Steps int
}

// kind is what is done.
type kind string

const (
	says     kind = "says"     // somebody writes a message
	answers  kind = "answers"  // the model answers
	edits    kind = "edits"    // a message gets another text
	deletes  kind = "deletes"  // a message is deleted
	signs    kind = "signs"    // a stop reaction is put on a message
	clicks   kind = "clicks"   // somebody answers a card
	owns     kind = "owns"     // somebody presses "Do it as my own turn"
	connects kind = "connects" // a connection comes to an end
	loses    kind = "loses"    // an account is gone
	dies     kind = "dies"     // a worker is lost a few steps from now
	drops    kind = "drops"    // a message is put by a process that is lost then
	mutes    kind = "mutes"    // the next sender is lost before it posts
	refuses  kind = "refuses"  // Slack takes the next card for nobody
	wakes    kind = "wakes"    // leases end, and another replica starts
	expires  kind = "expires"  // an hour passes
)

// reply is an answer of the model's: calls, or its last word.
type reply struct{ Calls []call }

// call is a call that the model asks for. Its arguments are as they are written.
type call struct{ ID, Tool, Arguments string }

// view is what can be seen of a world by whoever chooses the next act.
type view struct {
	Asks     []seenAsk
	Messages []seenMessage
	Cards    []seenCard
	// Lost: a worker, or a sender, is gone and its lease has not ended.
	Lost bool
	// Running: whose turn runs; -1: none does.
	Running int
}

// seenAsk is a request that the model has not answered.
type seenAsk struct {
	Turn  chat.TurnID
	Actor int
	// Calls are those of the turn so far.
	Calls []call
	// Steers are the messages of others that the prompt holds, as the model names
	// them.
	Steers []string
}

type seenMessage struct {
	Author int
	Text   string
}

// seenCard is a card that was posted.
type seenCard struct {
	Kind  chat.CardKind
	Actor int // whom it asks
	Calls []string
	Open  bool
}

// world is where a history is played: in this process, or in others. It is told
// what to do, and says what can be seen.
type world interface {
	// settle waits until nothing more happens by itself.
	settle()
	view() view
	do(act)
}

// run plays a history of some acts.
func run(w world, d *dice) {
	for range d.length {
		w.settle()
		a := d.next(w.view())
		if *trace {
			fmt.Printf("%+v\n", a)
		}
		w.do(a)
	}
	w.settle()
}
