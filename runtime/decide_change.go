package runtime

import "reeve/runtime/chat"

// Place is where a message stands when it is edited, deleted or reacted to.
type Place int

const (
	Unknown   Place = iota // its key is claimed by nobody
	Passive                // said in a thread of ours, never addressed
	Waiting                // waits for a turn, or unread for one that is open
	BeganOpen              // a request of an open turn
	ReadOwn                // read by its author's open turn, as a steer
	ReadOther              // read by another's open turn, as context
	Ended                  // in a closed turn, withdrawn, or deleted before it came
	places
)

func (p Place) String() string {
	return [...]string{"unknown", "passive", "waiting", "began_open", "read_own", "read_other", "ended"}[p]
}

// Leaves is what an edit leaves of a message.
type Leaves int

const (
	LeavesText Leaves = iota
	LeavesStop        // a stop word alone
	LeavesNothing
	leavings
)

func (l Leaves) String() string { return [...]string{"text", "stop_word", "nothing"}[l] }

// Edit is what a decision about an edited message may depend on. Its text has
// lost its "!!", which forces nothing in an edit.
type Edit struct {
	Place    Place
	ByAuthor bool // edited.user is the message's author
	Differs  bool // the text is another one
	ByApp    bool // an app's stamp is on it
	// AddsMention: the text before had no mention of the bot, this one has.
	AddsMention bool
	// Young: the message is younger than an hour.
	Young bool
	// Corrected: an earlier edit of it has joined already.
	Corrected bool
	Leaves    Leaves
}

// EditDisposition is what becomes of an edit.
type EditDisposition string

const (
	EditNothing  EditDisposition = "nothing"
	EditReplace  EditDisposition = "replace_text" // in its lane
	EditWithdraw EditDisposition = "withdraw"
	// EditEnter: the message is put like a new one, under its own id, and so
	// enters once.
	EditEnter EditDisposition = "enter"
	// EditCorrect: the new text joins its author's open turn as a steer that
	// says what it corrects.
	EditCorrect EditDisposition = "steer_correction"
)

// DecideEdit says what becomes of an edit.
func DecideEdit(e Edit) EditDisposition {
	switch {
	case !e.ByAuthor, !e.Differs, e.ByApp:
		return EditNothing
	}
	switch e.Place {
	case Waiting:
		if e.Leaves != LeavesText {
			return EditWithdraw
		}
		return EditReplace
	case Unknown, Passive:
		if e.AddsMention || e.Place == Unknown && e.Young {
			return EditEnter
		}
	case BeganOpen, ReadOwn:
		// A stop word typed over a request that is worked on does not stop it:
		// nor is a control word ever text for the model.
		if !e.Corrected && e.Leaves == LeavesText {
			return EditCorrect
		}
	}
	return EditNothing
}

// DeleteDisposition is what becomes of a deletion.
type DeleteDisposition string

const (
	DeleteWithdraw DeleteDisposition = "withdraw"
	DeleteStop     DeleteDisposition = "stop_turn"
	// DeleteBlank: later prompts show the message without its text.
	DeleteBlank DeleteDisposition = "blank"
	// DeleteClaim: the message is still to come, and will find its key taken.
	DeleteClaim DeleteDisposition = "claim_key"
)

// DecideDelete says what becomes of a deletion. It counts whoever made it:
// Slack does not say.
func DecideDelete(p Place) DeleteDisposition {
	switch p {
	case Unknown:
		return DeleteClaim
	case Waiting:
		return DeleteWithdraw
	case BeganOpen:
		return DeleteStop
	default:
		return DeleteBlank
	}
}

// StopSign is a stop that is no message: a reaction, or Slack's own Stop
// button. What it covers are turns and messages older than itself.
type StopSign struct {
	// Named: the reaction is the operator's STOP_REACTION, or it is the button.
	Named bool
	// Standing of who gave it.
	Standing chat.Standing
	// On says that its message is a post of an open turn, or one that an open
	// turn took in (the button: that a turn of its thread is open), and seen
	// from its giver whose that turn is: OwnRuns, OwnParked or OtherRuns. It is
	// NoneRuns when there is none, or a parked one of another's.
	On chat.Column
}

// DecideStopSign says what becomes of a stop that is no message: Stop, Refused
// (the turn is another's and only its actor may stop it) or Ignored.
func DecideStopSign(s StopSign, p Policy) chat.Disposition {
	switch {
	case !s.Named, s.Standing == chat.ContextOnly, s.On == chat.NoneRuns:
		return chat.Ignored
	case s.On == chat.OtherRuns && p.Stop == StopByActor:
		return chat.Refused
	default:
		return chat.Stop
	}
}
