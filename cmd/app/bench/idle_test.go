package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/cmd/app/apptest/shipped"
	"reeve/slackapp/simulator"
)

// idleFor is how long the bots are watched doing nothing.
const idleFor = 20 * time.Second

func idle(b *testing.B) {
	server := newRedis(b)
	naive, reeve, model := newWorkspace(b), newWorkspace(b), newProvider(b)
	p := place{slack: naive.Server, model: model, redis: server.URL(), prefix: "reeve"}
	var startNaive, startReeve times
	var bots [2]*bot
	for range 7 {
		for i, w := range []*workspace{naive, reeve} {
			if bots[i] != nil {
				bots[i].stop()
			}
			p.slack = w.Server
			ctx, cancel := patience()
			if err := w.WaitUntil(ctx, func() bool { return w.Sockets() == 0 }); err != nil {
				b.Fatal(err)
			}
			cancel()
			mark := w.Mark()
			if i == 0 {
				bots[i] = startRole(b, roleNaive, p)
				startNaive = append(startNaive, connected(b, w, mark).Sub(bots[i].started))
			} else {
				bots[i] = startBot(b, "shipped", p, 2, []string{shipped.Binary(b), "run"})
				startReeve = append(startReeve, connected(b, w, mark).Sub(bots[i].started))
			}
		}
	}
	naive.ask()
	reeve.askMany(5, 1)
	client := server.Client()
	<-time.After(3 * time.Second) // the receipts of the above are out
	before, trips := [2]time.Duration{bots[0].cpu(), bots[1].cpu()}, roundTrips(b, client)
	commands := commandsOf(b, client)
	<-time.After(idleFor)
	var share, mb [2]float64
	for i, o := range bots {
		share[i] = 100 * (o.cpu() - before[i]).Seconds() / idleFor.Seconds()
		mb[i] = o.resident()
	}
	// The two questions in between were our own.
	perSecond := float64(roundTrips(b, client)-trips-2) / idleFor.Seconds()
	const goalMB, goalShare, goalTrips, goalStart = 25, 0.5, 1, 100 * time.Millisecond
	results.add(row{what: "start -> connected, naive bot", got: ms(startNaive.median())})
	results.add(row{
		what: "start -> connected, Reeve", goal: "< 100 ms", got: ms(startReeve.median()),
		ratio: multiple(ratio(startReeve.median(), startNaive.median())), met: judged(startReeve.median() < goalStart),
	})
	results.add(row{what: "idle, naive bot: resident, share of a core", got: fmt.Sprintf("%.1f MB, %.2f%%", mb[0], share[0])})
	results.add(row{
		what: "idle, Reeve: resident", goal: "< 25 MB", got: fmt.Sprintf("%.1f MB", mb[1]),
		ratio: multiple(mb[1] / mb[0]), met: judged(mb[1] < goalMB),
	})
	results.add(row{
		what: "idle, Reeve: share of a core", goal: "< 0.5%", got: fmt.Sprintf("%.2f%%", share[1]), met: judged(share[1] < goalShare),
	})
	results.add(row{
		what: "idle, Reeve: Redis round trips a second (" + commands(b) + ")", goal: "<= 1",
		got: fmt.Sprintf("%.2f", perSecond), met: judged(perSecond <= goalTrips),
	})
}

// connected is when the first socket after a mark stood.
func connected(b *testing.B, w *workspace, mark int64) time.Time {
	b.Helper()
	e, err := w.WaitAfter(context.Background(), mark, simulator.OfKind(simulator.Connected))
	if err != nil {
		b.Fatal(err)
	}
	return e.Time
}

// roundTrips is how often the server has read from a client: once for a
// pipeline, however many commands stand in it.
func roundTrips(b *testing.B, client *redis.Client) int {
	b.Helper()
	info, err := client.Info(context.Background(), "stats").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, "total_reads_processed:"); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(value))
			return n
		}
	}
	b.Fatal("redis does not count what it reads")
	return 0
}

// commandsOf counts commands from now on; the answer says which they were.
func commandsOf(b *testing.B, client *redis.Client) func(*testing.B) string {
	count := func(b *testing.B) map[string]int {
		info, err := client.Info(context.Background(), "commandstats").Result()
		if err != nil {
			b.Fatal(err)
		}
		calls := map[string]int{}
		for line := range strings.Lines(info) {
			name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
			if n, _, _ := strings.Cut(rest, ","); ok && name != "info" {
				calls[name], _ = strconv.Atoi(n)
			}
		}
		return calls
	}
	before := count(b)
	return func(b *testing.B) string {
		var parts []string
		for name, n := range count(b) {
			if more := n - before[name]; more > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", more, name))
			}
		}
		slices.Sort(parts)
		return strings.Join(parts, ", ")
	}
}
