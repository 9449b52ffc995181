package histories

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/cmd/app/apptest"
	"reeve/plugins"
)

var (
	count = flag.Int("histories", 5000, "how many histories are played")
	trace = flag.Bool("trace", false, "print what is done, one act a line")
	wired = flag.Int("binary", 12, "how many histories are played through the binary and Redis")
	seed  = flag.Uint64("seed", 1, "the seed of the first; each later one has the next; 0: the time")
)

func TestMain(m *testing.M) { apptest.Main(m, []plugins.Plugin{desk{}}) }

// No call spends anybody's rights but those of its turn's actor, by a rule of the
// table or by his click for that very call; and nothing is lost or stuck on the
// way.
func TestS1_Histories(t *testing.T) {
	first := firstSeed()
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // the store makes much that lives briefly
	n := *count
	if testing.Short() {
		n = min(n, 500)
	}
	t.Logf("%d histories from -seed=%d", n, first)
	var next atomic.Uint64
	var mu sync.Mutex
	seen, failed := map[string]int{}, 0
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		l := newLane(t)
		group.Go(func() {
			for {
				i := next.Add(1) - 1
				mu.Lock()
				over := i >= uint64(n) || failed > 0
				mu.Unlock()
				if over {
					return
				}
				problem, counts := play(l, first+i)
				mu.Lock()
				for what, n := range counts {
					seen[what] += n
				}
				if problem != "" {
					failed++
					t.Errorf("history %d, -seed=%d -histories=1: %s", i, first+i, problem)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	var table string
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		table += fmt.Sprintf("%8d %s\n", seen[what], what)
	}
	t.Logf("seen:\n%s", table)
	if n >= 5000 {
		for _, what := range wanted {
			if seen[what] == 0 && failed == 0 {
				t.Errorf("no history has %s", what)
			}
		}
	}
}

func firstSeed() uint64 {
	if *seed == 0 {
		return uint64(time.Now().UnixNano())
	}
	return *seed
}

// play plays one history, and says what was wrong with it.
func play(l *lane, seed uint64) (problem string, counts map[string]int) {
	trips := l.box.Trips()
	d := newDice(seed)
	h := newHouse(l, d)
	run(h, d)
	h.finish()
	counts = map[string]int{}
	counts["steps of the store"] = int(l.box.Trips() - trips)
	newOracle(h, counts).check()
	return h.problem, counts
}

// wanted is what all histories together must have seen, so that none of the
// promises holds for want of a chance to be broken.
var wanted = []string{
	"call made by a rule", "call made by a click", "call of an account", "click that counts", "click of another", "click on an old card",
	"card expired", "turn stopped", "turn abandoned", "turn done", "worker lost", "message handed back", "conflict", "provider remembered", "host remembered",
}
