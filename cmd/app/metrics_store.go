package app

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"reeve/runtime/mailbox"
)

// gaugesKept is for how long gauges of the store are shown again before they
// are read again: scrapes of several monitors, or of an eager one, cost the
// store one round trip each so long.
const gaugesKept = 5 * time.Second

// gaugesTimeout bounds one read of the store for a scrape.
const gaugesTimeout = 2 * time.Second

// stored are the gauges over all conversations, which every replica shows
// alike.
var stored = []struct {
	name, help string
	states     bool // one for each of states
}{
	{"reeve_work", "What there is in the store, by state: waiting (messages, and turns that wait for a worker), running and parked (turns), unsent (parts), tasks (of plugins, after a turn).", true},
	{"reeve_work_oldest_seconds", "For how long the oldest of them has been there.", true},
	{"reeve_dead_records", "Records that were set aside; reeve dead lists them.", false},
	{"reeve_store_up", "1 when the store answered when it was asked last, for this scrape or at most five seconds before; 0 when it did not, and then the other gauges of the store are missing. Missing itself while the process still starts.", false},
}

// storeGauges reads the store when it is asked.
type storeGauges struct {
	metrics *metrics

	mu   sync.Mutex
	at   time.Time
	last mailbox.Gauges
	err  error
}

func descOf(i int) *prometheus.Desc {
	var labels []string
	if stored[i].states {
		labels = []string{"state"}
	}
	return prometheus.NewDesc(stored[i].name, stored[i].help, labels, nil)
}

// Describe implements prometheus.Collector.
func (s *storeGauges) Describe(to chan<- *prometheus.Desc) {
	for i := range stored {
		to <- descOf(i)
	}
}

// Collect implements prometheus.Collector.
func (s *storeGauges) Collect(to chan<- prometheus.Metric) {
	box := s.metrics.box()
	if box == nil {
		return // the process still starts
	}
	show := func(i int, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(descOf(i), prometheus.GaugeValue, value, labels...)
	}
	g, err := s.read(box)
	if err != nil {
		show(3, 0)
		return
	}
	for state, of := range map[string]mailbox.Gauge{"waiting": g.Waiting, "running": g.Running, "parked": g.Parked, "unsent": g.Unsent, "tasks": g.Tasks} {
		show(0, float64(of.N), state)
		show(1, of.Oldest.Seconds(), state)
	}
	show(2, float64(g.Dead))
	show(3, 1)
}

// read asks the store, or says what it said a moment ago.
func (s *storeGauges) read(box *mailbox.Box) (mailbox.Gauges, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at.IsZero() && time.Since(s.at) < gaugesKept {
		return s.last, s.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), gaugesTimeout)
	defer cancel()
	s.last, s.err = box.Gauges(ctx)
	s.at = time.Now()
	return s.last, s.err
}
