package mailbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// HeldKind is a kind of thing that the store holds of a person.
type HeldKind string

const (
	HeldMessage HeldKind = "message"      // his, as it is known so that it enters once; it may wait
	HeldThread  HeldKind = "thread"       // his message that no turn has read yet
	HeldLog     HeldKind = "log"          // his message in a turn's log, anybody's
	HeldQuote   HeldKind = "quote"        // his words that somebody else has quoted or forwarded
	HeldTurn    HeldKind = "turn"         // what is kept with a turn of his beside its log
	HeldEntry   HeldKind = "entry"        // what was done and answered in a turn of his
	HeldSummary HeldKind = "summary"      // a note, made for somebody else, of turns that hold something of his
	HeldResult  HeldKind = "result"       // what a tool found, or a plugin added, in somebody else's turn, and which names him
	HeldName    HeldKind = "name"         // the name that he gives himself, kept with somebody else's turn
	HeldPart    HeldKind = "part"         // an answer to him that is not posted yet
	HeldTask    HeldKind = "task"         // a plugin's work after a turn of his that is still to be done
	HeldAside   HeldKind = "set aside"    // a record of his that could not be processed
	HeldFact    HeldKind = "fact"         // what Slack says of his account
	HeldTokens  HeldKind = "tokens"       // how many he has used on a day
	HeldNotice  HeldKind = "notice"       // that he was told something, so that he is not told again
	HeldStore   HeldKind = "plugin store" // what a plugin keeps for him
)

// HeldKinds are all of them, in the order in which they are told.
var HeldKinds = []HeldKind{HeldMessage, HeldThread, HeldLog, HeldQuote, HeldTurn, HeldEntry, HeldSummary, HeldResult, HeldName,
	HeldPart, HeldTask, HeldAside, HeldFact, HeldTokens, HeldNotice, HeldStore}

// Held is one thing that the store holds of a person.
type Held struct {
	Kind         HeldKind          `json:"kind"`
	Conversation chat.Conversation `json:"conversation,omitzero"`
	Turn         chat.TurnID       `json:"turn,omitempty"`
	TS           chat.TS           `json:"ts,omitempty"`
	Name         string            `json:"name,omitempty"`
	Data         json.RawMessage   `json:"data,omitempty"`

	step step   // takes it out, in its conversation's shard
	key  string // or is it, as a whole
	open bool   // it is part of an open turn of his, and stays while that is
}

// Holding is all that the store holds of a person.
type Holding struct {
	Held []Held
	// Open are his turns that have not ended.
	Open []Work
	// Left is what names him and is not taken out, in sentences.
	Left []string

	// marked are conversations in which turns hold something of his.
	marked map[chat.Conversation]bool
}

// Person finds all that the store holds of a person, by reading every record
// that there is: it is an operator's, and takes its time. beside says which keys,
// by what stands behind the prefix, are those of stores beside the mailbox, which
// others look into; nil: there are none.
func (b *Box) Person(ctx context.Context, who chat.Actor, beside func(name string) bool) (Holding, error) {
	f, err := b.find(ctx, beside)
	if err != nil {
		return Holding{}, err
	}
	turns, err := b.heads(ctx, f, who)
	if err != nil {
		return Holding{}, err
	}
	s := &search{who: who, turns: turns, box: b, seen: map[string]bool{}, naming: map[chat.TurnID]bool{}, read: map[chat.TurnID]bool{}}
	s.holding.marked = map[chat.Conversation]bool{}
	conversations := make([]chat.Conversation, 0, len(f.conversations))
	for c := range f.conversations {
		conversations = append(conversations, c)
	}
	slices.SortFunc(conversations, func(a, b chat.Conversation) int { return cmp.Compare(a.Key(), b.Key()) })
	for _, c := range conversations {
		if err := s.conversation(ctx, c, f.conversations[c]); err != nil {
			return Holding{}, err
		}
	}
	if err := s.tasks(ctx, f.tasks); err != nil {
		return Holding{}, err
	}
	if err := s.dead(ctx, f.dead); err != nil {
		return Holding{}, err
	}
	if err := s.plain(ctx, f.other); err != nil {
		return Holding{}, err
	}
	if n := len(s.naming); n > 0 {
		s.left(fmt.Sprintf("answers and calls in turns of other people name this person, in %d turns: they are those people's", n))
	}
	for _, key := range f.strange {
		s.left("the key " + key + " is of a kind that this release does not know: look into it yourself")
	}
	return s.holding, nil
}

// search is one search for what is held of a person.
type search struct {
	who     chat.Actor
	turns   map[chat.TurnID]turnHead
	box     *Box
	holding Holding
	seen    map[string]bool
	naming  map[chat.TurnID]bool // turns of others whose answers or calls name him
	read    map[chat.TurnID]bool // turns of others whose logs hold words of his
	begins  int                  // of the conversation's own, among what is held
}

func (s *search) add(h Held) {
	t := s.turns[h.Turn]
	h.open = t.actor == s.who && t.isOpen()
	s.holding.Held = append(s.holding.Held, h)
}

func (s *search) left(what string) {
	if !s.seen[what] {
		s.seen[what] = true
		s.holding.Left = append(s.holding.Left, what)
	}
}

// data is a record as JSON: itself, or a string of it.
func data(raw string) json.RawMessage {
	if json.Valid([]byte(raw)) {
		return json.RawMessage(raw)
	}
	text, err := json.Marshal(raw)
	if err != nil {
		panic(err) // a string always encodes
	}
	return text
}

