package mailbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// What scripts answer is read here and nowhere else.

func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

func num(v any) int64 {
	n, _ := strconv.ParseInt(str(v), 10, 64)
	return n
}

func isNil(err error) bool { return errors.Is(err, redis.Nil) }

// errUnread says that a step has claimed a turn whose record cannot be read.
var errUnread = errors.New("read a claim")

// readClaimed reads what claimed() in prelude_turns.lua answers; nil when nothing was
// claimed.
func readClaimed(v any, start time.Time) (*Claimed, error) {
	f, ok := v.([]any)
	if !ok || len(f) == 0 {
		return nil, nil
	}
	if len(f) < 17 {
		return nil, fmt.Errorf("%w: an answer of %d fields", errUnread, len(f))
	}
	c := &Claimed{
		Turn: chat.TurnID(str(f[1])), Token: Token(str(f[3])), Attempt: int(num(f[4])),
		Setup: []byte(str(f[5])), History: num(f[6]), Ran: time.Duration(num(f[7])) * time.Millisecond,
		Commits: num(f[8]), Fresh: str(f[11]) == "1", Unread: int(num(f[13])), Start: start,
	}
	var okConv, okActor bool
	c.Conversation, okConv = chat.ParseConversation(str(f[0]))
	c.Actor, okActor = chat.ParseActor(str(f[2]))
	if !okConv || !okActor {
		return nil, fmt.Errorf("%w: turn %s has no conversation or no actor", errUnread, c.Turn)
	}
	c.Stop = readStop(f[9], f[10])
	if id := str(f[14]); id != "" {
		c.Waited = &Waited{ID: WaitID(id), For: []byte(str(f[15])), Ended: readEnding(str(f[16]))}
	}
	if items, ok := f[12].([]any); ok {
		c.Log = readItems(items)
	}
	return c, nil
}

func readStop(by, ts any) *Stop {
	if str(ts) == "" {
		return nil
	}
	actor, _ := chat.ParseActor(str(by))
	return &Stop{By: actor, TS: chat.TS(str(ts))}
}

func readItems(values []any) []Item {
	items := make([]Item, 0, len(values))
	for _, v := range values {
		head, body, _ := strings.Cut(str(v), "\n")
		taken, of, _ := strings.Cut(head, " ")
		ts, author, _ := strings.Cut(of, " ")
		who, _ := chat.ParseActor(author)
		items = append(items, Item{Taken: Taken(taken), TS: chat.TS(ts), Author: who, Body: []byte(body), raw: str(v)})
	}
	return items
}

// messageIDs reads time stamps.
func messageIDs(in chat.Conversation, stamps []any) []chat.MessageID {
	var ids []chat.MessageID
	for _, ts := range stamps {
		ids = append(ids, chat.MessageID{Team: in.Team, Channel: in.Channel, TS: chat.TS(str(ts))})
	}
	return ids
}

// readUnchecked reads lane members ("TS AUTHOR") by comma.
func readUnchecked(v any) []Unchecked {
	var list []Unchecked
	for member := range strings.SplitSeq(str(v), ",") {
		ts, author, ok := strings.Cut(member, " ")
		if !ok {
			continue
		}
		actor, _ := chat.ParseActor(author)
		list = append(list, Unchecked{TS: chat.TS(ts), Author: actor})
	}
	return list
}

// partItems are parts as they are written now, and as the outbox keeps them.
func partItems(parts []chat.Part) (written []chat.Part, items []any, err error) {
	for _, p := range parts {
		p.Written = chat.TSOf(time.Now())
		item, err := partItem(p)
		if err != nil {
			return nil, nil, err
		}
		written, items = append(written, p), append(items, item)
	}
	return written, items, nil
}

// partItem is a part as the outbox keeps it: its id, so that scripts can tell
// parts apart, and the rest as Go wrote it.
func partItem(p chat.Part) (string, error) {
	if p.Written == "" {
		p.Written = chat.TSOf(time.Now())
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode part %s: %w", p.ID, err)
	}
	return p.ID + "\n" + string(raw), nil
}
