package mailbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

func TestP9_NoRecordHoldsAConversationUp(t *testing.T) {
	t.Parallel()
	// The keys of a crowded conversation, named alike in every world.
	sample := redistest.Shared(t)
	crowded(t, sample)
	rdb := sample.Client()
	keys, err := rdb.Keys(t.Context(), sample.Prefix()+":*").Result()
	if err != nil || len(keys) < 15 {
		t.Fatalf("%d keys: %v", len(keys), err)
	}
	slices.Sort(keys)
	for _, key := range keys {
		name := strings.TrimPrefix(key, sample.Prefix()+":")
		for _, d := range damages(t, rdb, key) {
			t.Run(name+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				space := redistest.Shared(t)
				w := crowded(t, space)
				if err := d.do(t.Context(), space.Client(), space.Prefix()+":"+name); err != nil {
					t.Fatal(err)
				}
				w.goesOn()
				// Once more: what was mended stays so.
				w.goesOn()
			})
		}
	}
}

// What a record's loss costs somebody he is told, once.
func TestP9_WhoLosesSomethingIsToldOnce(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		kind   string // of the key that is spoiled
		field  string
		value  string
		actors []chat.UserID
	}{
		"a turn of a later version":    {"turn", "v", "2", []chat.UserID{"UALICE"}},
		"a turn without a number":      {"turn", "commits", "many", []chat.UserID{"UALICE"}},
		"a turn of another type":       {"turn", "", "", []chat.UserID{"UALICE"}},
		"an outbox that is lost":       {"out", "", "", []chat.UserID{"UDAVE"}},
		"a turn that nobody's name is": {"turn", "actor", "nobody", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := redistest.Shared(t)
			w := crowded(t, space)
			rdb := space.Client()
			key := w.key(rdb, space, c.kind, func(key string) bool {
				return c.kind != "turn" || rdb.HGet(t.Context(), key, "state").Val() == "running"
			})
			if c.field == "" {
				rdb.Set(t.Context(), key, "garbage", 0)
			} else {
				rdb.HSet(t.Context(), key, c.field, c.value)
			}
			var told []chat.UserID
			for _, p := range w.settles() {
				told = append(told, p.To.DM)
			}
			w.same("who was told", c.actors, told)
			w.goesOn()
			dead, err := w.box.Dead(t.Context())
			if err != nil || len(dead) != 1 || dead[0].Why == "" || dead[0].Conversation != w.conv || !strings.HasPrefix(dead[0].Where, c.kind) {
				t.Errorf("set aside: %+v %v", dead, err)
			}
		})
	}
}

// A card that is lost, or cannot be read, is one that nobody will see: its wait
// is over, and the turn goes on.
func TestP9_ALostCardEndsItsWait(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(ctx context.Context, rdb redis.UniversalClient, out string){
		"gone": func(ctx context.Context, rdb redis.UniversalClient, out string) { rdb.Del(ctx, out) },
		"unread": func(ctx context.Context, rdb redis.UniversalClient, out string) {
			rdb.LSet(ctx, out, 0, "t_01/card\nx")
		},
		"no order": func(ctx context.Context, rdb redis.UniversalClient, out string) {
			rdb.LSet(ctx, out, 0, "t_01/card\n{}")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := redistest.Shared(t)
			w := newWorld(t, brief, space, false)
			turn := w.starts(alice, "one")
			turn.asks(time.Hour)
			rdb := space.Client()
			spoil(t.Context(), rdb, w.key(rdb, space, "out", func(string) bool { return true }))
			<-time.After(4 * brief.LeaseTTL) // until the sweep looks
			ids := []string{}
			for _, p := range w.settles() {
				ids = append(ids, p.ID)
			}
			slices.Sort(ids)
			w.same("who was told of what", []string{"t_01/card.v", "t_01/lcard"}, ids)
			w.same("the waits", []string{"consent undelivered"}, turn.waits())
			w.wantHistory("UALICE done | request one")
		})
	}
}

