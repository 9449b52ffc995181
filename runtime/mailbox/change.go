package mailbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"reeve/runtime/chat"
)

// Letters of the rows that go with changes of messages: one for each place in
// which the message may stand (see standing in prelude_messages.lua), and of an edit's
// two, since an edit may have joined already.
const (
	ChangeNothing  = 'n'
	ChangeReplace  = 'r'
	ChangeWithdraw = 'w'
	ChangeEnter    = 'e'
	ChangeCorrect  = 'c'
	ChangeClaim    = 'k'
	ChangeStop     = 's'
	ChangeBlank    = 'b'
)

var changed = map[string]chat.Disposition{
	string(ChangeNothing): chat.Ignored, string(ChangeReplace): chat.ReplaceText,
	string(ChangeWithdraw): chat.Withdraw, string(ChangeEnter): chat.Enter,
	string(ChangeCorrect): chat.SteerOwn, string(ChangeClaim): chat.ClaimKey,
	string(ChangeStop): chat.Stop, string(ChangeBlank): chat.Blank,
}

// editCall replaces a message's text, or joins the new text to the turn that
// has read the old one, or finds that the message is to be put.
func (b *Box) editCall(p Put) (call, error) {
	m := p.Message
	body, err := json.Marshal(m)
	if err != nil {
		return call{}, fmt.Errorf("encode message %s: %w", m.ID.TS, err)
	}
	corrected, err := json.Marshal(correction(m))
	if err != nil {
		return call{}, fmt.Errorf("encode message %s: %w", m.ID.TS, err)
	}
	c := m.Conversation
	return call{
		script: &b.scripts.edit,
		keys:   []string{b.keys.message(m.ID), b.keys.index(c)},
		args: []any{b.keys.of(c), c.Key(), string(m.ID.TS), m.Author.Key(), string(p.Row),
			string(cmp.Or(m.Edited, m.Change.TS)), body, string(m.Change.TS), corrected},
	}, nil
}

// correction is an edited message as it joins the turn that has read it. Its id
// is the edit's own, since it is read beside the old one. Files stay as they
// are in an edit, and are known.
func correction(m chat.Message) chat.Message {
	original := m.ID
	m.Corrects = &original
	m.ID.TS = m.Change.TS
	m.Attached = slices.DeleteFunc(slices.Clone(m.Attached), func(a chat.Attached) bool { return a.Origin == chat.FileOrigin })
	return m
}

// removeCall withdraws a deleted message, or stops the turn that it began, or
// blanks its text.
func (b *Box) removeCall(p Put) call {
	m := p.Message
	c := m.Conversation
	return call{
		script: &b.scripts.remove,
		keys:   []string{b.keys.message(m.ID), b.keys.index(c)},
		args: []any{b.keys.of(c), c.Key(), string(m.ID.TS), string(p.Row), string(m.Change.TS),
			b.owner, nonce(), b.opts.LeaseTTL.Milliseconds(), string(p.Turn), p.Setup, bit(p.Claim)},
	}
}

// readChange reads what edit and remove answer.
func readChange(v []any, m chat.Message, start time.Time) (PutResult, error) {
	if len(v) < 3 {
		return PutResult{}, fmt.Errorf("change message %s: an answer of %d fields", m.ID.TS, len(v))
	}
	d, ok := changed[str(v[0])]
	if !ok {
		return PutResult{}, fmt.Errorf("change message %s: no such answer as %q", m.ID.TS, str(v[0]))
	}
	r := PutResult{Disposition: d, First: d, Turn: chat.TurnID(str(v[1])), Ours: d != chat.Ignored}
	r.Conversation, _ = chat.ParseConversation(str(v[2]))
	if len(v) < 5 { // an edit's
		return r, nil
	}
	r.Withdrawn = messageIDs(m.Conversation, v[5:])
	r.Author, _ = chat.ParseActor(str(v[3]))
	var err error
	r.Claimed, err = readClaimed(v[4], start)
	return r, err
}
