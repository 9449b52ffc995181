package slackapp

import "fmt"

// TextAllow is the label of the box that allows one call.
func TextAllow(n int) string { return fmt.Sprintf("Allow %d", n) }

// Labels of buttons, what the window for a code says, and what is said to who
// pressed a button that changes nothing. All are plain.
const (
	TextAllowTicked  = "Allow ticked"
	TextRefuseAll    = "Refuse all"
	TextConnectHere  = "Connect"
	TextNotNow       = "Not now"
	TextCodeButton   = "Enter the code"
	TextNewCode      = "New code"
	TextOwnTurn      = "Do it as my own turn"
	TextDisconnect   = "Disconnect"
	TextDisconnectQ  = "I can do nothing with it any more until you connect it again."
	TextCodeTitle    = "Enter the code"
	TextCodeLabel    = "The code that the page shows"
	TextCodeSubmit   = "Confirm"
	TextCodeClose    = "Close"
	TextCodeMissing  = "Enter the code that the page shows."
	TextCodeOutage   = "I cannot check it right now. Please try again in a moment."
	TextCodeNone     = "I got no new code. Please try again in a moment."
	TextModalLate    = "The window could not be opened. Please press “Enter the code” again."
	TextTickFirst    = "Nothing is ticked, so I did nothing. Tick what I may do, or press “Refuse all”."
	TextCardNotYours = "This is not yours to answer."
	TextCardOver     = "This is over: nothing waits for your answer any more."
	TextOwnNotYours  = "This is not yours to answer: somebody else wrote it."
)

// TextBelow answers what is written below a card or a notice of ours.
func TextBelow(card bool) string {
	if card {
		return "I do not read what is written below a card. Use its buttons, if it still has some; for anything else write to me in a new message."
	}
	return "I do not read what is written below a notice. Please write to me in a new message, or in the thread that it is about."
}
