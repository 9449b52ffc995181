package mailbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// Put is one message on its way into the mailbox.
type Put struct {
	Message chat.Message
	// Row is the message's disposition in every state, or, of a change, a
	// letter for every place in which the message may stand.
	Row chat.Row
	// Turn is the id of the turn that the message starts, if it starts one.
	Turn chat.TurnID
	// Setup is kept with a turn that the message starts: what is fixed at its
	// first claim, such as its tool list. Opaque.
	Setup []byte
	// Claim: this process has room to run a turn.
	Claim bool
}

// PutResult is what became of a message.
type PutResult struct {
	Disposition chat.Disposition
	// First is the disposition of the first delivery, of a Duplicate.
	First chat.Disposition
	// Turn is the turn that the message started, joined or stopped.
	Turn chat.TurnID
	// Runs is the actor of the running turn, if one runs.
	Runs chat.Actor
	// Conversation is where the message belongs, which in a DM may be an
	// earlier one than it seemed.
	Conversation chat.Conversation
	// Ours: the conversation is one of ours.
	Ours bool
	// Author is who wrote the message that was deleted, if it is known.
	Author chat.Actor
	// Withdrawn are the unread messages that a stop took back.
	Withdrawn []chat.MessageID
	// Below is what of ours a reply in a DM stands below, BelowCard or BelowNotice,
	// of the turn Turn. Nothing begins there: the message is Ignored, whatever it
	// says, and not remembered.
	Below string
	// Claimed is a turn that this process has to run now.
	Claimed *Claimed
}

// What a reply may stand below; see PutResult.
const (
	BelowCard   = "card"
	BelowNotice = "notice"
)

// PutAll puts messages in one round trip, in their order; a stop by reaction to a
// post in a DM, which is of a turn elsewhere, takes one more. Result and error i
// belong to message i; after an error nothing is known of it, and putting it again
// is safe.
func (b *Box) PutAll(ctx context.Context, puts []Put) ([]PutResult, []error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	puts = slices.Clone(puts)
	results, errs := make([]PutResult, len(puts)), make([]error, len(puts))
	all := make([]int, len(puts))
	for i := range puts {
		all[i] = i
	}
	if again := b.putEach(ctx, puts, all, results, errs); len(again) > 0 {
		b.putEach(ctx, puts, again, results, errs)
	}
	return results, errs
}

// putEach puts the messages of these indices, in one round trip. It answers those
// that are to be put where their turn is, and has turned them there.
func (b *Box) putEach(ctx context.Context, puts []Put, which []int, results []PutResult, errs []error) (again []int) {
	calls, at := make([]call, 0, len(which)), make([]int, 0, len(which))
	for _, i := range which {
		c, err := b.callOf(puts[i])
		if err != nil {
			errs[i] = err
			continue
		}
		calls, at = append(calls, c), append(at, i)
	}
	start := time.Now()
	values, callErrs := b.run(ctx, calls)
	for n, i := range at {
		if callErrs[n] != nil {
			errs[i] = fmt.Errorf("put message %s: %w", puts[i].Message.ID.TS, callErrs[n])
			continue
		}
		if there, ok := elsewhere(puts[i], values[n]); ok {
			puts[i], again = there, append(again, i)
			continue
		}
		read := readPut
		if changes(puts[i].Message) {
			read = readChange
		}
		results[i], errs[i] = read(values[n], puts[i].Message, start)
		errs[i] = b.unread(ctx, results[i].Conversation, errs[i])
	}
	return again
}

// elsewhere is a stop by reaction, turned to where the turn is whose post it stands
// under.
func elsewhere(p Put, v []any) (Put, bool) {
	if changes(p.Message) || len(v) < 5 || str(v[0]) != "l" {
		return p, false
	}
	c, ok := chat.ParseConversation(str(v[4]))
	if !ok {
		return p, false
	}
	change := *p.Message.Change
	change.On, change.Turn = "", chat.TurnID(str(v[2]))
	p.Message.Change, p.Message.Conversation, p.Message.ID.Channel = &change, c, c.Channel
	return p, true
}

// changes reports whether m is an edit or a deletion of a message.
func changes(m chat.Message) bool { return m.Change != nil && m.Change.Kind != chat.StopSign }

