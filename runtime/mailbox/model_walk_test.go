package mailbox_test

import (
	"testing"
	"time"

	"reeve/runtime/mailbox"
)

// TestMemoryAgrees walks through the model at random, and makes each call on the
// embedded store too: the model checker's store must not be kinder than that.
func TestMemoryAgrees(t *testing.T) {
	t.Parallel()
	order, seed := seeded()
	all := scenes()
	for range 20 {
		x, err := newExplorer(all[order.IntN(len(all))])
		if err != nil {
			t.Fatal(err)
		}
		embedded, err := mailbox.Open(mailbox.Options{LeaseTTL: modelTTL * time.Millisecond, CallTimeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		n := x.begin()
		embedded.SendElsewhere(modelPlace)
		for range 20 {
			events := x.events(n, x.view(&n.store))
			if len(events) == 0 {
				break
			}
			e := events[order.IntN(len(events))]
			next, err := x.step(n, e)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, x.story(n, e))
			}
			if next.past != n.past {
				if err := x.bench.Agrees(embedded); err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, x.story(n, e))
				}
			}
			n = next
		}
		x.bench.Close()
		_ = embedded.Shutdown()
	}
}
