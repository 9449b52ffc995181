package mailbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

const month = 30 * 24 * time.Hour

// lives wants every key of the given kinds to expire within the given times, or
// never when most is 0.
func (w *world) lives(rdb redis.UniversalClient, space *redistest.Space, least, most time.Duration, kinds ...string) {
	w.t.Helper()
	for _, kind := range kinds {
		keys, err := rdb.Keys(w.t.Context(), space.Prefix()+":*:"+kind+":*").Result()
		if err != nil || len(keys) == 0 {
			w.t.Errorf("no key of kind %s (%v)", kind, err)
		}
		for _, key := range keys {
			ttl := rdb.TTL(w.t.Context(), key).Val()
			switch {
			case most == 0 && ttl != -1:
				w.t.Errorf("%s expires in %s, and is in use", strings.TrimPrefix(key, space.Prefix()), ttl)
			case most > 0 && (ttl < least || ttl > most):
				w.t.Errorf("%s expires in %s, want %s to %s", strings.TrimPrefix(key, space.Prefix()), ttl, least, most)
			}
		}
	}
}

func TestRetention_WhatIsAtRestExpiresAndNothingLiveDoes(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	rdb := space.Client()
	w := newWorld(t, mailbox.Options{Retention: month}, space, false)
	within := func(kinds ...string) { t.Helper(); w.lives(rdb, space, month-time.Hour, month, kinds...) }
	live := func(kinds ...string) { t.Helper(); w.lives(rdb, space, 0, 0, kinds...) }

	turn := w.starts(alice, "one")
	live("conv", "turn", "log")
	w.says(chat.SteerOwn, alice, "steer")
	w.says(chat.Wait, bob, "two")
	w.says(chat.AsContext, carol, "passive", unaddressed)
	live("conv", "turn", "log", "steer", "wait", "thread")
	turn.boundary("x")
	closing := turn.done("a")
	live("conv", "closed", "out")
	w.runs(closing.Next).done("b")
	live("conv", "out") // its parts are not posted
	if _, err := w.box.Sent(t.Context(), *closing.Send, mailbox.Posted{ID: string(turn.Turn) + "/a"},
		mailbox.Posted{ID: string(closing.Next.Turn) + "/b"}); err != nil {
		t.Fatal(err)
	}
	within("conv", "closed", "turn", "log")
	w.lives(rdb, space, 8*24*time.Hour-time.Hour, 8*24*time.Hour, "msg")

	w.says(chat.AsContext, carol, "passive", unaddressed)
	within("conv", "closed", "thread")

	// Touched again, it lives again; what ended before goes on to expire.
	parked := w.starts(alice, "three")
	live("conv", "closed")
	parked.park(w.room())
	live("conv", "closed")
	if err := w.box.Abandon(t.Context(), w.conv, parked.Turn); err != nil {
		t.Fatal(err)
	}
	live("conv", "out") // its actor is to be told
	within("turn", "log")
}

func TestRetention_ADMsPointerLivesAsLongAsWhatItPointsTo(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	rdb := space.Client()
	w := newWorld(t, mailbox.Options{Retention: month}, space, false)
	w.conv.Channel = "D1"
	w.conv.Root = at(2)
	turn := w.starts(alice, "one", dm(at(2)))
	w.lives(rdb, space, 0, 0, "dm", "conv")
	turn.done("")
	w.lives(rdb, space, month-time.Hour, month, "dm", "conv")
}

// A message that waits is kept for as long as it waits, whatever that takes.
func TestRetention_AWaitingMessageDoesNotExpire(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	rdb := space.Client()
	w := newWorld(t, mailbox.Options{Retention: month}, space, false)
	w.saysNoRoom(chat.Wait, alice, "one")
	w.lives(rdb, space, 0, 0, "msg", "conv", "wait")
	turn := w.runs(w.claim(w.box).Claimed)
	w.lives(rdb, space, 8*24*time.Hour-time.Hour, 8*24*time.Hour, "msg")
	w.says(chat.SteerOwn, alice, "two")
	turn.boundary("x")
	turn.close(mailbox.Failed, "")
	// The steer that was not carried waits again.
	unexpired := 0
	keys, _ := rdb.Keys(t.Context(), space.Prefix()+":*:msg:*").Result()
	for _, key := range keys {
		if rdb.TTL(t.Context(), key).Val() == -1 && rdb.HGet(t.Context(), key, "state").Val() == "waiting" {
			unexpired++
		}
	}
	if g, err := w.box.Gauges(t.Context()); err != nil || g.Waiting.N != unexpired {
		t.Errorf("%d messages wait, %d of them for good: %v", g.Waiting.N, unexpired, err)
	}
}

