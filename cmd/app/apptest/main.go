// Package apptest starts all of Reeve for tests: the shipped binary, or the
// test binary as a main of its own with shorter intervals, in processes that
// can be killed and frozen, beside a simulated Slack and a scripted model
// provider.
//
// A package that uses it has a TestMain that calls Main.
package apptest

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"reeve/cmd/app"
	"reeve/plugins"
	"reeve/runtime/mailbox/redistest"
)

// intervalsVariable makes a test binary another main: Reeve with the intervals
// that it names.
const intervalsVariable = "APPTEST_INTERVALS"

// Intervals are the options that tests change; see app.Options. Durations are
// in nanoseconds on their way to the process.
type Intervals struct {
	LeaseTTL, LeaseMargin, RenewEvery  time.Duration
	RetryEvery, StampEvery, GapAfter   time.Duration
	SweepEvery, Untouched              time.Duration
	ModelIdle, ModelAttempt, ModelWait time.Duration
	ModelWaits                         []time.Duration
	PostRate, ReadRate                 float64 // calls a second
}

// Tenth is a tenth of the shipped intervals: a lost worker's turn is taken over
// within 1.2 s.
var Tenth = Intervals{
	LeaseTTL: time.Second, LeaseMargin: 200 * time.Millisecond, RenewEvery: 300 * time.Millisecond,
	RetryEvery: 100 * time.Millisecond, StampEvery: 200 * time.Millisecond, GapAfter: 500 * time.Millisecond,
	SweepEvery: 6 * time.Second,
}

// Fast is Tenth, and posts and reads without a pause.
var Fast = func() Intervals {
	i := Tenth
	i.PostRate, i.ReadRate = 1000, 1000
	return i
}()

func (i Intervals) options() app.Options {
	return app.Options{
		LeaseTTL: i.LeaseTTL, LeaseMargin: i.LeaseMargin, RenewEvery: i.RenewEvery,
		RetryEvery: i.RetryEvery, StampEvery: i.StampEvery, GapAfter: i.GapAfter, SweepEvery: i.SweepEvery, Untouched: i.Untouched,
		ModelIdle: i.ModelIdle, ModelAttempt: i.ModelAttempt, ModelMaxWait: i.ModelWait, ModelWaits: i.ModelWaits,
		PostRate: rate.Limit(i.PostRate), ReadRate: rate.Limit(i.ReadRate),
	}
}

// Main is a package's TestMain. In a process that StartOther started it is
// Reeve, with these plugins; change may set further options of it.
func Main(m *testing.M, list []plugins.Plugin, change ...func(*app.Options)) {
	if text := os.Getenv(intervalsVariable); text != "" {
		os.Exit(otherMain(text, list, change))
	}
	redistest.Main(m)
}

// otherMain is a distribution of its own, as short as one may be.
func otherMain(text string, list []plugins.Plugin, change []func(*app.Options)) int {
	var set Intervals
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return app.ExitUsage
	}
	options := set.options()
	for _, f := range change {
		f(&options)
	}
	return app.Main(os.Args[1:], list, options)
}
