package bench

import (
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// results are the rows of the table, in the order in which they were measured.
var results table

type table struct {
	mu   sync.Mutex
	rows []row
}

// row is one figure. A goal that is empty belongs to a yardstick.
type row struct {
	what, goal, got, ratio string
	met                    verdict
}

type verdict string

const (
	met    verdict = "met"
	missed verdict = "MISSED"
	none   verdict = "" // there is no goal
)

func judged(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

func (t *table) add(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
}

func (t *table) print(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s, %s/%s, %d cores. Loopback; redis-server with appendfsync always; Slack's simulator and a\n"+
		"model that answers at once. Caches are warm: each bot has answered before it is measured.\n"+
		"Machines are noisy: a ratio is the result, a time only an orientation.\n\n",
		goruntime.Version(), goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tgoal\tgot\tratio\t")
	fmt.Fprintln(w, "----\t----\t---\t-----\t")
	for _, r := range t.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.what, r.goal, r.got, r.ratio, r.met)
	}
	_ = w.Flush()
	fmt.Fprintln(out)
}

// times are measurements of one thing.
type times []time.Duration

// at is the value below which a share of the measurements lies.
func (t times) at(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func (t times) median() time.Duration { return t.at(0.5) }
func (t times) p99() time.Duration    { return t.at(0.99) }
func (t times) most() time.Duration   { return t.at(1) }

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

func ratio(got, yardstick time.Duration) float64 { return float64(got) / float64(yardstick) }

func multiple(r float64) string { return fmt.Sprintf("%.2fx", r) }

func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)/2]
}
