package mailbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"reeve/runtime/chat"
)

// unmark takes the marks out of a part that is kept for the end of a wait.
var unmark = strings.NewReplacer(markHow, "", markTime, "0001-01-01T00:00:00Z", markTS, "")

// OneWait is one wait of a turn, as it stands now.
type OneWait struct {
	// Open: the turn waits in it. Otherwise Ending is how it ended, if it is the
	// turn's last.
	Open   bool
	Ending chat.Ending
	// Card is what is kept to be said of its end: the Void of its Park, with no
	// ending on its card. nil: nothing is.
	Card *chat.Part
}

// Waiting reads a wait of a turn.
func (b *Box) Waiting(ctx context.Context, c chat.Conversation, turn chat.TurnID, wait WaitID) (OneWait, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	v, err := b.rdb.HMGet(ctx, b.keys.turn(c, turn), "state", "wait_id", "void", "ended").Result()
	if err != nil {
		return OneWait{}, fmt.Errorf("read the wait of turn %s: %w", turn, err)
	}
	if wait == "" || str(v[1]) != string(wait) {
		return OneWait{}, nil
	}
	w := OneWait{Open: str(v[0]) == "parked"}
	if !w.Open {
		w.Ending = readEnding(str(v[3]))
	}
	_, payload, found := strings.Cut(str(v[2]), "\n")
	var part chat.Part
	if found && json.Unmarshal([]byte(unmark.Replace(payload)), &part) == nil && part.Card != nil {
		part.Card.Ending = nil
		w.Card = &part
	}
	return w, nil
}
