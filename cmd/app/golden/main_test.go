// Package golden holds what only the whole of Reeve can show: the built binary,
// a real redis-server, a simulated Slack and a scripted model provider, joined
// by their wires alone.
//
// The conversations under testdata are plays. Each says what people write in
// Slack and what the model answers, and its last section is what came of it:
// each message's fate, what the model was sent, and what stands in Slack.
//
//	go test ./cmd/app/golden -update
//
// rewrites those sections from what happens, and a reader of the difference
// sees what has changed for people.
package golden

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"reeve/cmd/app"
	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/runtime/mailbox/redistest"
)

// optionsVariable makes this test binary another main: Reeve with the intervals
// that it names.
const optionsVariable = "GOLDEN_OPTIONS"

// intervals are the options that the tests change, in nanoseconds.
type intervals struct {
	LeaseTTL, LeaseMargin, RenewEvery  time.Duration
	ModelIdle, ModelAttempt, ModelWait time.Duration
	ModelWaits                         []time.Duration
}

func TestMain(m *testing.M) {
	if text := os.Getenv(optionsVariable); text != "" {
		os.Exit(otherMain(text))
	}
	redistest.Main(m, goleak.Cleanup(func(code int) {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
		os.Exit(code)
	}))
}

// otherMain is a distribution of its own, as short as one may be.
func otherMain(text string) int {
	var set intervals
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return app.ExitUsage
	}
	return app.Main(os.Args[1:], []plugins.Plugin{clock.New(time.Now)}, app.Options{
		LeaseTTL: set.LeaseTTL, LeaseMargin: set.LeaseMargin, RenewEvery: set.RenewEvery,
		ModelIdle: set.ModelIdle, ModelAttempt: set.ModelAttempt, ModelMaxWait: set.ModelWait, ModelWaits: set.ModelWaits,
	})
}

// built is the shipped binary, built once for the whole package.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// shipped is the path of the binary that people run.
func shipped(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "golden"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", filepath.Join(built.dir, "reeve"), "reeve/cmd/reeve")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build reeve: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "reeve")
}
