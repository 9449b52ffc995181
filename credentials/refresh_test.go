package credentials

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/runtime/mailbox/redistest"
)

// provider answers each refresh token once, and ends the whole account when one
// comes a second time, as real ones do.
type provider struct {
	mu      sync.Mutex
	valid   string
	issued  int
	spent   map[string]bool
	revoked bool
}

func (p *provider) refresh(token string) (Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spent[token] || token != p.valid {
		p.revoked = true
		return Record{}, errors.New("invalid_grant")
	}
	p.spent[token] = true
	p.issued++
	r := account(1000 + p.issued)
	p.valid = r.Refresh.Reveal()
	return r, nil
}

// renew is what a worker does that finds an expired token.
func renew(ctx context.Context, v *Vault, p *provider, seen Record) (won bool, err error) {
	i, err := v.Intend(ctx, alice, seen.Revision, time.Minute)
	if err != nil {
		return false, err
	}
	fresh, err := p.refresh(seen.Refresh.Reveal())
	if err != nil {
		return false, err
	}
	_, err = v.Settle(ctx, i, fresh)
	return true, err
}

func TestOneOfSixteenSpendsTheRefreshToken(t *testing.T) {
	k := newKit(t)
	first := k.put(alice, account(1))
	p := &provider{valid: first.Refresh.Reveal(), spent: map[string]bool{}}
	for round := range 20 {
		seen := k.get(alice)
		var wins atomic.Int32
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range 16 {
			wg.Go(func() {
				<-start
				won, err := renew(t.Context(), k.Vault, p, seen)
				if won {
					wins.Add(1)
				}
				if err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrChanged) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		close(start)
		wg.Wait()
		if wins.Load() != 1 {
			t.Fatalf("round %d: %d workers asked the provider", round, wins.Load())
		}
	}
	if got := k.get(alice); p.revoked || p.issued != 20 || got.Refresh.Reveal() != p.valid {
		t.Errorf("revoked %v, issued %d, the store has another token than the provider: %v", p.revoked, p.issued, got.Refresh.Reveal() != p.valid)
	}
}

// Sixteen workers swap, renew, connect anew and take out, all at once. Whatever
// the order, no refresh token is spent twice.
func TestSixteenWorkersOfEveryKind(t *testing.T) {
	k := newKit(t)
	var mu sync.Mutex
	spent, connected := map[string]int{}, 0
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for n := range 25 {
				r, err := k.Get(t.Context(), alice)
				switch {
				case errors.Is(err, ErrNone) || w == 0 && n%5 == 0:
					mu.Lock()
					connected++
					fresh := account(connected)
					mu.Unlock()
					if _, _, _, err := k.connect(alice, fresh); err != nil && !errors.Is(err, ErrPermit) {
						t.Error(err)
					}
				case err != nil:
					t.Error(err)
				case w == 1 && n%10 == 9:
					if _, err := k.Delete(t.Context(), alice); err != nil && !errors.Is(err, ErrNone) {
						t.Error(err)
					}
				case w%4 == 2:
					r.Told = !r.Told
					_, err := k.Swap(t.Context(), alice, r.Revision, r)
					if err != nil && !errors.Is(err, ErrChanged) && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrBroken) {
						t.Error(err)
					}
				default:
					i, err := k.Intend(t.Context(), alice, r.Revision, time.Minute)
					if err != nil {
						continue
					}
					mu.Lock()
					spent[r.Refresh.Reveal()]++
					connected++
					fresh := account(connected)
					mu.Unlock()
					if _, err := k.Settle(t.Context(), i, fresh); err != nil && !errors.Is(err, ErrChanged) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	for token, n := range spent {
		if n != 1 {
			t.Errorf("%s was spent %d times", token, n)
		}
	}
	if len(spent) < 16 {
		t.Errorf("only %d were spent", len(spent))
	}
}

// A worker that dies between the provider and the store leaves an account that
// nobody renews again: not while the intent holds, nor after it.
func TestAnIntentThatNobodyFinishesBreaksTheAccount(t *testing.T) {
	k := newKit(t)
	first := k.put(alice, account(1))
	if _, err := k.Intend(t.Context(), alice, first.Revision, 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if r := k.get(alice); r.State != Refreshing {
		t.Errorf("while it is renewed it is %s", r.State)
	}
	if _, err := k.Intend(t.Context(), alice, first.Revision, time.Minute); !errors.Is(err, ErrBusy) {
		t.Errorf("while it is renewed: %v", err)
	}
	if _, err := k.Swap(t.Context(), alice, first.Revision, account(2)); !errors.Is(err, ErrBusy) {
		t.Errorf("a swap while it is renewed: %v", err)
	}
	k.waitFor(Broken)
	for range 3 {
		if _, err := k.Intend(t.Context(), alice, first.Revision, time.Minute); !errors.Is(err, ErrBroken) {
			t.Fatalf("afterwards: %v", err)
		}
	}
	if r := k.get(alice); r.Usable() {
		t.Error("it counts as usable")
	}
	if _, err := k.Swap(t.Context(), alice, first.Revision, account(2)); !errors.Is(err, ErrBroken) {
		t.Errorf("a swap makes it whole: %v", err)
	}
	// That it is broken can be written down, and a new connection mends it.
	refused := account(1)
	refused.Refused, refused.Told = true, true
	if _, err := k.Swap(t.Context(), alice, first.Revision, refused); err != nil {
		t.Fatal(err)
	}
	if r := k.get(alice); r.Usable() || !r.Told {
		t.Errorf("%+v", r)
	}
	k.put(alice, account(3))
	if r := k.get(alice); !r.Usable() || r.State != Live {
		t.Errorf("%+v", r)
	}
}

func (k *kit) waitFor(s State) {
	k.Helper()
	deadline := time.After(10 * time.Second)
	for k.get(alice).State != s {
		select {
		case <-deadline:
			k.Fatalf("it never was %s", s)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Who comes back late with what the provider gave him may keep it: nobody else
// has spent the token.
func TestALateAnswerIsKept(t *testing.T) {
	k := newKit(t)
	first := k.put(alice, account(1))
	i, err := k.Intend(t.Context(), alice, first.Revision, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	k.waitFor(Broken)
	if _, err := k.Settle(t.Context(), i, account(2)); err != nil {
		t.Fatal(err)
	}
	if r := k.get(alice); r.State != Live || r.Access.Reveal() != canary+"-2" {
		t.Errorf("%+v", r)
	}
}

func TestAnAnswerThatNobodyWantsAnyMoreIsNotKept(t *testing.T) {
	k := newKit(t)
	for name, end := range map[string]func(){
		"connected anew": func() { k.put(alice, account(7)) },
		"taken out":      func() { _, _ = k.Delete(t.Context(), alice) },
	} {
		first := k.put(alice, account(1))
		i, err := k.Intend(t.Context(), alice, first.Revision, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		end()
		if _, err := k.Settle(t.Context(), i, account(2)); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := k.Get(t.Context(), alice); err == nil && r.Access.Reveal() != canary+"-7" {
			t.Errorf("%s: the late answer stands", name)
		}
	}
}

func TestOnlyTheHolderSettlesAndReleases(t *testing.T) {
	k := newKit(t)
	first := k.put(alice, account(1))
	i, err := k.Intend(t.Context(), alice, first.Revision, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	stranger := Intent{alice, first.Revision, nonce()}
	if _, err := k.Settle(t.Context(), stranger, account(2)); !errors.Is(err, ErrChanged) {
		t.Errorf("somebody else settles: %v", err)
	}
	if _, err := k.Settle(t.Context(), Intent{Owner: alice, Revision: first.Revision}, account(2)); err == nil {
		t.Error("nobody's intent settles")
	}
	_ = k.Release(t.Context(), stranger)
	if _, err := k.Intend(t.Context(), alice, first.Revision, time.Minute); !errors.Is(err, ErrBusy) {
		t.Errorf("somebody else released it: %v", err)
	}
	if err := k.Release(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Settle(t.Context(), i, account(2)); !errors.Is(err, ErrChanged) {
		t.Errorf("a released intent settles: %v", err)
	}
	if _, err := k.Intend(t.Context(), alice, first.Revision, time.Minute); err != nil {
		t.Errorf("after it was released: %v", err)
	}
}

// A step whose answer was lost is made again, and answers as it did.
func TestRepeatedStepsAnswerTheSame(t *testing.T) {
	k := newKit(t)
	first := k.put(alice, account(1))
	args := []any{fmt.Sprint(first.Revision), "n1", 60000}
	for range 2 {
		got, err := k.run(t.Context(), k.intend, []string{k.account(alice)}, args...)
		if err != nil || outcome(got) != nil {
			t.Fatal(got, err)
		}
	}
	for range 2 {
		got, err := k.run(t.Context(), k.write, []string{k.account(alice), k.accounts(shardOf(alice.Actor.Key()))},
			alice.Key(), fmt.Sprint(first.Revision), "77", "sealed", "{}", "settle", "n1", "0")
		if err != nil || outcome(got) != nil {
			t.Fatal(got, err)
		}
	}
}

// What the provider has given out is kept, though Redis dies under it.
func TestWhatAProviderGaveWaitsForRedis(t *testing.T) {
	server := redistest.Start(t)
	client := server.Client()
	k := &kit{t, NewVault(client, "reeve", true, ring(t, keyOf("1", 'a'))), client, "reeve"}
	first := k.put(alice, account(1))
	i, err := k.Intend(t.Context(), alice, first.Revision, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if _, err := k.Vault.redis.Ping(t.Context()).Result(); err == nil {
		t.Fatal("it still answers")
	}
	settled := make(chan error)
	go func() {
		_, err := k.Settle(t.Context(), i, account(2))
		settled <- err
	}()
	server.Restart()
	if err := <-settled; err != nil {
		t.Fatal(err)
	}
	if r := k.get(alice); r.Access.Reveal() != canary+"-2" || r.State != Live {
		t.Errorf("%+v", r)
	}
}
