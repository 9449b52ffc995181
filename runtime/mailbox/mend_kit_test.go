package mailbox_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

var dave = chat.Person("T1", "UDAVE")

// brief is a store whose leases end soon, so that what they hold comes up.
var brief = mailbox.Options{LeaseTTL: 40 * time.Millisecond, LeaseMargin: 10 * time.Millisecond}

// crowded is a conversation with one of everything: an ended turn whose part is
// not posted, Carol's parked turn, whose card is, Alice's lost one with a read and an unread
// steer, Bob's waiting message, and what was said without addressing the bot.
func crowded(t *testing.T, space *redistest.Space) *world {
	w := newWorld(t, brief, space, false)
	sender := w.starts(dave, "ended").done("unsent").Send
	parked := w.starts(carol, "parked")
	if l := parked.asks(time.Hour, "calls").Send; l != nil {
		sender = l // the other has ended
	}
	w.sent(sender, mailbox.Posted{ID: parked.card(), Channel: "D1", TS: at(900), Card: true, DM: true})
	turn := w.starts(alice, "running")
	w.says(chat.SteerOwn, alice, "read")
	turn.boundary("results")
	w.says(chat.SteerOwn, alice, "unread")
	w.says(chat.Wait, bob, "waiting")
	w.says(chat.AsContext, dave, "passive", unaddressed)
	return w
}

// settles plays a replica until nothing is due any more: it posts, and ends
// every turn that it can claim. It answers what was posted to people's DMs.
func (w *world) settles() (told []chat.Part) {
	w.t.Helper()
	ctx := context.Background()
	var cursor int64
	for range 200 {
		var err error
		if cursor, err = w.box.Sweep(ctx, cursor); err != nil {
			w.t.Fatal(err)
		}
		due, err := w.box.Due(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		idle := cursor == 0
		for _, d := range due {
			if d.Kind == mailbox.DueWait && d.In > time.Minute {
				continue
			}
			idle = false
			if d.In > 0 {
				<-time.After(d.In)
			}
			if d.Kind == mailbox.DueWait {
				if _, _, err := w.box.ExpireWait(ctx, d.Conversation, d.Turn, mailbox.Next{}); err != nil {
					w.t.Logf("expire: %v", err)
				}
				continue
			}
			if d.Kind == mailbox.DueSend {
				lease, parts, ok, err := w.box.ClaimSending(ctx, d.Conversation)
				if err != nil || !ok {
					continue
				}
				var out []mailbox.Posted
				for _, p := range parts {
					out = append(out, mailbox.Posted{ID: p.ID})
					if p.To.DM != "" {
						told = append(told, p)
					}
				}
				_, _ = w.box.Sent(ctx, lease, out...)
				continue
			}
			next := w.room()
			next.Due = d.Turn
			r, err := w.box.Claim(ctx, d.Conversation, next, 5)
			if err != nil {
				w.t.Logf("claim: %v", err)
			}
			for c := r.Claimed; c != nil; {
				closing, err := w.box.Close(ctx, mailbox.Close{
					Ref:    mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token},
					Number: c.Commits + 1, Outcome: mailbox.Done, Next: w.room(),
				})
				if err != nil {
					w.t.Logf("close: %v", err)
					break
				}
				if closing.Closed {
					c = closing.Next
				} else {
					c.Commits++
				}
			}
		}
		if g, err := w.box.Gauges(ctx); err == nil && idle && g.Waiting.N+g.Running.N+g.Unsent.N == 0 {
			return told
		}
	}
	g, err := w.box.Gauges(ctx)
	w.t.Fatalf("the conversation does not come to rest: %+v %v", g, err)
	return nil
}

// goesOn wants a new message of somebody to be answered.
func (w *world) goesOn() {
	w.t.Helper()
	m := w.message(dave, "new")
	w.put(w.asPut(m, false))
	w.settles()
	for _, turn := range w.history() {
		if turn[0] == "UDAVE done" && slices.Contains(turn, "request new") {
			return
		}
	}
	w.t.Errorf("the new message was not answered; ended turns: %v", w.history())
}

// damage spoils one key in one way.
type damage struct {
	name string
	do   func(ctx context.Context, rdb redis.UniversalClient, key string) error
}

// damages are the ways in which a key can be spoiled: as a whole, and each of
// its fields or members.
func damages(t *testing.T, rdb redis.UniversalClient, key string) []damage {
	ctx := t.Context()
	list := []damage{
		{"of another type", func(ctx context.Context, rdb redis.UniversalClient, key string) error {
			rdb.Del(ctx, key)
			if strings.Contains(key, ":dm:") {
				return rdb.LPush(ctx, key, "x").Err()
			}
			return rdb.Set(ctx, key, "garbage", 0).Err()
		}},
		{"gone", func(ctx context.Context, rdb redis.UniversalClient, key string) error { return rdb.Del(ctx, key).Err() }},
	}
	switch rdb.Type(ctx, key).Val() {
	case "hash":
		for field := range rdb.HGetAll(ctx, key).Val() {
			list = append(list, damage{"field " + field, func(ctx context.Context, rdb redis.UniversalClient, key string) error {
				return rdb.HSet(ctx, key, field, "gar bage").Err()
			}}, damage{"no field " + field, func(ctx context.Context, rdb redis.UniversalClient, key string) error {
				return rdb.HDel(ctx, key, field).Err()
			}})
		}
	case "zset":
		list = append(list, damage{"member", func(ctx context.Context, rdb redis.UniversalClient, key string) error {
			return rdb.ZAdd(ctx, key, redis.Z{Score: -1, Member: "garbage"}).Err()
		}})
	case "list":
		list = append(list, damage{"item", func(ctx context.Context, rdb redis.UniversalClient, key string) error {
			return rdb.LPush(ctx, key, "garbage").Err()
		}})
	}
	return list
}

// key is the one key of a kind for which ok is true.
func (w *world) key(rdb redis.UniversalClient, space *redistest.Space, kind string, ok func(string) bool) string {
	w.t.Helper()
	keys, err := rdb.Keys(w.t.Context(), space.Prefix()+":*:"+kind+":*").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return !ok(key) })
	if len(keys) != 1 {
		w.t.Fatalf("%d keys of kind %s: %v", len(keys), kind, keys)
	}
	return keys[0]
}
