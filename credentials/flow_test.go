package credentials

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestAFlowIsTakenOnce(t *testing.T) {
	k := newKit(t)
	f, err := k.AddFlow(t.Context(), "state", alice, []byte("verifier"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.AddFlow(t.Context(), "state", bob, []byte("x"), time.Minute); !errors.Is(err, ErrChanged) {
		t.Errorf("a second one of that id: %v", err)
	}
	if got, err := k.Flow(t.Context(), "state"); err != nil || got.Owner != alice || string(got.Value) != "verifier" {
		t.Errorf("%+v %v", got, err)
	}
	var taken atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if err := k.TakeFlow(t.Context(), f); err == nil {
				taken.Add(1)
			} else if !errors.Is(err, ErrChanged) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if taken.Load() != 1 {
		t.Errorf("it was taken %d times", taken.Load())
	}
	if _, err := k.Flow(t.Context(), "state"); !errors.Is(err, ErrNone) {
		t.Errorf("afterwards: %v", err)
	}
	for _, id := range []string{"", "other"} {
		if _, err := k.Flow(t.Context(), id); !errors.Is(err, ErrNone) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Tries are counted in the flow: of all who read it, one changes it.
func TestAFlowChangesOneByOneAndKeepsItsTime(t *testing.T) {
	k := newKit(t)
	if _, err := k.AddFlow(t.Context(), "state", alice, []byte{0}, time.Minute); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				f, err := k.Flow(t.Context(), "state")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err = k.SwapFlow(t.Context(), f, []byte{f.Value[0] + 1}); err == nil {
					return
				} else if !errors.Is(err, ErrChanged) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	f, err := k.Flow(t.Context(), "state")
	if err != nil || f.Value[0] != 16 {
		t.Fatal(f.Value, err)
	}
	if life, err := k.redis.PTTL(t.Context(), k.flow(flowName("state"))).Result(); err != nil || life <= 0 || life > time.Minute {
		t.Errorf("it lives for %s, %v", life, err)
	}
	if err := k.TakeFlow(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if _, err := k.SwapFlow(t.Context(), f, []byte{1}); !errors.Is(err, ErrChanged) {
		t.Errorf("a flow that was taken comes back: %v", err)
	}
}

// A person's connections under way are found and ended, and nobody else's.
func TestFlowsOfOnePerson(t *testing.T) {
	k := newKit(t)
	for i := range 40 {
		o := alice
		if i%2 == 1 {
			o = bob
		}
		if _, err := k.AddFlow(t.Context(), fmt.Sprint("state", i), o, nil, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := k.Flows(t.Context(), alice.Actor); err != nil || n != 20 {
		t.Errorf("%d %v", n, err)
	}
	if err := k.EndFlows(t.Context(), alice.Actor); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    Owner
		want int
	}{{alice, 0}, {bob, 20}} {
		if n, err := k.Flows(t.Context(), c.o.Actor); err != nil || n != c.want {
			t.Errorf("%s: %d %v", c.o.Key(), n, err)
		}
	}
	f, err := k.Flow(t.Context(), "state1")
	if err == nil {
		err = k.TakeFlow(t.Context(), f)
	}
	if n, errFlows := k.Flows(t.Context(), bob.Actor); err != nil || errFlows != nil || n != 19 {
		t.Errorf("%d %v %v", n, err, errFlows)
	}
}

// Of flows whose time is over nothing is left.
func TestAFlowGoesByItself(t *testing.T) {
	k := newKit(t)
	if _, err := k.AddFlow(t.Context(), "state", alice, nil, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(10 * time.Second)
	for {
		left, err := k.redis.Keys(t.Context(), k.prefix+":*flow*").Result()
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("%v", left)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if _, err := k.Flow(t.Context(), "state"); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// One flow of a person is not taken for another of his.
func TestAFlowInAnothersPlaceOpensForNobody(t *testing.T) {
	k := newKit(t)
	for _, id := range []string{"a", "b"} {
		if _, err := k.AddFlow(t.Context(), id, alice, []byte(id), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	fields, err := k.redis.HGetAll(t.Context(), k.flow(flowName("a"))).Result()
	if err == nil {
		err = k.redis.HSet(t.Context(), k.flow(flowName("b")), fields).Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	if f, err := k.Flow(t.Context(), "b"); !errors.Is(err, ErrDamaged) {
		t.Errorf("%q %v", f.Value, err)
	}
}
