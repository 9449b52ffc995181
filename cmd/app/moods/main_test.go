// Package moods shows with real processes, real redis-servers and a simulated
// Slack what becomes of messages while Redis, or the way to it, is in a bad
// mood, behind each kind of address, and in a failover.
package moods

import (
	"testing"
	"time"

	"reeve/cmd/app"
	"reeve/cmd/app/apptest"
	"reeve/plugins"
	"reeve/plugins/clock"
)

func TestMain(m *testing.M) {
	apptest.Main(m, []plugins.Plugin{clock.New(time.Now)}, func(o *app.Options) { o.DurabilityEvery = 2 * time.Second })
}

// shorter are intervals in which a turn whose claim got lost goes on soon.
var shorter = apptest.Intervals{
	LeaseTTL: 3 * time.Second, LeaseMargin: 600 * time.Millisecond, RenewEvery: time.Second, PostRate: 1000,
}
