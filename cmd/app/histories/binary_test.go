package histories

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"reeve/plugins/gate"
	"reeve/runtime"
)

// streets are the settings under which processes play.
var streets = []rules{
	{runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone}, gate.Policy{}},
	{runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeSteer, Stop: runtime.StopByActor}, gate.Policy{WriteConsent: gate.ConsentConflict}},
	{runtime.Policy{SameActor: runtime.ModeFollowUp, CrossActor: runtime.ModeSteer, Stop: runtime.StopByAnyone}, gate.Policy{WriteConsent: gate.ConsentAlways}},
	{runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone}, gate.Policy{MultiActorWrites: gate.BlockWrites}},
}

// The same holds of the binary with a real Redis, whose processes are killed on
// the way: the same dice, and the same oracle over what Slack, the model, the
// tools and the store have seen.
func TestS1_BinaryHistories(t *testing.T) {
	first, n := firstSeed(), *wired
	t.Logf("%d histories from -seed=%d", n, first)
	for i, set := range streets {
		t.Run(set.name(), func(t *testing.T) {
			t.Parallel()
			var s *street
			seen := map[string]int{}
			for at := i; at < n; at += len(streets) {
				if s == nil {
					s = newStreet(t, set)
				}
				seed := first + uint64(at)
				if problem := s.play(seed, seen); problem != "" {
					t.Logf("what was said and posted:\n%s", s.tell())
					t.Fatalf("history %d, -seed=%d: %s", at, seed, problem)
				}
			}
			var table string
			for _, what := range slices.Sorted(maps.Keys(seen)) {
				table += fmt.Sprintf("%8d %s\n", seen[what], what)
			}
			t.Logf("seen:\n%s", table)
			// Nothing is promised by a world in which nothing happens.
			for _, what := range []string{"turn done", "call made by a rule"} {
				if s != nil && seen[what] == 0 && n >= 12 {
					t.Errorf("no history has %s", what)
				}
			}
		})
	}
}
