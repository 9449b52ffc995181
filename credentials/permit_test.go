package credentials

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What is put twice is put once.
func TestAPermitIsSpentByPutting(t *testing.T) {
	k := newKit(t)
	permit, err := k.Permit(t.Context(), alice, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var put atomic.Int32
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			switch _, _, _, err := k.Put(t.Context(), alice, permit, account(n)); {
			case err == nil:
				put.Add(1)
			case !errors.Is(err, ErrPermit):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := put.Load(); n != 1 {
		t.Errorf("it was put %d times", n)
	}
	stands := k.get(alice)
	if _, _, _, err := k.Put(t.Context(), alice, permit, account(99)); !errors.Is(err, ErrPermit) {
		t.Errorf("once more: %v", err)
	}
	if !same(k.get(alice), stands) {
		t.Error("it was changed")
	}
}

// Whoever disconnects, with an account or without one, has taken back what was
// permitted before; what is permitted afterwards counts.
func TestDeleteTakesPermitsBack(t *testing.T) {
	k := newKit(t)
	for _, connected := range []bool{true, false} {
		permit, err := k.Permit(t.Context(), alice, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if connected {
			k.put(alice, account(1))
		}
		if _, err := k.Delete(t.Context(), alice); err != nil && (connected || !errors.Is(err, ErrNone)) {
			t.Fatal(err)
		}
		if _, _, _, err := k.Put(t.Context(), alice, permit, account(2)); !errors.Is(err, ErrPermit) {
			t.Errorf("connected %v: %v", connected, err)
		}
		if _, err := k.Get(t.Context(), alice); !errors.Is(err, ErrNone) {
			t.Errorf("connected %v: the account came back: %v", connected, err)
		}
	}
	k.put(alice, account(3))
}

// A permit is good for its own owner, and nobody else's disconnection ends it.
func TestAPermitIsItsOwners(t *testing.T) {
	k := newKit(t)
	google := Owner{alice.Actor, "google"}
	permit, err := k.Permit(t.Context(), alice, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []Owner{bob, google} {
		if _, _, _, err := k.Put(t.Context(), other, permit, account(1)); !errors.Is(err, ErrPermit) {
			t.Errorf("for %s: %v", other.Key(), err)
		}
		if _, err := k.Delete(t.Context(), other); !errors.Is(err, ErrNone) {
			t.Error(err)
		}
	}
	if _, _, _, err := k.Put(t.Context(), alice, permit, account(1)); err != nil {
		t.Error(err)
	}
}

// What ends a person's connections takes their permits back, too.
func TestEndFlowsTakesPermitsBack(t *testing.T) {
	k := newKit(t)
	if _, err := k.AddFlow(t.Context(), "id", alice, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	permit, err := k.Permit(t.Context(), alice, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.EndFlows(t.Context(), alice.Actor); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := k.Put(t.Context(), alice, permit, account(1)); !errors.Is(err, ErrPermit) {
		t.Errorf("%v", err)
	}
}
