package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// growing is a mailbox that is filled.
type growing struct {
	b      *testing.B
	server *redistest.Server
	box    *mailbox.Box
	n      int64
}

func newGrowing(b *testing.B) *growing {
	server := newRedis(b)
	box, err := mailbox.Open(mailbox.Options{URL: server.URL(), Prefix: growPrefix})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = box.Shutdown() })
	return &growing{b: b, server: server, box: box}
}

const growPrefix = "grow"

func growth(b *testing.B) {
	few, many := newGrowing(b), newGrowing(b)
	few.fill(100)
	many.fill(1000)
	many.copies(99)
	compare("one message, 100 -> 100,000 conversations: put and close", 300, few.whole, many.whole)
	g := few
	compare("one steer, 10 -> 10,000 entries in its turn's log: put and commit", 300,
		g.steer(g.withLog(10)), g.steer(g.withLog(10_000)))
	d := g.desk()
	long := g.withTurns(5_000)
	compare("one message, 10 -> 10,000 entries in closed turns, 10 since the last summary: its whole turn", 100,
		d.another(func() chat.Message { return g.withTurns(5) }),
		d.another(func() chat.Message { return d.summarised(long, 4) }))
}

// compare takes a thing's measure n times while there is little and while
// there is much.
func compare(what string, n int, little, much func() time.Duration) {
	var before, after times
	for i := range n + 10 {
		b, a := little(), much()
		if i >= 10 { // warm
			before, after = append(before, b), append(after, a)
		}
	}
	r := ratio(after.median(), before.median())
	results.add(row{
		what: what, goal: "<= 1.2x", got: ms(before.median()) + " -> " + ms(after.median()), ratio: multiple(r), met: judged(r <= 1.2),
	})
}

// whole is a message in a new conversation, and its answer.
func (g *growing) whole() time.Duration {
	m := g.next()
	start := time.Now()
	g.end(g.start(m))
	return time.Since(start)
}

// running is a turn that runs.
type running struct {
	claimed *mailbox.Claimed
	ref     mailbox.Ref
	number  int64
}

func (g *growing) commit(r *running, take bool, entries ...[]byte) {
	r.number++
	if _, err := g.box.Commit(context.Background(), mailbox.Commit{
		Ref: r.ref, Number: r.number, Entries: entries, Answer: true, Take: take, Allowed: []chat.Actor{r.claimed.Actor},
	}); err != nil {
		g.b.Fatal(err)
	}
}

func (g *growing) withLog(entries int) *running {
	c := g.start(g.next())
	r := &running{c, mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token}, c.Commits}
	for left := entries; left > 0; left -= 250 {
		batch := make([][]byte, min(left, 250))
		for i := range batch {
			batch[i] = g.answer()
		}
		g.commit(r, false, batch...)
	}
	return r
}

// steer is a steer into a turn, and the boundary that takes it.
func (g *growing) steer(r *running) func() time.Duration {
	return func() time.Duration {
		m := g.next()
		m.ID.Channel, m.Conversation = r.claimed.Conversation.Channel, r.claimed.Conversation
		start := time.Now()
		g.put(m)
		g.commit(r, true, g.answer())
		return time.Since(start)
	}
}

// withTurns is the first message of a conversation with closed turns of two
// entries each.
func (g *growing) withTurns(n int) chat.Message {
	first := g.next()
	g.quickly(func() {
		for i := range n {
			m := first
			if i > 0 {
				m = g.next()
				m.ID.Channel, m.Conversation = first.ID.Channel, first.Conversation
			}
			g.end(g.start(m))
		}
	})
	return first
}

// next is a message at the top of a channel.
func (g *growing) next() chat.Message {
	g.n++
	id := chat.MessageID{Team: "T1", Channel: chat.ChannelID(channel(int(g.n))), TS: chat.TS(fmt.Sprintf("%010d.%06d", 1_700_000_000+g.n, 1))}
	return chat.Message{
		ID: id, Conversation: chat.Conversation{Team: id.Team, Channel: id.Channel, Root: id.TS}, Visibility: chat.Public,
		Author: chat.Person("T1", "UALICE"), Standing: chat.MayInstruct, Addressed: true, Text: "what is new?",
	}
}

