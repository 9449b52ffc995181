package memory

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

// trips counts round trips.
type trips struct{ n atomic.Int64 }

func (c *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (c *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmds)
	}
}

// BenchmarkRecall prints how much of what was asked for is found among the
// first five, and what a turn's sections cost as a team's memories grow.
func BenchmarkRecall(b *testing.B) {
	memories, questions := labelled(b)
	words, _ := recallAt(5, questions, func(q string) []Memory { return rank(q, memories) })
	fmt.Printf("recall@5 by words, %d memories, %d questions: %.2f\n", len(memories), len(questions), words)
	both := wired(b, &concepts{})
	meaning, _ := recallAt(5, questions, func(q string) []Memory { return both.rank(b.Context(), q, memories) })
	fmt.Printf("recall@5 by words and embeddings at the wire, of a made-up model that knows three concepts: %.2f\n", meaning)

	space := redistest.Shared(b)
	client, count := space.Client(), &trips{}
	client.AddHook(count)
	store := NewStore(client, space.Prefix(), true)
	var before time.Duration
	for _, owners := range []int{1, 100} {
		for i := range owners {
			if _, err := store.Add(b.Context(), Owner{Person: chat.Person("T1", chat.UserID(fmt.Sprintf("U%d", i)))}, noon, distinct(memories)...); err != nil {
				b.Fatal(err)
			}
		}
		took, asked := sections(b, store, count)
		fmt.Printf("sections of a turn, %d memories in the team: %v, %d round trips", owners*len(memories), took, asked)
		if before > 0 {
			fmt.Printf(" (%.2fx)", float64(took)/float64(before))
		}
		fmt.Println()
		before = took
	}
	b.ReportMetric(words, "recall@5")
}

// distinct keeps topics apart that a book would take for one.
func distinct(memories []Memory) []Memory {
	list := slices.Clone(memories)
	for i := range list {
		list[i].Topic += fmt.Sprintf(" %d%d%d", i, i, i)
	}
	return list
}

// sections is what the sections of one turn take, at the median, and how often
// they ask the store.
func sections(b *testing.B, store *Store, count *trips) (time.Duration, int64) {
	plugin := New()
	plugin.Use(Options{Store: store, Model: &model{}})
	x, err := plugin.Open(b.Context(), plugins.Services{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon }})
	if err != nil {
		b.Fatal(err)
	}
	run := turnOf(chat.Person("T1", "U0")).asks("How do I deploy the ledger service?").Run
	var took []time.Duration
	var start int64
	const rounds, warm = 200, 50
	for round := range warm + rounds {
		if round == warm {
			took, start = nil, count.n.Load()
		}
		begin := time.Now()
		for _, s := range x.Sections {
			if _, err := s.Render(b.Context(), plugins.Call{Run: run}); err != nil {
				b.Fatal(err)
			}
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2], (count.n.Load() - start) / rounds
}
