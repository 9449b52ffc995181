package mailbox

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// step is one step of an erasure: what erase.lua is told of it.
type step []string

// rank is the order in which things are taken out: what stands for other records
// before them, so that an erasure that ends in between still finds it the next
// time, and then messages, whose own records know where else they stand.
func (h Held) rank() int {
	switch h.Kind {
	case HeldSummary:
		return 0
	case HeldMessage:
		return 1
	}
	return 2
}

func sum(text string) string {
	hash := sha1.Sum([]byte(text))
	return hex.EncodeToString(hash[:])
}

// erasedItem stands in a log where an entry was. It says nothing of it, and no
// reader makes an entry of it.
const erasedItem = "erased\nentry"

// takenOut is what a result says whose text was taken out.
const takenOut = "(This held something of a person who has had it erased.)"

// messageIn reads a message.
func messageIn(body []byte) (m chat.Message, ok bool) {
	if len(body) == 0 || body[0] != '{' || json.Unmarshal(body, &m) != nil {
		return chat.Message{}, false
	}
	return m, m.ID.TS != ""
}

// logsOf is how many logs one round trip reads.
const logsOf = 16

// logs judges the logs of a conversation's turns, oldest first.
func (s *search) logs(ctx context.Context, c chat.Conversation, turns []turnHead) error {
	h := holds{}
	for page := range slices.Chunk(turns, logsOf) {
		keys, of := make([]string, 0, len(page)), map[string]turnHead{}
		for _, t := range page {
			if t.actor == s.who && s.own(c, t) {
				h.now = append(h.now, t.number)
			}
			if t.actor == s.who {
				h.ever = append(h.ever, t.number)
			}
			if t.log {
				key := s.box.keys.log(c, t.turn)
				keys = append(keys, key)
				of[key] = t
			}
		}
		err := inPages(ctx, s.box, keys, func(p redis.Pipeliner, key string) *redis.StringSliceCmd { return p.LRange(ctx, key, 0, -1) },
			func(key string, cmd *redis.StringSliceCmd) { s.log(c, of[key], itemsOf(cmd.Val()), &h) })
		if err != nil {
			return err
		}
	}
	before, err := s.box.rdb.HGet(ctx, s.box.keys.conv(c), erasedField(s.who)).Int64()
	if err != nil && !isNil(err) && !redis.HasErrorPrefix(err, "WRONGTYPE") {
		return fmt.Errorf("read %s: %w", c.Key(), err)
	}
	for _, i := range h.summaries {
		if i.stands(h.now) || i.born <= before && i.stands(h.ever) {
			s.add(i.held)
		}
	}
	for _, t := range turns {
		if t.isOpen() && t.actor != s.who && (len(h.now) > 0 || t.born <= before) {
			s.left(fmt.Sprintf("turn %s of %s is open and may have read words of this person: run this again when it has ended", t.turn.Short(), t.actor.Key()))
		}
	}
	if len(h.now) > 0 {
		s.holding.marked[c] = true
	}
	return nil
}

// erasedField of a conversation's record is when something of a person's was
// last taken out of it: a summary that a turn made which had begun before may
// still hold it.
func erasedField(who chat.Actor) string { return "e:" + who.Key() }

// holds are the turns of a conversation in which there is something of the
// person's, by their closing numbers: now, or with what was taken out before.
type holds struct {
	now, ever []int64
	summaries []summaryItem
}

// log judges the log of one turn.
func (s *search) log(c chat.Conversation, t turnHead, items []Item, h *holds) {
	some := false
	for i, item := range items {
		his, summary := s.item(c, t, i, item)
		some = some || his
		if item.Taken == Deleted && item.Author == s.who {
			h.ever = append(h.ever, t.number)
		}
		if summary != nil {
			h.summaries = append(h.summaries, *summary)
		}
	}
	if some && (t.actor != s.who || !t.isOpen()) {
		h.now = append(h.now, t.number)
	}
	if some && t.actor != s.who {
		s.read[t.turn] = true
	}
}

// summaryItem is a summary in a log, of a turn that began then.
type summaryItem struct {
	held   Held
	covers chat.Range
	born   int64
}

// stands reports whether the summary stands for any of some turns.
func (i summaryItem) stands(turns []int64) bool {
	return slices.ContainsFunc(turns, func(n int64) bool { return n >= i.covers.From && n <= i.covers.To })
}

// own finds what a turn of his holds beside its log, if it does.
func (s *search) own(c chat.Conversation, t turnHead) bool {
	if t.isOpen() {
		s.holding.Open = append(s.holding.Open, Work{Conversation: c, Turn: t.turn, State: t.state, Actor: t.actor})
	}
	if len(t.opaque) == 0 {
		return false
	}
	raw, err := json.Marshal(t.opaque)
	if err != nil {
		panic(err) // strings always encode
	}
	s.add(Held{Kind: HeldTurn, Conversation: c, Turn: t.turn, Name: t.state, Data: raw, step: step{"t", string(t.turn)}})
	return !t.isOpen()
}