func (g *growing) offer(m chat.Message) mailbox.Put {
	policy := runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone}
	return mailbox.Put{
		Message: m, Row: runtime.DecideRow(m, policy), Claim: true,
		Turn: chat.TurnID("t_" + string(m.ID.TS)), Setup: []byte(`{"tools":["current_time"]}`),
	}
}

func (g *growing) put(m chat.Message) mailbox.PutResult {
	got, errs := g.box.PutAll(context.Background(), []mailbox.Put{g.offer(m)})
	if errs[0] != nil {
		g.b.Fatal(errs[0])
	}
	return got[0]
}

func (g *growing) start(m chat.Message) *mailbox.Claimed {
	claimed := g.put(m).Claimed
	if claimed == nil {
		g.b.Fatalf("message %s started no turn", m.ID.TS)
	}
	return claimed
}

func (g *growing) answer() []byte {
	raw, _ := json.Marshal(chat.Entry{
		Role: chat.AssistantRole, Origin: chat.Answer, Text: "Here is what you asked for.", Posted: true, Time: time.Now(),
		Provenance: &chat.Provenance{Authority: chat.Context},
	})
	return raw
}

func (g *growing) end(c *mailbox.Claimed) {
	closing, err := g.box.Close(context.Background(), mailbox.Close{
		Ref:    mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token},
		Number: c.Commits + 1, Outcome: mailbox.Done, Entries: [][]byte{g.answer()}, Allowed: []chat.Actor{c.Actor},
	})
	if err != nil || !closing.Closed {
		g.b.Errorf("turn %s does not close: %v", c.Turn, err)
	}
}

// fill adds n conversations with an answered turn.
func (g *growing) fill(n int) {
	g.quickly(func() {
		var ending sync.WaitGroup
		claims := make(chan *mailbox.Claimed)
		for range 32 {
			ending.Go(func() {
				for c := range claims {
					g.end(c)
				}
			})
		}
		for n > 0 && !g.b.Failed() {
			puts := make([]mailbox.Put, min(n, 64))
			for i := range puts {
				puts[i] = g.offer(g.next())
			}
			n -= len(puts)
			results, errs := g.box.PutAll(context.Background(), puts)
			for i, r := range results {
				if errs[i] != nil || r.Claimed == nil {
					g.b.Errorf("put: %v", errs[i])
					break
				}
				claims <- r.Claimed
			}
		}
		close(claims)
		ending.Wait()
	})
}

// copies makes n copies of each conversation under other names, since to fill a
// store step by step takes minutes. Indexes stay as they are.
func (g *growing) copies(n int) {
	g.quickly(func() {
		ctx, client := context.Background(), g.server.Client()
		var keys []string
		for _, kind := range []string{"conv", "turn", "log", "msg", "closed"} {
			found, err := client.Keys(ctx, growPrefix+":*:"+kind+":*").Result()
			if err != nil || len(found) == 0 {
				g.b.Errorf("no keys of %s to copy: %v", kind, err)
			}
			keys = append(keys, found...)
		}
		for batch := range slices.Chunk(keys, 100) {
			if err := client.Eval(ctx, `for _, key in ipairs(KEYS) do
				for i = 1, tonumber(ARGV[1]) do redis.call('COPY', key, key .. 'x' .. i) end
			end
			return 1`, batch, n).Err(); err != nil {
				g.b.Errorf("copy: %v", err)
				return
			}
		}
	})
}

// quickly fills without waiting for the disk each time.
func (g *growing) quickly(f func()) {
	g.server.ConfigSet("appendfsync", "no")
	f()
	g.server.ConfigSet("appendfsync", "always")
	if g.b.Failed() {
		g.b.FailNow()
	}
}
