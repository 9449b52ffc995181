package mailbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// EndingWait ends one wait of a turn.
type EndingWait struct {
	Conversation chat.Conversation
	Turn         chat.TurnID
	Wait         WaitID
	// By, if it names somebody, may end it only if he is the turn's actor.
	By chat.Actor
	// Ending is what the turn is told. Its time is now when it has none.
	Ending chat.Ending
	// Parts are posted in the same step: what the card is to show now. Without
	// any, the Void of the Park says how the wait ended.
	Parts []chat.Part
	// Next is taken when no turn runs: the turn goes on at once.
	Next Next
}

// WaitEnd is what became of it. When nothing is true, there is no such wait any
// more: it is over, the turn waits for something else, or it has ended.
type WaitEnd struct {
	Ended    bool
	NotYours bool // By is somebody else, whatever became of the wait
	// Send is set when this process is to post Parts: all that stands in the
	// outbox, oldest first.
	Send    *SendLease
	Parts   []chat.Part
	Claimed *Claimed
}

// EndWait puts a parked turn into the queue, if it waits in that very wait.
func (b *Box) EndWait(ctx context.Context, e EndingWait) (WaitEnd, error) {
	if e.Wait == "" {
		return WaitEnd{}, fmt.Errorf("end the wait of turn %s: which one is not said", e.Turn)
	}
	if e.Ending.Time.IsZero() {
		e.Ending.Time = time.Now().UTC().Truncate(time.Second)
	}
	return b.endWait(ctx, e)
}

// ExpireWait puts a parked turn into the queue if the time of its wait is over.
func (b *Box) ExpireWait(ctx context.Context, c chat.Conversation, turn chat.TurnID, next Next) (ended bool, got *Claimed, err error) {
	end, err := b.endWait(ctx, EndingWait{Conversation: c, Turn: turn, Ending: chat.Ending{How: chat.ByTime}, Next: next})
	return end.Ended, end.Claimed, err
}

// endWait ends a wait; one without a name is that whose time is over. An ending
// without a time is written by the step, by the store's clock.
func (b *Box) endWait(ctx context.Context, e EndingWait) (WaitEnd, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	c := e.Conversation
	var ending []byte
	parts, items, err := partItems(e.Parts)
	if err == nil && !word.MatchString(string(e.Ending.How)) {
		err = errors.New("how it ended is not said")
	}
	if err == nil && !e.Ending.Time.IsZero() {
		ending, err = json.Marshal(e.Ending)
	}
	if err != nil {
		return WaitEnd{}, fmt.Errorf("end the wait of turn %s: %w", e.Turn, err)
	}
	start := time.Now()
	v, err := b.one(ctx, &b.scripts.endWait, []string{b.keys.turn(c, e.Turn), b.keys.conv(c), b.keys.index(c)},
		append([]any{b.keys.of(c), c.Key(), string(e.Turn), string(e.Wait), ending, b.owner, nonce(), b.opts.LeaseTTL.Milliseconds(),
			string(e.Next.Turn), e.Next.Setup, bit(e.Next.Claim), string(e.Ending.How), e.By.Key()}, items...)...)
	if err != nil {
		return WaitEnd{}, fmt.Errorf("end the wait of turn %s: %w", e.Turn, err)
	}
	if len(v) < 4 {
		return WaitEnd{NotYours: len(v) > 0 && num(v[0]) == 2}, nil
	}
	end := WaitEnd{Ended: true}
	end.Send, end.Parts = b.sendLease(ctx, c, v[2], v[3], start, parts)
	end.Claimed, err = readClaimed(v[1], start)
	return end, b.unread(ctx, c, err)
}

// Marks of what only the end of a wait knows, in a part that is kept for it: see
// void in prelude_waits.lua. No JSON has the byte that they begin with.
const (
	markHow  = "\x01how"
	markTime = "\x01time"
	markTS   = "\x01ts"
)

// void is the part that is kept for the end of the wait, as the outbox will have
// it; empty for none.
func (p Park) void() (string, error) {
	if p.Void == nil {
		return "", nil
	}
	v := *p.Void
	if v.ID == "" || v.Card == nil || slices.ContainsFunc(p.Parts, func(o chat.Part) bool { return o.ID == v.ID }) {
		return "", errors.New("what is to be said of its end has no id of its own, or no card")
	}
	// The marks are put in for words that nobody can have written.
	n := nonce()
	card := *v.Card
	card.Ending = &chat.Ending{How: chat.How(n + "how")}
	v.Card, v.Edits, v.Written = &card, cmp.Or(v.Edits, p.Card), chat.TS(n+"ts")
	item, err := partItem(v)
	item = strings.Replace(item, n+"how", markHow+`","time":"`+markTime, 1)
	return strings.Replace(item, n+"ts", markTS, 1), err
}

// word is what may stand for one in a field of several.
var word = regexp.MustCompile(`^[a-z_]+$`)

// kindOfWait says in a word what a turn waits for.
func kindOfWait(waitsFor string) string {
	var a chat.Asking
	switch {
	case word.MatchString(waitsFor):
		return waitsFor
	case json.Unmarshal([]byte(waitsFor), &a) != nil:
		return "other"
	case len(a.Questions) > 0:
		return "consent"
	case a.Provider != "":
		return "account"
	}
	return "other"
}

// readEnding reads how a wait ended. Releases before wrote a plain word.
func readEnding(raw string) chat.Ending {
	var e chat.Ending
	switch {
	case strings.HasPrefix(raw, "{") && json.Unmarshal([]byte(raw), &e) == nil:
		return e
	case raw == "forced":
		return chat.Ending{How: chat.ByMessage}
	case word.MatchString(raw):
		return chat.Ending{How: chat.How(raw)}
	}
	return chat.Ending{}
}