// item judges one item of a log. his says that it still holds something of his;
// a summary is judged when all turns are known.
func (s *search) item(c chat.Conversation, t turnHead, n int, item Item) (his bool, summary *summaryItem) {
	h := Held{Conversation: c, Turn: t.turn, TS: item.TS}
	replaced := func(with string) step { return step{"l", string(t.turn), strconv.Itoa(n), sum(item.raw), with} }
	switch item.Taken {
	case EntryItem:
		return t.actor == s.who, s.entry(h, t, item, replaced)
	case TakenRequest, TakenSteer, TakenContext, TakenThread, Struck:
	default:
		return false, nil
	}
	m, ok := messageIn(item.Body)
	if item.Author == s.who || ok && m.Author == s.who {
		h.Kind, h.Name, h.Data = HeldLog, string(item.Taken), data(string(item.Body))
		h.step = replaced(fmt.Sprintf("%s %s %s\n%s", Deleted, item.TS, s.who.Key(), item.Taken))
		s.add(h)
		return true, nil
	}
	if blanked, quotes, changed := s.unquoted(string(item.Body)); changed {
		head, _, _ := bytes.Cut([]byte(item.raw), []byte("\n"))
		h.Kind, h.Data, h.step = HeldQuote, quotes, replaced(string(head)+"\n"+blanked)
		s.add(h)
		return true, nil
	}
	return false, nil
}

// entry judges what a run has written.
func (s *search) entry(h Held, t turnHead, item Item, replaced func(string) step) *summaryItem {
	if t.actor == s.who {
		h.Kind, h.Data, h.step = HeldEntry, data(string(item.Body)), replaced(erasedItem)
		s.add(h)
		return nil
	}
	var e chat.Entry
	if json.Unmarshal(item.Body, &e) != nil {
		if s.names(string(item.Body)) {
			s.naming[t.turn] = true
		}
		return nil
	}
	h.Name, h.Data = string(e.Origin), data(string(item.Body))
	switch {
	case e.Origin == chat.Summary:
		h.Kind, h.step = HeldSummary, replaced(erasedItem)
		if e.Covers == nil {
			e.Covers = &chat.Range{To: 1 << 62}
		}
		return &summaryItem{h, *e.Covers, t.born}
	case e.Origin == chat.Begun:
		if with, changed := s.unnamed(item.Body); changed {
			h.Kind, h.Data, h.step = HeldName, nil, replaced("entry\n"+with)
			s.add(h)
		}
	case e.Author() == s.who || (e.Origin == chat.Section || e.Origin == chat.Memory || e.Origin == chat.Quoted) && s.names(e.Text):
		h.Kind, h.step = HeldResult, replaced(erasedItem)
		s.add(h)
	case e.Origin == chat.Result && e.Text != takenOut && s.names(e.Text):
		with := rewritten(item.Body, "text", takenOut)
		h.Kind, h.step = HeldResult, replaced("entry\n"+with)
		s.add(h)
	case s.names(e.Text) || slices.ContainsFunc(e.Calls, func(c chat.ToolCall) bool { return s.names(c.Arguments) }):
		s.naming[t.turn] = true
	}
	return nil
}

// rewritten is a JSON object with another value for one field. What it holds
// besides stays, also what this release does not know.
func rewritten(object []byte, field string, value any) string {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(object, &fields) != nil {
		return string(object)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // callers give what encodes
	}
	fields[field] = raw
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it was JSON before
	}
	return string(text)
}

// unquoted is somebody else's message without what Slack stamps on pieces of it
// as the person's. That a piece was there, and whose, stays.
func (s *search) unquoted(body string) (blanked string, quotes json.RawMessage, changed bool) {
	m, ok := messageIn([]byte(body))
	if !ok {
		return body, nil, false
	}
	var found []chat.Attached
	for i, a := range m.Attached {
		if a.Author != nil && *a.Author == s.who && (a.Text != "" && a.Text != takenOut || a.File != nil) {
			found = append(found, a)
			m.Attached[i].Text, m.Attached[i].File = takenOut, nil
		}
	}
	if len(found) == 0 {
		return body, nil, false
	}
	raw, err := json.Marshal(found)
	if err != nil {
		panic(err) // it was JSON before
	}
	return rewritten([]byte(body), "attached", m.Attached), raw, true
}

// unnamed is what was fixed at a turn's beginning, without the person's name.
func (s *search) unnamed(body []byte) (string, bool) {
	var e chat.Entry
	var fixed struct {
		Names map[string]string `json:"names"`
	}
	if json.Unmarshal(body, &e) != nil || json.Unmarshal([]byte(e.Text), &fixed) != nil || fixed.Names[s.who.Key()] == "" {
		return "", false
	}
	fixed.Names[s.who.Key()] = ""
	return rewritten(body, "text", rewritten([]byte(e.Text), "names", fixed.Names)), true
}
