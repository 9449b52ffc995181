// Package chaos kills, freezes and restarts what Reeve stands on while people
// speak, and then asks Slack and the model provider, which saw everything,
// whether a promise was broken: nothing acknowledged may be lost, nothing said
// twice, and no conversation may stand still.
//
//	go test ./cmd/app/chaos -run Rounds -rounds 40 -seed 7
//
// repeats a run as far as the machine lets it: the seed decides what is said
// and what is broken, and not how quick anything is.
package chaos

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"reeve/cmd/app"
	"reeve/cmd/app/apptest"
	"reeve/plugins"
)

var (
	rounds = flag.Int("rounds", 40, "how often TestRounds breaks something")
	seed   = flag.Uint64("seed", 0, "what TestRounds throws its dice with; 0: the time")
	every  = flag.Bool("every", false, "cut the append-only file at every offset, not only at some")
)

// Variables of the processes that the tests start.
const (
	effectsVariable = "CHAOS_EFFECTS" // the address at which tools take effect
	breakVariable   = "CHAOS_BREAK"   // POINT:N:SIGNAL, what becomes of the process
)

func TestMain(m *testing.M) {
	list := []plugins.Plugin{effects{os.Getenv(effectsVariable)}}
	apptest.Main(m, list, func(o *app.Options) { o.At = breaks(os.Getenv(breakVariable)) })
}

// breaks is what lets a process send itself a signal when it passes a point for
// the n-th time.
func breaks(at string) func(string) {
	parts := strings.Split(at, ":")
	if len(parts) != 3 {
		return nil
	}
	n, _ := strconv.ParseInt(parts[1], 10, 64)
	signal := map[string]syscall.Signal{"kill": syscall.SIGKILL, "stop": syscall.SIGSTOP}[parts[2]]
	var passed atomic.Int64
	return func(point string) {
		if point == parts[0] && passed.Add(1) == n {
			sendSelf(signal)
		}
	}
}

// breakAt is a setting that breaks the process it is given to.
func breakAt(point string, n int, signal string) string {
	return breakVariable + "=" + point + ":" + strconv.Itoa(n) + ":" + signal
}