func TestRetention_EndedTurnsThatExpiredLeaveTheHistory(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	rdb := space.Client()
	w := newWorld(t, mailbox.Options{Retention: month}, space, false)
	for range 3 {
		w.starts(alice, "old").done("")
	}
	keys, _ := rdb.Keys(t.Context(), space.Prefix()+":*:turn:*").Result()
	for _, key := range keys {
		rdb.Del(t.Context(), key)
	}
	for range 3 {
		w.starts(alice, "new").done("")
	}
	w.wantHistory("UALICE done | request new", "UALICE done | request new", "UALICE done | request new")
}

func TestGauges(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		want := func(waiting, running, parked, unsent int) {
			w.t.Helper()
			g, err := w.box.Gauges(w.t.Context())
			if err != nil {
				w.t.Fatal(err)
			}
			w.same("gauges", []int{waiting, running, parked, unsent}, []int{g.Waiting.N, g.Running.N, g.Parked.N, g.Unsent.N})
			for _, of := range []mailbox.Gauge{g.Waiting, g.Running, g.Parked, g.Unsent} {
				if of.Oldest < 0 || of.Oldest > time.Hour || of.N == 0 && of.Oldest != 0 {
					w.t.Errorf("the oldest is %s old, of %d", of.Oldest, of.N)
				}
			}
		}
		want(0, 0, 0, 0)
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		w.says(chat.Wait, carol, "three")
		want(2, 1, 0, 0)
		bobs := w.runs(turn.park(w.room()).Next)
		want(1, 1, 1, 0)
		if _, _, err := turn.endWait(w.box, turn.wait(), w.room()); err != nil {
			w.t.Fatal(err)
		}
		want(2, 1, 0, 0)
		closing := bobs.done("b")
		want(1, 1, 0, 1)
		w.runs(w.runs(closing.Next).done("a").Next).done("")
		want(0, 0, 0, 2)
		_, err := w.box.Sent(w.t.Context(), *closing.Send, mailbox.Posted{ID: string(bobs.Turn) + "/b"}, mailbox.Posted{ID: string(turn.Turn) + "/a"})
		if err != nil {
			w.t.Fatal(err)
		}
		want(0, 0, 0, 0)
	})
}

func TestSurveyAndStory(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		w.says(chat.SteerOwn, alice, "three")
		work, _, err := w.box.Survey(w.t.Context(), false)
		if err != nil || len(work) != 2 {
			w.t.Fatalf("open: %+v %v", work, err)
		}
		states := map[string]chat.Actor{work[0].State: work[0].Actor, work[1].State: work[1].Actor}
		w.same("open", map[string]chat.Actor{"running": alice, "waiting": bob}, states)
		turn.answers("calls")
		turn.boundary("results")
		for _, name := range []string{string(turn.Turn), turn.Turn.Short()} {
			c, id, err := w.box.Find(w.t.Context(), name)
			if err != nil && len(name) == 6 {
				continue // the ids of these tests are short themselves
			}
			if err != nil || c != w.conv || id != turn.Turn {
				w.t.Errorf("%s is %v %s %v", name, c, id, err)
			}
		}
		if _, _, err := w.box.Find(w.t.Context(), "nobody"); err == nil {
			w.t.Error("a turn of no name was found")
		}
		s, err := w.box.Story(w.t.Context(), w.conv, turn.Turn)
		if err != nil {
			w.t.Fatal(err)
		}
		w.wantLog("request one | entry calls | entry results | steer three", s.Log)
		if s.Log[0].Author != alice || s.Log[3].Author != alice || s.Decisions[s.Log[0].TS] != chat.Start || s.Decisions[s.Log[3].TS] != chat.SteerOwn {
			w.t.Errorf("the story of %+v: %+v", s.Work, s.Decisions)
		}
		if len(s.Runs) != 1 || s.Runs[0].Owner != w.box.Owner() || s.State != "running" {
			w.t.Errorf("runs %+v", s.Runs)
		}
		turn.done("a")
		unsent, _, err := w.box.Unsent(w.t.Context())
		if err != nil || len(unsent) != 1 || unsent[0].Turn != turn.Turn || !unsent[0].Sending || unsent[0].Bad != "" {
			w.t.Errorf("unsent: %+v %v", unsent, err)
		}
	})
}
