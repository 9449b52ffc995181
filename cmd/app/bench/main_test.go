// Package bench measures Reeve beside a bot of sixty lines that promises
// nothing, over loopback, with a real redis-server that syncs every write, the
// Slack simulator and a model that answers at once. Bots run in processes of
// their own. `make bench` prints the table.
package bench

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/pprof"
	"testing"
	"time"

	"reeve/cmd/app"
	"reeve/plugins"
	"reeve/plugins/clock"
)

// A process of this binary with one of these roles is a bot, and no benchmark.
const (
	roleVariable = "BENCH_ROLE"
	roleReeve    = "reeve"
	roleNaive    = "naive"
	// profileVariable names a folder into which each bot writes its profiles.
	profileVariable = "BENCH_PROFILE"
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		code := m.Run()
		results.print(os.Stdout)
		os.Exit(code)
	case roleReeve:
		os.Exit(profiled(role, reeve))
	case roleNaive:
		os.Exit(profiled(role, naive))
	default:
		fmt.Fprintf(os.Stderr, "%s is %q\n", roleVariable, role)
		os.Exit(app.ExitUsage)
	}
}

// reeve is the shipped command, but for the pace of its posts: the benchmark
// posts more into a channel than Slack would take.
func reeve() int {
	return app.Main([]string{"run"}, []plugins.Plugin{clock.New(time.Now)}, app.Options{PostRate: 1e6, PostBurst: 1e6})
}

// profiled runs a bot, and writes what it did where that is asked for.
func profiled(role string, run func() int) int {
	dir := os.Getenv(profileVariable)
	if dir == "" {
		return run()
	}
	goruntime.SetMutexProfileFraction(10)
	goruntime.SetBlockProfileRate(100_000) // ns
	name := filepath.Join(dir, fmt.Sprintf("%s.%d.", role, os.Getpid()))
	file, err := os.Create(name + "cpu")
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return app.ExitError
	}
	code := run()
	pprof.StopCPUProfile()
	for _, kind := range []string{"allocs", "mutex", "block"} {
		if out, err := os.Create(name + kind); err == nil {
			_ = pprof.Lookup(kind).WriteTo(out, 0)
			_ = out.Close()
		}
	}
	return code
}