// names reports whether a text names the person, by his id.
func (s *search) names(text string) bool {
	id := string(s.who.User)
	for rest := text; ; {
		i := strings.Index(rest, id)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(id):]
		if !endsInID(before) && !beginsInID(after) {
			return true
		}
		rest = after
	}
}

func isIDByte(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' }

func endsInID(s string) bool   { return s != "" && isIDByte(s[len(s)-1]) }
func beginsInID(s string) bool { return s != "" && isIDByte(s[0]) }

// conversation finds what one conversation holds: first what stands for other
// records of his, so that a search that comes after half of an erasure still
// finds it.
func (s *search) conversation(ctx context.Context, c chat.Conversation, in *foundIn) error {
	s.begins = len(s.holding.Held)
	slices.SortFunc(in.turns, func(a, b turnHead) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.turn, b.turn)) })
	if err := s.logs(ctx, c, in.turns); err != nil {
		return err
	}
	for _, m := range in.messages {
		s.message(m)
	}
	k := s.box.keys
	var keys []string
	if in.thread {
		keys = append(keys, k.of(c)+"thread:"+c.Key())
	}
	if in.out {
		keys = append(keys, k.out(c))
	}
	err := inPages(ctx, s.box, keys, func(p redis.Pipeliner, key string) *redis.StringSliceCmd { return p.LRange(ctx, key, 0, -1) },
		func(key string, cmd *redis.StringSliceCmd) {
			for _, item := range cmd.Val() {
				if key == k.out(c) {
					s.part(c, item)
				} else {
					s.said(c, item)
				}
			}
		})
	slices.SortStableFunc(s.holding.Held[s.begins:], func(a, b Held) int { return cmp.Compare(a.rank(), b.rank()) })
	return err
}

// message judges a message's own record.
func (s *search) message(m messageHead) {
	h := Held{Conversation: m.conversation, Turn: m.turn, TS: m.ts}
	body, ok := messageIn([]byte(m.body))
	if m.author == s.who || ok && m.author.IsZero() && body.Author == s.who {
		if m.body == "" && m.state != "waiting" && m.state != "steer" && m.state != "passive" {
			return
		}
		if m.conversation.Team == "" {
			s.left("the record of message " + string(m.ts) + " names no conversation, and is left to be mended")
			return
		}
		h.Kind, h.step = HeldMessage, step{"m", string(m.ts)}
		if m.body != "" {
			h.Data = data(m.body)
		}
		h.Name = m.state
		s.add(h)
		return
	}
	if blanked, quotes, changed := s.unquoted(m.body); changed {
		h.Kind, h.Data, h.step = HeldQuote, quotes, step{"b", string(m.ts), sum(m.body), blanked}
		s.add(h)
	}
}

// said judges an item of what was said in a thread and no turn has read.
func (s *search) said(c chat.Conversation, item string) {
	ts, body, _ := strings.Cut(item, "\n")
	h := Held{Conversation: c, TS: chat.TS(ts)}
	m, ok := messageIn([]byte(body))
	if ok && m.Author == s.who {
		h.Kind, h.Data, h.step = HeldThread, data(body), step{"h", ts, sum(item)}
		s.add(h)
		return
	}
	if blanked, quotes, changed := s.unquoted(body); changed {
		h.Kind, h.Data, h.step = HeldQuote, quotes, step{"r", ts, sum(item), ts + "\n" + blanked}
		s.add(h)
	}
}

// part judges a part that is not posted yet. That a turn was abandoned is told
// in words of our own, and still to be told.
func (s *search) part(c chat.Conversation, item string) {
	id, raw, _ := strings.Cut(item, "\n")
	turn, mark, _ := strings.Cut(id, "/")
	p, _ := readPart(item)
	if mark == "o" || s.turns[chat.TurnID(turn)].actor != s.who && p.To.DM != s.who.User {
		return
	}
	s.add(Held{Kind: HeldPart, Conversation: c, Turn: chat.TurnID(turn), Name: id, Data: data(raw), step: step{"o", id, sum(item)}})
}

// tasks finds those that are still to follow a turn of his.
func (s *search) tasks(ctx context.Context, keys []string) error {
	now, err := s.box.rdb.Time(ctx).Result()
	if err != nil {
		return fmt.Errorf("read the store's clock: %w", err)
	}
	return inPages(ctx, s.box, keys, func(p redis.Pipeliner, key string) *redis.SliceCmd { return p.HMGet(ctx, key, "conv", "until") },
		func(key string, cmd *redis.SliceCmd) {
			_, rest, _ := strings.Cut(strings.TrimPrefix(key, s.box.keys.prefix+":"), "task:")
			name, turn := splitTaskKey(rest)
			c, _ := chat.ParseConversation(str(cmd.Val()[0]))
			working := num(cmd.Val()[1]) > now.UnixMilli()
			if s.read[turn] && working {
				s.left(fmt.Sprintf("task %s of turn %s is being done and may have read words of this person: run this again when it is over", name, turn.Short()))
			}
			if t := s.turns[turn]; t.actor == s.who && !t.isOpen() && c.Team != "" {
				h := Held{Kind: HeldTask, Conversation: c, Turn: turn, Name: string(name), step: step{"k", rest}}
				if working {
					h.Data = data(`"it is being done"`)
				}
				s.add(h)
			}
		})
}

// Working reports whether a task of what is held is being done, whose worker
// learns only with its next renewal that it is gone.
func (h Holding) Working() bool {
	return slices.ContainsFunc(h.Held, func(h Held) bool { return h.Kind == HeldTask && h.Data != nil })
}
