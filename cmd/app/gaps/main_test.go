package gaps

import (
	"testing"
	"time"

	"reeve/cmd/app/apptest"
	"reeve/plugins"
	"reeve/plugins/clock"
)

func TestMain(m *testing.M) { apptest.Main(m, []plugins.Plugin{clock.New(time.Now)}) }

// gapAfter is how long nobody must be able to acknowledge in these tests.
const gapAfter = 1500 * time.Millisecond

// quickly are intervals that let a gap open, and a lost reader be seen, soon.
var quickly = apptest.Intervals{
	LeaseTTL: 2 * time.Second, LeaseMargin: 400 * time.Millisecond, RenewEvery: 500 * time.Millisecond,
	RetryEvery: 100 * time.Millisecond, StampEvery: 100 * time.Millisecond, GapAfter: gapAfter, ReadRate: 1000,
}
