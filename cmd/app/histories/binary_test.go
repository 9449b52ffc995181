package histories

import (
	"fmt"
	"maps"
	"slices"
	"sync"
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
	var mu sync.Mutex
	seen := map[string]int{}
	t.Cleanup(func() { // when all streets have ended
		var table string
		for _, what := range slices.Sorted(maps.Keys(seen)) {
			table += fmt.Sprintf("%8d %s\n", seen[what], what)
		}
		t.Logf("seen:\n%s", table)
		for _, what := range []string{"turn done", "call made by a rule", "call made by a click", "click of another", "conflict", "worker lost"} {
			if n >= 200 && seen[what] == 0 && !t.Failed() {
				t.Errorf("no history has %s", what)
			}
		}
	})
	for i, set := range streets[:min(n, len(streets))] {
		t.Run(set.name(), func(t *testing.T) {
			t.Parallel()
			s, counts := newStreet(t, set), map[string]int{}
			for at := i; at < n; at += len(streets) {
				seed := first + uint64(at)
				if problem := s.play(seed, counts); problem != "" {
					t.Logf("what was said and posted:\n%s", s.tell())
					t.Fatalf("history %d, -seed=%d -binary=%d: %s", at, first, n, problem)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for what, n := range counts {
				seen[what] += n
			}
		})
	}
}