// A process of the release before knows nothing of cards: what it parks, claims
// and ends leaves nothing behind that would be said of another wait.
func TestP5_ACardOfAnEarlierWaitSaysNothing(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(ctx context.Context, rdb redis.UniversalClient, turn string){
		"it has parked the turn since": func(ctx context.Context, rdb redis.UniversalClient, turn string) {
			rdb.HSet(ctx, turn, "wait_id", "9", "ended", "forced")
		},
		"it runs the turn": func(ctx context.Context, rdb redis.UniversalClient, turn string) {
			rdb.HSet(ctx, turn, "state", "running", "until", "1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := redistest.Shared(t)
			w := newWorld(t, brief, space, false)
			turn := w.starts(alice, "one")
			w.sent(turn.asks(time.Hour).Send, mailbox.Posted{ID: turn.card(), TS: at(900), Card: true})
			rdb := space.Client()
			before(t.Context(), rdb, w.key(rdb, space, "turn", func(string) bool { return true }))
			<-time.After(4 * brief.LeaseTTL)
			w.settles()
			w.says(chat.Stop, alice, "stop", stop)
			for _, p := range w.outbox() {
				if strings.HasPrefix(p, "card") {
					t.Errorf("said: %s", p)
				}
			}
		})
	}
}

// The words by which releases before said how a wait ended.
func TestP5_AnEndingOfTheReleaseBeforeIsRead(t *testing.T) {
	t.Parallel()
	for wrote, want := range map[string]chat.How{
		"forced": chat.ByMessage, "expired": chat.ByTime, "resumed": chat.ByOperator, "": "", "{": "", "gar bage": "",
	} {
		space := redistest.Shared(t)
		w := newWorld(t, mailbox.Options{}, space, false)
		turn := w.starts(alice, "one")
		turn.park(w.noRoom())
		if ended, _, err := turn.endWait(w.box, turn.wait(), w.noRoom()); !ended || err != nil {
			t.Fatal(ended, err)
		}
		rdb := space.Client()
		rdb.HSet(t.Context(), w.key(rdb, space, "turn", func(string) bool { return true }), "ended", wrote)
		if got := w.claim(w.box).Claimed.Waited.Ended; got.How != want {
			t.Errorf("%q is read as %+v, want %q", wrote, got, want)
		}
	}
}

