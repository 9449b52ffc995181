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

// Waiting is what is kept to be said of a wait's end: the Void of its Park, with
// no ending on its card. waits is false when the turn does not wait for that, and
// card is nil when nothing is kept.
func (b *Box) Waiting(ctx context.Context, c chat.Conversation, turn chat.TurnID, wait WaitID) (card *chat.Part, waits bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	v, err := b.rdb.HMGet(ctx, b.keys.turn(c, turn), "state", "wait_id", "void").Result()
	if err != nil {
		return nil, false, fmt.Errorf("read the wait of turn %s: %w", turn, err)
	}
	if str(v[0]) != "parked" || str(v[1]) != string(wait) || wait == "" {
		return nil, false, nil
	}
	_, payload, found := strings.Cut(str(v[2]), "\n")
	var part chat.Part
	if !found || json.Unmarshal([]byte(unmark.Replace(payload)), &part) != nil || part.Card == nil {
		return nil, true, nil
	}
	part.Card.Ending = nil
	return &part, true, nil
}
