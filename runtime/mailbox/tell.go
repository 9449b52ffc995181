package mailbox

import (
	"encoding/json"
	"fmt"

	"reeve/runtime/chat"
)

// What people are told, by DM, of records that cannot be processed and of turns
// that were ended or held for them: the part goes out in the step that does it.

// tell makes the part that tells somebody something of a turn, as the outbox
// keeps it; empty for somebody who has no DM.
func tell(turn chat.TurnID, mark string, who chat.Actor, text string) (string, error) {
	if !who.IsPerson() {
		return "", nil
	}
	return partItem(chat.Part{
		ID: string(turn) + "/" + mark, Turn: turn, To: chat.Destination{DM: who.User}, Markdown: text,
	})
}

func tellLost(turn chat.TurnID) string {
	return "I had to give up on your request (turn " + turn.Short() + "): what I had kept of it cannot be read any more. Please ask again."
}

func tellUnread(turn chat.TurnID) string {
	return "One of your messages (turn " + turn.Short() + ") was damaged where I keep it, and I cannot read it. Please send it again."
}

func tellUnsent(turn chat.TurnID) string {
	return "A part of my answer (turn " + turn.Short() + ") was damaged before I could post it. Please ask again if you miss something."
}

func tellEnded(turn chat.TurnID) string {
	return "Whoever runs me has ended the work on your request (turn " + turn.Short() + "). What it had not done yet will not be done; ask again if you still want it."
}

func tellUntouched(turn chat.TurnID) string {
	return "Your request (turn " + turn.Short() + ") was left lying for more than a day, so I did not go on with it by myself. " +
		"If you still want it, write to me again where you asked; if not, write `stop` there."
}

// What is said in the thread of a turn that was stopped: by its own actor, or
// because a message that began it was deleted, by whomever.
const (
	StoppedText = "Stopped."
	DeletedText = "Stopped: its message was deleted."
)

// Deletion is who stopped a turn whose message was deleted: Slack does not say
// who deletes.
var Deletion = chat.SystemActor("deletion")

// stoppedLines are the closing line of a turn that a stop ends without a
// worker, as a part and as an entry of its log. The step puts in turn, place
// and text.
var stoppedLines = func() string {
	part, errPart := json.Marshal(chat.Part{
		ID: "@turn/s", Turn: "@turn", To: chat.Destination{Channel: "@channel", Thread: "@root"}, Markdown: "@text",
	})
	entry, errEntry := json.Marshal(chat.Entry{
		Role: chat.AssistantRole, Origin: chat.Answer, Text: "@text", Posted: true,
		Provenance: &chat.Provenance{Authority: chat.Context},
	})
	if errPart != nil || errEntry != nil {
		panic("encode the closing line of a stopped turn") // plain values, which always encode
	}
	return fmt.Sprintf("local STOPPED_PART, STOPPED_ENTRY = '%s', '%s'\nlocal STOPPED_TEXT, DELETED_TEXT, DELETION = '%s', '%s', '%s'\n",
		part, entry, StoppedText, DeletedText, Deletion.Key())
}()
