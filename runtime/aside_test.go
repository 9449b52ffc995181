package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/agent"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// store is the play's store, seen from beside.
func (p *play) store() (*mailbox.Box, *redis.Client) {
	p.t.Helper()
	opts, err := redis.ParseURL(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	rdb := redis.NewClient(opts)
	p.t.Cleanup(func() { _ = rdb.Close() })
	return p.beside(), rdb
}

// waits puts a message for which no process has room.
func (p *play) waits(box *mailbox.Box, m chat.Message) {
	p.t.Helper()
	_, errs := box.PutAll(p.t.Context(), []mailbox.Put{{Message: m, Row: runtime.DecideRow(m, policy)}})
	if errs[0] != nil {
		p.t.Fatal(errs[0])
	}
}

// spoil gives a stored message another body.
func (p *play) spoil(rdb *redis.Client, m chat.Message, body string) {
	p.t.Helper()
	keys, err := rdb.Keys(p.t.Context(), p.prefix+":*:msg:*"+string(m.ID.TS)).Result()
	if err != nil || len(keys) != 1 {
		p.t.Fatal(keys, err)
	}
	if err := rdb.HSet(p.t.Context(), keys[0], "body", body).Err(); err != nil {
		p.t.Fatal(err)
	}
}

// told waits until somebody was told something by DM, and answers the parts
// that did it.
func (p *play) told(who chat.Actor, words string) (ids []string) {
	p.t.Helper()
	p.slack.until(p.t, "a DM to "+string(who.User), func() bool {
		ids = nil
		for _, part := range p.slack.posts {
			if part.To.DM == who.User && strings.Contains(part.Markdown, words) && !slices.Contains(ids, part.ID) {
				ids = append(ids, part.ID)
			}
		}
		return len(ids) > 0
	})
	return ids
}

func (p *play) dead(box *mailbox.Box, want int) {
	p.t.Helper()
	dead, err := box.Dead(p.t.Context())
	if err != nil || len(dead) != want {
		p.t.Errorf("set aside: %+v %v, want %d", dead, err, want)
	}
}

func TestP9_AMessageThatCannotBeReadIsSetAside(t *testing.T) {
	for name, body := range map[string]string{
		"garbage": "garbage", "nothing": "", "a later version": `{"v":2,"id":{"ts":"1"}}`, "no id": `{"text":"x"}`, "a list": `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t)
			box, rdb := p.store()
			bad := p.says(alice, "bad")
			p.waits(box, bad)
			p.waits(box, p.says(alice, "good"))
			p.spoil(rdb, bad, body)
			p.replica(nil)
			run := p.run()
			if got := texts(run.turn.Own); !slices.Equal(got, []string{"instruction:good"}) {
				t.Errorf("the turn was asked for %v", got)
			}
			if ids := p.told(alice, "send it again"); len(ids) != 1 {
				t.Errorf("told by %v", ids)
			}
			run.answers(t, "answered")
			p.slack.posted(t, "answered")
			p.dead(box, 1)
		})
	}
}

func TestP9_ATurnOfWhichNothingCanBeReadMakesWay(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	box, rdb := p.store()
	bad := p.says(alice, "bad")
	p.waits(box, bad)
	p.waits(box, p.says(bob, "next"))
	p.spoil(rdb, bad, "garbage")
	p.replica(nil)
	run := p.run()
	if run.turn.Actor != bob {
		t.Errorf("%s's turn runs", run.turn.Actor.Key())
	}
	if ids := p.told(alice, "send it again"); len(ids) != 1 {
		t.Errorf("told by %v", ids)
	}
	run.answers(t, "done")
	p.dead(box, 1)
}

func TestP9_ASteerThatCannotBeReadIsItsAuthorsLoss(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	box, rdb := p.store()
	r := p.replica(func(o *runtime.Options) { o.Policy.CrossActor = runtime.ModeSteer })
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	bad := p.says(bob, "bad")
	p.wants(p.deliver(r, bad), chat.SteerContext)
	p.spoil(rdb, bad, "garbage")
	run.do(t, func(run *fakeRun) (bool, error) {
		steers, err := run.log.Boundary(run.ctx)
		if len(steers) != 0 {
			t.Errorf("the turn read %v", texts(steers))
		}
		return false, err
	})
	if ids := p.told(bob, "send it again"); len(ids) != 1 {
		t.Errorf("told by %v", ids)
	}
	run.answers(t, "done")
	p.dead(box, 1)
}

// What a turn has done cannot be known any more when an entry of it is gone.
func TestP9_ALostEntryFailsItsTurn(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	box, rdb := p.store()
	r := p.replica(nil)
	p.deliver(r, p.says(alice, "one"))
	run := p.run()
	run.do(t, func(run *fakeRun) (bool, error) {
		return false, run.log.Commit(run.ctx, chat.Entry{Role: chat.AssistantRole, Origin: chat.CallOrigin})
	})
	keys, err := rdb.Keys(t.Context(), p.prefix+":*:log:*").Result()
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	rdb.LSet(t.Context(), keys[0], 1, "entry\ngarbage")
	r.end() // hands the turn over
	p.replica(nil)
	p.slack.until(t, "the sentence of a failed turn", func() bool {
		return slices.ContainsFunc(p.slack.posts, func(part chat.Part) bool {
			return part.Markdown == (&agent.Failure{Kind: agent.Internal}).Sentence(run.turn.ID)
		})
	})
	p.noRun()
	p.dead(box, 1)
}

// A restored backup, say: what it holds is told of, and not gone on with.
func TestP2_WhatNobodyTouchedIsNotGoneOnWithByItself(t *testing.T) {
	for name, goOn := range map[string]func(*play, *mailbox.Box, *replica, chat.Conversation, chat.TurnID) error{
		"an operator resumes it": func(_ *play, box *mailbox.Box, _ *replica, c chat.Conversation, turn chat.TurnID) error {
			return box.Resume(context.Background(), c, turn)
		},
		"its actor writes again": func(p *play, _ *mailbox.Box, r *replica, _ chat.Conversation, _ chat.TurnID) error {
			p.wants(p.deliver(r, p.says(alice, "are you there?")), chat.JoinParked)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t)
			p.opts.Untouched = 50 * time.Millisecond
			box, _ := p.store()
			m := p.says(alice, "one")
			p.waits(box, m)
			<-time.After(100 * time.Millisecond)
			r := p.replica(nil)
			if ids := p.told(alice, "left lying"); len(ids) != 1 {
				t.Errorf("told by %v", ids)
			}
			p.noRun()
			work, _, err := box.Survey(t.Context(), false)
			if err != nil || len(work) != 1 || work[0].State != "parked" || !work[0].Untouched || work[0].Actor != alice {
				t.Fatalf("listed: %+v %v", work, err)
			}
			if err := goOn(p, box, r, m.Conversation, work[0].Turn); err != nil {
				t.Fatal(err)
			}
			run := p.run()
			if run.turn.ID != work[0].Turn {
				t.Errorf("turn %s runs, want %s", run.turn.ID, work[0].Turn)
			}
			run.answers(t, "done")
			if err := box.Resume(t.Context(), m.Conversation, run.turn.ID); !errors.Is(err, mailbox.ErrNotUntouched) {
				t.Errorf("resumed again: %v", err)
			}
		})
	}
}

// An operator ends a turn under its worker: what that one writes is refused,
// its actor is told, and the next turn starts.
func TestP5_AnOperatorEndsARunningTurn(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	box, _ := p.store()
	r := p.replica(nil)
	o := p.deliver(r, p.says(alice, "one"))
	run := p.run()
	p.wants(p.deliver(r, p.says(bob, "two")), chat.Wait)
	if err := box.Abandon(t.Context(), o.Message.Conversation, o.Turn); err != nil {
		t.Fatal(err)
	}
	if err := run.ended(t); err == nil {
		t.Error("the worker was not told")
	}
	if _, err := run.log.Boundary(context.Background(), chat.Entry{Role: chat.ToolRole}); err == nil {
		t.Error("the worker still writes")
	}
	p.told(alice, "has ended the work")
	next := p.run()
	if next.turn.Actor != bob {
		t.Errorf("%s's turn runs", next.turn.Actor.Key())
	}
	next.answers(t, "done")
	if err := box.Abandon(t.Context(), o.Message.Conversation, o.Turn); !errors.Is(err, mailbox.ErrNotOpen) {
		t.Errorf("ended again: %v", err)
	}
}

// What no lease finds is found by the sweep.
func TestP4_TheSweepFindsWhatNoIndexNames(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.opts.LeaseTTL, p.opts.LeaseMargin = 200*time.Millisecond, 50*time.Millisecond
	box, rdb := p.store()
	p.waits(box, p.says(alice, "one"))
	keys, err := rdb.Keys(t.Context(), p.prefix+":*:leases").Result()
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	rdb.Del(t.Context(), keys[0])
	p.replica(func(o *runtime.Options) {
		o.SweepEvery, o.RenewEvery = 100*time.Millisecond, 50*time.Millisecond
	})
	p.run().answers(t, "done")
}
