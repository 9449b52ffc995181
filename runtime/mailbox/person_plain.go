package mailbox

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
)

// deadOf is how many records that were set aside one round trip reads; each may
// have 64 KiB.
const deadOf = 50

// dead finds his among the records that were set aside.
func (s *search) dead(ctx context.Context, keys []string) error {
	for _, key := range keys {
		for from := int64(0); ; from += deadOf {
			items, err := s.box.rdb.LRange(ctx, key, from, from+deadOf-1).Result()
			if err != nil && !redis.HasErrorPrefix(err, "WRONGTYPE") {
				return fmt.Errorf("read %s: %w", key, err)
			}
			for _, item := range items {
				s.aside(key, item)
			}
			if len(items) < deadOf {
				break
			}
		}
	}
	return nil
}

// aside judges one of them.
func (s *search) aside(key, item string) {
	head, record, _ := strings.Cut(item, "\n")
	f := strings.SplitN(head, "|", 6)
	f = append(f, make([]string, max(0, 6-len(f)))...)
	turn := chat.TurnID(f[4])
	if !s.asideIsHis(f[2], turn, record) {
		return
	}
	c, _ := chat.ParseConversation(f[3])
	s.add(Held{Kind: HeldAside, Conversation: c, Turn: turn, Name: f[0], Data: data(record), step: step{"d", item}, key: key})
}

// asideIsHis judges a record by whose it was where it stood; one that does not
// say so is his if it names him.
func (s *search) asideIsHis(where string, turn chat.TurnID, record string) bool {
	his := s.turns[turn].actor == s.who
	switch kind, _, _ := strings.Cut(where, ":"); kind {
	case "log":
		item := itemsOf([]string{record})[0]
		m, ok := messageIn(item.Body)
		switch {
		case !item.Author.IsZero():
			return item.Author == s.who
		case ok:
			return m.Author == s.who
		case item.Taken == EntryItem:
			return his
		}
	case "out":
		p, err := readPart(record)
		return his || p.To.DM == s.who.User || err != nil && s.names(record)
	case "thread":
		_, body, _ := strings.Cut(record, "\n")
		if m, ok := messageIn([]byte(body)); ok {
			return m.Author == s.who
		}
	}
	return his || s.names(record)
}

// plain finds what stands outside of conversations.
func (s *search) plain(ctx context.Context, names map[string][]string) error {
	who, k := s.who.Key(), s.box.keys
	whole := func(kind HeldKind, key, name string, value []byte) {
		h := Held{Kind: kind, Name: name, key: key}
		if value != nil {
			h.Data = data(string(value))
		}
		s.add(h)
	}
	for _, name := range names["once"] {
		if strings.Contains(":"+name+":", ":"+who+":") {
			whole(HeldNotice, k.once(name), name, nil)
		}
	}
	var values, stores, common []string
	for _, name := range names["fact"] {
		if name == who {
			values = append(values, k.prefix+":fact:"+name)
		}
	}
	for _, name := range names["tokens"] {
		if strings.HasPrefix(name, who+":") {
			values = append(values, k.prefix+":tokens:"+name)
		}
	}
	for _, name := range names["store"] {
		plugin, owner, _ := strings.Cut(name, ":")
		switch owner {
		case who:
			stores = append(stores, k.store(plugin, s.who))
		case "":
			common = append(common, k.store(plugin, chat.Actor{}))
		}
	}
	err := inPages(ctx, s.box, values, func(p redis.Pipeliner, key string) *redis.StringCmd { return p.Get(ctx, key) },
		func(key string, cmd *redis.StringCmd) {
			kind, name := HeldFact, ""
			if day, ok := strings.CutPrefix(key, k.prefix+":tokens:"+who+":"); ok {
				kind, name = HeldTokens, day
			}
			whole(kind, key, name, []byte(cmd.Val()))
		})
	if err != nil {
		return err
	}
	all := func(p redis.Pipeliner, key string) *redis.MapStringStringCmd { return p.HGetAll(ctx, key) }
	err = inPages(ctx, s.box, stores, all, func(key string, cmd *redis.MapStringStringCmd) {
		if len(cmd.Val()) > 0 {
			whole(HeldStore, key, pluginOf(key), stored(cmd.Val()))
		}
	})
	if err != nil {
		return err
	}
	return inPages(ctx, s.box, common, all, func(key string, cmd *redis.MapStringStringCmd) {
		n := 0
		for field, value := range cmd.Val() {
			if s.names(field) || s.names(value[min(nonceLength, len(value)):]) {
				n++
			}
		}
		if n > 0 {
			s.left(fmt.Sprintf("the plugin %s has one store for all, and %d of its values name this person: only the plugin knows what they are", pluginOf(key), n))
		}
	})
}

// pluginOf is the plugin of a store's key, which ends with its owner.
func pluginOf(key string) string {
	_, rest, _ := strings.Cut(key, ":store:")
	plugin, _, _ := strings.Cut(rest, ":")
	return plugin
}

// stored are a store's values as JSON: text, or else base64.
func stored(values map[string]string) []byte {
	shown := map[string]any{}
	for field, value := range values {
		value = value[min(nonceLength, len(value)):]
		switch {
		case json.Valid([]byte(value)):
			shown[field] = json.RawMessage(value)
		case utf8.ValidString(value):
			shown[field] = value
		default:
			shown[field] = map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(value))}
		}
	}
	raw, err := json.Marshal(shown)
	if err != nil {
		panic(err) // what is in it was checked
	}
	return raw
}

// Counts are how many things of each kind can be taken out, in the order of
// HeldKinds: all but what his open turns hold.
func (h Holding) Counts() []HeldCount {
	var counts []HeldCount
	for _, kind := range HeldKinds {
		n := 0
		for _, held := range h.Held {
			if held.Kind == kind && !held.open {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, HeldCount{kind, n})
		}
	}
	return counts
}

// HeldCount is how many things of a kind are held.
type HeldCount struct {
	Kind  HeldKind `json:"kind"`
	Count int      `json:"count"`
}

// ofKinds are the things of some kinds, or of all others, that can be taken out.
func (h Holding) ofKinds(in bool, kinds ...HeldKind) []Held {
	return slices.DeleteFunc(slices.Clone(h.Held), func(held Held) bool { return held.open || slices.Contains(kinds, held.Kind) != in })
}
