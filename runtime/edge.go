package runtime

import (
	"context"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Outcome is what became of one delivered message. It is durable when it is
// returned, so that its envelope can be acknowledged.
type Outcome struct {
	Message     chat.Message
	Disposition chat.Disposition
	// First is what was answered the first time, of a Duplicate.
	First chat.Disposition
	// Turn is the turn that the message started, joined, steered or stopped.
	Turn chat.TurnID
	// Runs is whose turn runs while the message waits or is refused.
	Runs chat.Actor
	// Withdrawn are waiting messages that a stop took back.
	Withdrawn []chat.MessageID
	// Below is what of ours a reply in a DM stands below, mailbox.BelowCard or
	// mailbox.BelowNotice: nothing begins there.
	Below string
	// Err: nothing is durable, and the envelope must not be acknowledged.
	Err error
}

// Facts are what Slack says of a person's account.
type Facts struct {
	Name     string // display name, for showing only
	Zone     string // IANA time zone; empty when unknown
	Standing chat.Standing
	// Why says in words why the standing is ContextOnly ("a guest account").
	Why string
}

// Slack is what the runtime asks of the Slack edge. Calls may be slow; none is
// made before an acknowledgement.
type Slack interface {
	// Facts looks a person up; answers are cached for an hour. An error means
	// that Slack could not be asked, not that the person may not instruct.
	Facts(ctx context.Context, who chat.Actor) (Facts, error)
	// Known is what Facts has found lately, without asking anybody.
	Known(who chat.Actor) (facts Facts, ok bool)
	// Thread reads what was said in the conversation before a message, oldest
	// first, at most 200 messages within 2 s. missing says that older ones
	// were left out.
	Thread(ctx context.Context, conversation chat.Conversation, before chat.TS) (messages []chat.Message, missing bool, err error)
	// Split cuts a Markdown answer into pieces that one post can hold each.
	Split(markdown string) []string
	// Post drains the conversation's outbox under a lease that this process
	// holds. It returns at once; the sender works on its own.
	Post(lease mailbox.SendLease, parts []chat.Part)
	// Show is told what becomes of turns and messages, for receipts. Best
	// effort: it returns at once and may forget.
	Show(Change)
}

// Change is one step in the life of a turn, for showing.
type Change struct {
	State        ShownState
	Turn         chat.TurnID
	Conversation chat.Conversation
	// Messages are the turn's messages (or the one message) that it is about,
	// in their order.
	Messages []chat.MessageID
	// Actor is whose turn it is, or who wrote the message.
	Actor chat.Actor
	// Why says in words why a message was NotAllowed ("a guest account").
	Why string
}

// ShownState is what a receipt can show.
type ShownState string

const (
	ShownStarted ShownState = "started"
	ShownDone    ShownState = "done"
	// ShownWaits: a message waits now that was part of the turn, and ShownJoins is
	// the reverse.
	ShownWaits ShownState = "waits"
	ShownJoins ShownState = "joins"
	ShownEnded ShownState = "ended" // failed, stopped, abandoned or withdrawn
	// ShownNotAllowed: the author may not instruct; his message is context.
	ShownNotAllowed ShownState = "not_allowed"
)
