package mailbox

import (
	"errors"
	"time"

	"reeve/runtime/chat"
)

// ErrStale says that a write came under a token that is no longer the turn's:
// another worker has it, or it has ended.
var ErrStale = errors.New("the lease is not ours any more")

// Claimed is a turn under a lease of this process.
type Claimed struct {
	Conversation chat.Conversation
	Turn         chat.TurnID
	Actor        chat.Actor
	Token        Token
	// Attempt counts the claims since the last commit; the first is 1.
	Attempt int
	// Fresh: nothing but the turn's messages stands in its log.
	Fresh bool
	// Log is the turn's log so far.
	Log []Item
	// Setup is what was kept when the turn was first claimed.
	Setup []byte
	// History is the number of the last closing before the first claim.
	History int64
	// Ran is how long earlier runs of the turn ran.
	Ran time.Duration
	// Stop is set when the turn is being stopped.
	Stop *Stop
	// Unread counts the steers that wait to be read.
	Unread int
	// Waited is set when the turn has been parked.
	Waited *Waited
	// Commits numbers the last commit; the next one is one more.
	Commits int64
	// Start is the local time at which the claim was sent: the lease may be
	// trusted from there for the TTL less the margin.
	Start time.Time
}

// Token fences a run: a counter and a random nonce, compared for equality.
type Token string

// Stop says who stopped a turn, and with which message, click or reaction.
type Stop struct {
	By chat.Actor
	TS chat.TS
}

// Taken says how a message was taken into a log.
type Taken string

const (
	TakenRequest Taken = "request"
	TakenSteer   Taken = "steer"         // the turn's actor's own
	TakenContext Taken = "steer_context" // another author's
	TakenThread  Taken = "thread"        // said before the turn, not addressed
	Struck       Taken = "struck"        // taken back by the closing step
	Deleted      Taken = "deleted"       // its author's words are gone; the body says how it was taken
	Aside        Taken = "aside"         // set aside: it could not be processed
	EntryItem    Taken = "entry"         // not a message: an entry as Go wrote it
)

// Item is one item of a turn's log. The script writes Taken, and of a message
// which and whose it is; Go writes the body.
type Item struct {
	Taken  Taken
	TS     chat.TS
	Author chat.Actor // of a message in the thread, nobody: its body says it
	Body   []byte

	raw string // as it stands in the store
}

// Unchecked is an unread message whose author's account is not known yet.
type Unchecked struct {
	TS     chat.TS
	Author chat.Actor
}

// SendLease is the right of one process to post a conversation's parts.
type SendLease struct {
	Conversation chat.Conversation
	Token        Token
	// Start is the local time at which the lease was asked for.
	Start time.Time
	// Look: an earlier sender may have posted the first part of each
	// destination; look into the thread before posting it.
	Look bool
}