func (b *Box) callOf(p Put) (call, error) {
	switch {
	case !changes(p.Message):
		return b.putCall(p)
	case p.Message.Change.Kind == chat.Edited:
		return b.editCall(p)
	default:
		return b.removeCall(p), nil
	}
}

func (b *Box) putCall(p Put) (call, error) {
	body, err := json.Marshal(p.Message)
	if err != nil {
		return call{}, fmt.Errorf("encode message %s: %w", p.Message.ID.TS, err)
	}
	c := p.Message.Conversation
	return call{
		script: &b.scripts.put,
		keys:   []string{b.keys.conv(c), b.keys.message(p.Message.ID), b.keys.index(c)},
		args: []any{
			b.keys.of(c), c.Key(), string(p.Message.ID.TS), p.Message.Author.Key(), string(p.Row), body,
			flags(p.Message), b.opts.MaxWaiting, b.opts.MaxWaitingAuthor, b.opts.MaxUnread,
			b.owner, nonce(), b.opts.LeaseTTL.Milliseconds(),
			string(p.Turn), p.Setup, bit(p.Claim), on(p.Message), string(p.Message.Edited),
		},
	}, nil
}

// on is the message under a stop by reaction, or the turn whose post that is.
func on(m chat.Message) string {
	switch {
	case m.Change == nil:
		return ""
	case m.Change.Turn != "":
		return "turn:" + string(m.Change.Turn)
	}
	return string(m.Change.On)
}

// flags are what the append step must know of a message beside its row.
func flags(m chat.Message) string {
	var f strings.Builder
	if m.Addressed && m.Standing != chat.ContextOnly {
		f.WriteByte('a')
	}
	if m.Forced {
		f.WriteByte('f')
	}
	if m.Stop {
		f.WriteByte('s')
	}
	if m.Standing == chat.Unchecked {
		f.WriteByte('u')
	}
	if on(m) != "" {
		f.WriteByte('o')
		return f.String()
	}
	reply := m.Conversation.Root != m.ID.TS
	if reply {
		f.WriteByte('r')
	} else if m.Visibility == chat.DM {
		f.WriteByte('d')
	}
	return f.String()
}

func bit(v bool) string {
	if v {
		return "1"
	}
	return "0"
}

func readPut(v []any, m chat.Message, start time.Time) (PutResult, error) {
	if len(v) < 7 {
		return PutResult{}, fmt.Errorf("put message %s: an answer of %d fields", m.ID.TS, len(v))
	}
	if str(v[0]) == "b" {
		r := PutResult{Disposition: chat.Ignored, First: chat.Ignored, Below: str(v[1]), Turn: chat.TurnID(str(v[2]))}
		r.Conversation, _ = chat.ParseConversation(str(v[4]))
		return r, nil
	}
	r := PutResult{
		Disposition: disposition(v[0]), First: disposition(v[1]), Turn: chat.TurnID(str(v[2])),
		Ours: num(v[5]) == 1,
	}
	r.Runs, _ = chat.ParseActor(str(v[3]))
	r.Conversation, _ = chat.ParseConversation(str(v[4]))
	r.Withdrawn = messageIDs(m.Conversation, v[7:])
	var err error
	r.Claimed, err = readClaimed(v[6], start)
	return r, err
}

func disposition(v any) chat.Disposition {
	if s := str(v); s != "" {
		return chat.DispositionOf(s[0])
	}
	return chat.Ignored
}

// Known reports whether an addressed copy of a message has claimed its key.
func (b *Box) Known(ctx context.Context, id chat.MessageID) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	state, err := b.rdb.HGet(ctx, b.keys.message(id), "state").Result()
	if err != nil && !isNil(err) {
		return false, fmt.Errorf("look up message %s: %w", id.TS, err)
	}
	return state != "" && state != "passive", nil
}

// Settle takes an unread message out of its lane: its author may not instruct,
// and it is context.
func (b *Box) Settle(ctx context.Context, c chat.Conversation, ts chat.TS, author chat.Actor) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	id := chat.MessageID{Team: c.Team, Channel: c.Channel, TS: ts}
	_, err := b.one(ctx, &b.scripts.settle, []string{b.keys.conv(c), b.keys.message(id)},
		b.keys.of(c), c.Key(), string(ts), author.Key())
	return err
}
