package app

import (
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reeve/agent"
	"reeve/memory"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
)

const (
	metricsBegin = "<!-- The table up to the end mark is made from cmd/app/metrics.go: go test ./cmd/app -update -->\n"
	metricsEnd   = "<!-- end of the table -->\n"
)

// The table of metrics for operators is made from the code that shows them.
func TestOperatingPageListsTheMetrics(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), metricsBegin)
	_, after, ends := strings.Cut(rest, metricsEnd)
	if !begins || !ends {
		t.Fatal("docs/operating.md has lost the marks around its table of metrics")
	}
	var b strings.Builder
	b.WriteString("\n| metric | kind | of | meaning |\n|---|---|---|---|\n")
	row := func(name, label, kind, of, help string) {
		if label != "" {
			name += "{" + label + "}"
		}
		b.WriteString("| `" + name + "` | " + kind + " | " + of + " | " + help + " |\n")
	}
	for _, s := range stored {
		label := ""
		if s.states {
			label = "state"
		}
		row(s.name, label, "gauge", "the store", s.help)
	}
	for _, l := range local {
		kind := "gauge"
		if l.counter {
			kind = "counter"
		}
		row(l.name, "", kind, "the replica", l.help)
	}
	for _, c := range counted {
		row(c.name, c.label, "counter", "the replica", c.help)
	}
	row("reeve_build_info", "version,go", "gauge", "the replica", buildHelp)
	b.WriteString("\n")
	holds(t, "docs/operating.md", before+metricsBegin+b.String()+metricsEnd+after)
}

func scrape(t *testing.T, m *metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("status %d: %v\n%s", w.Code, err, text)
	}
	return string(text)
}

// Whatever a package tells of has its counter, and every counter is told of.
func TestEveryCountHasAMetric(t *testing.T) {
	m := newMetrics("v0")
	told := []string{
		runtime.CountMessages, runtime.CountEnded, runtime.CountResumed, mailbox.CountFollowUps, mailbox.CountStale, mailbox.CountMended,
		mailbox.CountAside, runtime.CountTasks, runtime.CountHandedBack, runtime.CountRouted, memory.CountMemories, mailbox.CountUntouched, slackapp.CountParts, slackapp.CountLooks, slackapp.CountLate, agent.CountModelCalls, agent.CountTokens,
	}
	if len(told) != len(counted) {
		t.Errorf("%d counts, %d counters", len(told), len(counted))
	}
	for _, c := range counted {
		label := ""
		if c.label != "" {
			label = "x"
		}
		m.Count(c.told, label, 3)
	}
	m.Count("nothing of ours", "", 1)
	var none *metrics
	none.Count(told[0], "", 1)
	text := scrape(t, m)
	for _, c := range counted {
		label := ""
		if c.label != "" {
			label = `{` + c.label + `="x"}`
		}
		if !strings.Contains(text, "\n"+c.name+label+" 3\n") {
			t.Errorf("%s is not shown as 3", c.name)
		}
	}
	if !regexp.MustCompile(`(?m)^reeve_build_info\{go="go.*",version="v0"\} 1$`).MatchString(text) {
		t.Error("the build is not shown")
	}
}

// A series that begins with its first event hides it from increase().
func TestEveryCounterBeginsAtZero(t *testing.T) {
	text := scrape(t, newMetrics("v0"))
	for _, c := range counted {
		if !regexp.MustCompile(`(?m)^` + c.name + `(\{[^}]+\})? 0$`).MatchString(text) {
			t.Errorf("%s is not shown before the first event", c.name)
		}
	}
}

// The counts of each package stand in one file, and each is in the list of the
// test above.
func TestEveryCountIsListed(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^\t(Count[A-Za-z]+) += "`)
	seen := 0
	for _, name := range []string{"runtime/counts.go", "runtime/mailbox/counts.go", "slackapp/counts.go", "agent/meter.go", "memory/counts.go"} {
		text := sources(t)[name]
		seen += len(declared.FindAll(text, -1))
	}
	if seen != len(counted) {
		t.Errorf("%d counts are declared, %d have a counter", seen, len(counted))
	}
}

func TestMetricsOfTheStore(t *testing.T) {
	m := newMetrics("v0")
	if text := scrape(t, m); strings.Contains(text, "reeve_store_up") {
		t.Error("a process that still starts has gauges of the store")
	}
	box, err := mailbox.Open(mailbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Shutdown()
	edge := slackapp.NewEdge(slackapp.EdgeOptions{})
	m.watch(watched{box: box, edge: edge, runtime: &runtime.Runtime{}, lag: func() float64 { return 7 }})
	_, errs := box.PutAll(t.Context(), []mailbox.Put{{
		Message: chat.Message{
			ID: chat.MessageID{Team: "T1", Channel: "C1", TS: "1700000000.000001"}, Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1700000000.000001"},
			Author: chat.Person("T1", "UALICE"), Addressed: true, Standing: chat.MayInstruct,
		},
		Row: chat.Row(strings.Repeat("s", chat.States)), Turn: "t_1", Claim: true,
	}})
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	text := scrape(t, m)
	for _, want := range []string{
		`reeve_work{state="running"} 1`, `reeve_work{state="waiting"} 0`, `reeve_work{state="parked"} 0`, `reeve_work{state="unsent"} 0`,
		`reeve_store_up 1`, `reeve_dead_records 0`, `reeve_read_back_lag_seconds 7`, `reeve_envelopes_unacknowledged 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("not shown: %s", want)
		}
	}
}

func TestMetricsAreServedBesideHealth(t *testing.T) {
	a := assembly{ready: newReadiness(), metrics: newMetrics("v0")}
	for path, want := range map[string]string{"/metrics": "reeve_build_info", "/healthz": "alive", "/readyz": "ready"} {
		w := httptest.NewRecorder()
		a.http().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
