package mailbox

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Gauge is how many there are of something, and for how long the oldest has
// been.
type Gauge struct {
	N      int
	Oldest time.Duration
}

// Gauges are what there is in the whole store, of all replicas' conversations.
type Gauges struct {
	// Waiting are messages that wait for a turn, and turns that wait for a
	// worker; Running and Parked are open turns; Unsent are parts.
	Waiting, Running, Parked, Unsent Gauge
	// Tasks are those of ended turns that are to be run.
	Tasks Gauge
	// Dead are records that were set aside.
	Dead int
}

// Gauges reads the lists of every shard, in one round trip whose size does not
// depend on how much there is.
func (b *Box) Gauges(ctx context.Context) (Gauges, error) {
	ctx, cancel := context.WithTimeout(ctx, b.opts.CallTimeout)
	defer cancel()
	var g Gauges
	lists := []struct {
		name string
		to   *Gauge
	}{{"waiting", &g.Waiting}, {"running", &g.Running}, {"parked", &g.Parked}, {"unsent", &g.Unsent}, {"tasks", &g.Tasks}}
	var clock *redis.TimeCmd
	var counts []*redis.IntCmd
	var oldest []*redis.ZSliceCmd
	dead := make([]*redis.IntCmd, shards)
	_, err := b.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		for n := range shards {
			for _, list := range lists {
				counts = append(counts, p.ZCard(ctx, b.keys.shard(n)+list.name))
				oldest = append(oldest, p.ZRangeWithScores(ctx, b.keys.shard(n)+list.name, 0, 0))
			}
			dead[n] = p.LLen(ctx, b.keys.shard(n)+"dead")
		}
		return nil
	})
	if err != nil {
		return Gauges{}, fmt.Errorf("read the gauges: %w", err)
	}
	now := clock.Val().UnixMilli()
	for i, count := range counts {
		to := lists[i%len(lists)].to
		to.N += int(count.Val())
		for _, z := range oldest[i].Val() {
			to.Oldest = max(to.Oldest, time.Duration(now-int64(z.Score))*time.Millisecond)
		}
	}
	for _, n := range dead {
		g.Dead += int(n.Val())
	}
	return g, nil
}