// A part that cannot be posted is set aside; those around it go out.
func TestP9_ABadPartHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"no json":           "not json",
		"a later version":   `{"v":2,"id":"%s","turn":"%s","to":{"channel":"C1"},"markdown":"x"}`,
		"no destination":    `{"id":"%s","turn":"%s","markdown":"x"}`,
		"another's id":      `{"id":"other","turn":"t","to":{"channel":"C1"},"markdown":"x"}`,
		"fields of no kind": `{"id":"%s","turn":"%s","to":"C1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := redistest.Shared(t)
			w := newWorld(t, brief, space, false)
			turn := w.starts(alice, "one")
			id := string(turn.Turn) + "/bad"
			turn.done("good")
			rdb := space.Client()
			out := w.key(rdb, space, "out", func(string) bool { return true })
			if strings.Contains(bad, "%s") {
				bad = fmt.Sprintf(bad, id, turn.Turn)
			}
			rdb.LPush(t.Context(), out, id+"\n"+bad)
			told := w.settles()
			if len(told) != 1 || told[0].To.DM != "UALICE" {
				t.Errorf("told: %+v", told)
			}
			dead, _ := w.box.Dead(t.Context())
			if len(dead) != 1 || dead[0].Record != id+"\n"+bad || dead[0].Turn != turn.Turn {
				t.Errorf("set aside: %+v", dead)
			}
		})
	}
}

// Records of a release that knows more than this one: what it added is left
// where it is.
func TestP9_UnknownFieldsAreCarriedAlong(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	w := newWorld(t, mailbox.Options{}, space, false)
	turn := w.starts(alice, "one")
	w.says(chat.Wait, bob, "two")
	rdb := space.Client()
	kinds := []string{"turn", "conv", "msg"}
	for _, kind := range kinds {
		keys, _ := rdb.Keys(t.Context(), space.Prefix()+":*:"+kind+":*").Result()
		for _, key := range keys {
			rdb.HSet(t.Context(), key, "mood", "hopeful")
		}
	}
	w.says(chat.SteerOwn, alice, "three")
	turn.boundary("x")
	next := w.runs(turn.done("a").Next)
	next.done("b")
	for _, kind := range kinds {
		keys, _ := rdb.Keys(t.Context(), space.Prefix()+":*:"+kind+":*").Result()
		carried := 0
		for _, key := range keys {
			if rdb.HGet(t.Context(), key, "mood").Val() == "hopeful" {
				carried++
			}
		}
		if carried == 0 {
			t.Errorf("no record of kind %s has kept what a later release wrote", kind)
		}
	}
}

// Records that break an invariant: one turn goes on, the other is abandoned and
// its actor told.
func TestP4_OfTwoRunningTurnsOneGoesOn(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	w := crowded(t, space)
	rdb := space.Client()
	parked := w.key(rdb, space, "turn", func(key string) bool { return rdb.HGet(t.Context(), key, "state").Val() == "parked" })
	rdb.HSet(t.Context(), parked, "state", "running")
	<-time.After(4 * brief.LeaseTTL) // until the sweep looks
	var told []chat.UserID
	for _, p := range w.settles() {
		told = append(told, p.To.DM)
	}
	w.same("who was told", []chat.UserID{"UCAROL"}, told)
	w.wantHistory("UDAVE done | request ended | entry unsent", "UCAROL abandoned | request parked | entry calls",
		"UALICE done | request running | entry results | steer read | steer unread", "UBOB done | request waiting")
	w.goesOn()
}

// Derived state that is gone is made again from what it was derived from.
func TestP4_DerivedStateIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(context.Context, redis.UniversalClient, func(kind string) string){
		"the index": func(ctx context.Context, rdb redis.UniversalClient, key func(string) string) {
			rdb.Del(ctx, key("leases"))
		},
		"the running turn": func(ctx context.Context, rdb redis.UniversalClient, key func(string) string) {
			rdb.HDel(ctx, key("conv:*"), "run")
		},
		"the parked turn": func(ctx context.Context, rdb redis.UniversalClient, key func(string) string) {
			rdb.HDel(ctx, key("conv:*"), "p:T1:UCAROL")
		},
		"the lane of those": func(ctx context.Context, rdb redis.UniversalClient, key func(string) string) {
			rdb.Del(ctx, key("wait:*"))
		},
		"a run that is nobody's": func(ctx context.Context, rdb redis.UniversalClient, key func(string) string) {
			rdb.HSet(ctx, key("conv:*"), "run", "t_none")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := redistest.Shared(t)
			w := crowded(t, space)
			rdb := space.Client()
			spoil(t.Context(), rdb, func(kind string) string {
				keys, err := rdb.Keys(t.Context(), space.Prefix()+":*:"+kind).Result()
				if err != nil || len(keys) != 1 {
					t.Fatal(keys, err)
				}
				return keys[0]
			})
			<-time.After(4 * brief.LeaseTTL) // until the sweep looks
			if told := w.settles(); len(told) != 0 {
				t.Errorf("told of what was not lost: %+v", told)
			}
			w.wantHistory("UDAVE done | request ended | entry unsent",
				"UALICE done | request running | entry results | steer read | steer unread", "UBOB done | request waiting")
			if g, err := w.box.Gauges(t.Context()); err != nil || g.Parked.N != 1 || g.Dead != 0 {
				t.Errorf("gauges %+v %v", g, err)
			}
			w.says(chat.JoinParked, carol, "for my parked turn")
		})
	}
}

// Two releases on one store: their scripts differ, and their records are of one
// form.
func TestP5_TwoReleasesWorkSideBySide(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	w := newWorld(t, mailbox.Options{}, space, false)
	other := newWorld(t, mailbox.Options{Retention: month}, space, false)
	w.other = other.box // it has other scripts, and the same keys
	turn := w.starts(alice, "one")
	w.box, w.other = w.other, w.box
	w.says(chat.SteerOwn, alice, "two")
	w.says(chat.Wait, bob, "three")
	w.wantLog("steer two", turn.boundary("x"))
	if err := w.box.HandOver(t.Context(), turn.Ref); err != nil {
		t.Fatal(err)
	}
	again := w.began(w.claim(w.box).Claimed, alice, "request one | entry x | steer two")
	again.box = w.other
	w.began(again.done("a").Next, bob, "request three").done("b")
	w.wantHistory("UALICE done | request one | entry x | steer two | entry a", "UBOB done | request three | entry b")
}
