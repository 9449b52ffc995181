package plugins

import (
	"time"

	"reeve/runtime/chat"
)

// Due is something that somebody has asked for at a time which has come.
type Due struct {
	// Conversation is where it was asked for, and where it is answered.
	Conversation chat.Conversation
	// Key names what was asked for, for good, among all of the plugin's, and At is
	// when it is due: together they name one turn.
	Key string
	At  time.Time
	// Text is what is to be done, in the words that are kept of it.
	Text string
	// CreatedBy asked for it, and Created is when. It says whose wish it was and
	// gives nobody's rights.
	CreatedBy chat.Actor
	Created   time.Time
	// Zone is that in which times are shown: IANA, or an offset; empty: UTC.
	Zone string
	// Note is said in front of the answer, as Markdown: that it comes late, say.
	Note string
	// Report: nothing is done. The note is all that is said, and no model reads it.
	Report bool
}
