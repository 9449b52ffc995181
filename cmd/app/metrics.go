package app

import (
	"net/http"
	goruntime "runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"reeve/agent"
	"reeve/memory"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
)

// counted are the counters, by what packages tell of (the name that they pass
// to their Count). The table in docs/operating.md is made from it.
var counted = []struct{ told, name, label, help string }{
	{runtime.CountMessages, "reeve_messages_total", "disposition", "Messages by what became of them; duplicate is one that was known already."},
	{runtime.CountEnded, "reeve_turns_ended_total", "outcome", "Turns that this replica ended, by how. abandoned: it had lost all its workers."},
	{runtime.CountResumed, "reeve_turns_resumed_total", "", "Turns that this replica went on with: their worker was lost, they were handed over, or their wait had ended."},
	{mailbox.CountFollowUps, "reeve_steers_to_follow_ups_total", "", "Steers that their turn did not carry, and that became follow-ups."},
	{mailbox.CountStale, "reeve_stale_writes_total", "write", "Writes that were refused because another worker has the lease. A few after a lost worker are as it should be."},
	{mailbox.CountMended, "reeve_records_mended_total", "", "Derived state that was put right. Anything but 0 asks for a look at the log."},
	{mailbox.CountAside, "reeve_records_set_aside_total", "where", "Records that could not be processed; reeve dead lists them."},
	{runtime.CountTasks, "reeve_tasks_total", "result", "Tries of plugins' tasks after a turn: done, again (it failed, and is tried again after a pause), release (cut by the end of the process or of its lease; it does not count as a try) or aside (it failed for the last time)."},
	{runtime.CountHandedBack, "reeve_messages_handed_back_total", "", "Messages that a turn of somebody else's handed back to their author, as a request of his own."},
	{runtime.CountRouted, "reeve_messages_routed_total", "result", "Messages that were put to the router: steer_context or wait (it moved them there), unchanged, or skipped because too many were asked about."},
	{memory.CountMemories, "reeve_memories_total", "result", "What became of memories that were proposed: added, known, replaced (an older one of the same topic), full (there are too many), no_answer (the model did not answer in the form it was asked for), or spent (the person may use no more of the model today)."},
	{mailbox.CountUntouched, "reeve_turns_untouched_total", "", "Requests that nobody had touched for a day, parked and told of."},
	{slackapp.CountParts, "reeve_parts_total", "result", "Parts of answers that the sender has done with: posted, found (posted by a lost attempt), refused by Slack, late (too old) or moved (to a DM)."},
	{slackapp.CountLooks, "reeve_looks_total", "", "Looks into a thread before a part was posted again."},
	{slackapp.CountLate, "reeve_late_posts_total", "", "Posts that Slack, or a process that had been frozen, carried out after their attempt's deadline, as far as that is seen: one may stand there twice."},
	{agent.CountModelCalls, "reeve_model_calls_total", "outcome", "Model calls, by how they ended."},
	{agent.CountTokens, "reeve_tokens_total", "", "Tokens that model calls used, prompts and answers together."},
}

// labelled are the values that a counter's label is known to take.
var labelled = map[string][]string{
	runtime.CountMessages: words(chat.Start, chat.Wait, chat.SteerOwn, chat.SteerContext, chat.JoinParked, chat.EndWait, chat.Stop,
		chat.WithdrawOwn, chat.NothingRunning, chat.AsContext, chat.Refused, chat.Duplicate, chat.Ignored),
	runtime.CountEnded:   words(mailbox.Done, mailbox.Failed, mailbox.Stopped, mailbox.Withdrawn, mailbox.Abandoned),
	mailbox.CountStale:   {"renew", "commit", "close", "park", "sent", "hand_back", "task"},
	mailbox.CountAside:   {"log", "out", "task"},
	runtime.CountTasks:   words(mailbox.TaskDone, mailbox.TaskAgain, mailbox.TaskRelease, mailbox.TaskAside),
	memory.CountMemories: memory.Counted,
	runtime.CountRouted:  {"steer_context", "wait", "unchanged", "skipped"},
	slackapp.CountParts:  {"posted", "found", "refused", "late", "moved"},
	agent.CountModelCalls: append([]string{"answer", "calls", "canceled", "empty"}, words(agent.ModelRefused, agent.ModelUnreachable,
		agent.RetryTooLong, agent.StepsSpent, agent.TimeSpent, agent.TokensSpent, agent.DaySpent, agent.TooLong, agent.Internal)...),
}

