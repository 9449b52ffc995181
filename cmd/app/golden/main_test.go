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
	"testing"
	"time"

	"reeve/cmd/app/apptest"
	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

func TestMain(m *testing.M) { apptest.Main(m, []plugins.Plugin{clock.New(time.Now)}) }

// newPlace makes a place without a replica. settings are NAME=VALUE.
func newPlace(t testing.TB, world *simulator.World, settings ...string) *apptest.Place {
	t.Helper()
	return apptest.NewPlace(t, simulator.Options{World: world, RetryScale: 0.01}, redistest.Shared(t), settings...)
}
