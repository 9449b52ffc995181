package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// offers puts messages, each in a thread of its own, by a process without room.
func (p *play) offers(n int, place func(*chat.Message, int)) {
	p.t.Helper()
	box := p.beside()
	for i := range n {
		m := p.says(alice, fmt.Sprint(i))
		place(&m, i)
		m.Conversation.Root = m.ID.TS
		row := runtime.DecideRow(m, policy)
		if _, errs := box.PutAll(context.Background(), []mailbox.Put{{Message: m, Row: row, Turn: "t_none"}}); errs[0] != nil {
			p.t.Fatal(errs[0])
		}
	}
}

func sameChannel(*chat.Message, int) {}

// One look at the index is bounded; what it leaves does not wait for the next
// lease to end.
func TestP8_ABacklogIsTakenWithoutWaiting(t *testing.T) {
	p := newPlay(t)
	p.opts.LeaseTTL = time.Hour
	const n = 200
	p.offers(n, sameChannel)
	p.replica(nil)
	for range n {
		p.run().answers(t, "done")
	}
}

// Whoever waits longest comes first, in whatever shard.
func TestP8_ABacklogIsTakenInItsOrder(t *testing.T) {
	p := newPlay(t)
	client := redis.NewClient(must(redis.ParseURL(p.url)))
	defer client.Close()
	const n = 20
	millisecond := func() time.Time {
		return must(client.Time(context.Background()).Result()).Truncate(time.Millisecond)
	}
	p.offers(n, func(m *chat.Message, i int) {
		channel := chat.ChannelID("C" + strconv.Itoa(i))
		m.ID.Channel, m.Conversation.Channel = channel, channel
		for last := millisecond(); millisecond().Equal(last); { // offers are told apart by the millisecond
		}
	})
	p.replica(func(o *runtime.Options) { o.MaxRunning = 1 })
	var got, want []string
	for i := range n {
		run := p.run()
		got, want = append(got, run.turn.Own[0].Text), append(want, strconv.Itoa(i))
		run.answers(t, "done")
	}
	if !slices.Equal(got, want) {
		t.Errorf("they ran in the order %v", got)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A replica with one place that finds something due that it cannot have does
// not look for it again and again.
func TestP8_WhatCannotBeClaimedIsNotAskedForWithoutPause(t *testing.T) {
	p := newPlay(t)
	client := redis.NewClient(must(redis.ParseURL(p.url)))
	defer client.Close()
	p.offers(1, sameChannel)
	keys := must(client.Keys(context.Background(), p.prefix+":*leases").Result())
	if len(keys) != 1 {
		t.Fatalf("indexes: %v", keys)
	}
	c := chat.Conversation{Team: "T1", Channel: "C1", Root: "1600000000.000001"}
	client.ZAdd(context.Background(), keys[0], redis.Z{Score: 1, Member: "t|" + c.Key() + "|t_gone"})
	idle := p.replica(func(o *runtime.Options) { o.MaxRunning = 1 })
	p.run().answers(t, "done")
	before := idle.box.Trips()
	<-time.After(300 * time.Millisecond)
	if n := idle.box.Trips() - before; n > 20 {
		t.Errorf("%d calls within 300 ms", n)
	}
}