func words[T ~string](values ...T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

// metric is a gauge, or a counter that somebody else keeps, and who knows it.
type metric struct {
	name, help string
	counter    bool
	ask        func(*watched) float64
}

// local are what this replica alone knows.
var local = []metric{
	{"reeve_envelopes_unacknowledged", "Envelopes of Slack's that this replica has taken and not acknowledged yet.", false, func(w *watched) float64 { return float64(w.edge.Stats().InFlight) }},
	{"reeve_envelopes_left_total", "Envelopes that were left to Slack's retries because too many were in flight.", true, func(w *watched) float64 { return float64(w.edge.Stats().Dropped) }},
	{"reeve_turns_here", "Turns that run in this replica.", false, func(w *watched) float64 { return float64(w.runtime.Running()) }},
	{"reeve_redis_round_trips_total", "Round trips of steps to Redis.", true, func(w *watched) float64 { return float64(w.box.Trips()) }},
	{"reeve_read_back_lag_seconds", "How far reading back is behind: the age of the gap that is not closed yet; 0 when none stands.", false, func(w *watched) float64 { return w.lag() }},
}

// watched are the parts of a running process that are asked at each scrape.
type watched struct {
	box     *mailbox.Box
	edge    *slackapp.Edge
	runtime *runtime.Runtime
	// lag is by how many seconds reading back is behind.
	lag func() float64
}

// metrics are what /metrics shows. Only this package knows what counts them:
// others are given Count.
type metrics struct {
	shown    *prometheus.Registry
	counters map[string]*prometheus.CounterVec

	mu      sync.Mutex
	watched *watched // nil until all parts stand
}

func newMetrics(version string) *metrics {
	m := &metrics{shown: prometheus.NewRegistry(), counters: map[string]*prometheus.CounterVec{}}
	for _, c := range counted {
		var labels []string
		if c.label != "" {
			labels = []string{c.label}
		}
		vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: c.name, Help: c.help}, labels)
		// Shown from the start, as 0: of a series that begins with its first event
		// no rate knows that there was one.
		if c.label == "" {
			vec.WithLabelValues()
		}
		for _, value := range labelled[c.told] {
			vec.WithLabelValues(value)
		}
		m.counters[c.told] = vec
		m.shown.MustRegister(vec)
	}
	for _, l := range local {
		opts := prometheus.Opts{Name: l.name, Help: l.help}
		ask := func() float64 {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.watched == nil {
				return 0
			}
			return l.ask(m.watched)
		}
		if l.counter {
			m.shown.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts(opts), ask))
		} else {
			m.shown.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts(opts), ask))
		}
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "reeve_build_info", Help: buildHelp}, []string{"version", "go"})
	build.WithLabelValues(version, goruntime.Version()).Set(1)
	m.shown.MustRegister(build, &storeGauges{metrics: m},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

const buildHelp = "1, with the version of this replica."

// Count counts what a package tells. It may be called on nil, which counts
// nothing.
func (m *metrics) Count(told, label string, n int) {
	if m == nil || n <= 0 {
		return
	}
	vec, ok := m.counters[told]
	switch {
	case !ok:
	case label == "":
		vec.WithLabelValues().Add(float64(n))
	default:
		vec.WithLabelValues(label).Add(float64(n))
	}
}

// watch lets each scrape ask the parts of a running process.
func (m *metrics) watch(w watched) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = &w
}

func (m *metrics) box() *mailbox.Box {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watched == nil {
		return nil
	}
	return m.watched.box
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.shown, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
