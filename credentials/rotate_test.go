package credentials

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

const people = 150

func owner(n int) Owner {
	return Owner{chat.Person("T1", chat.UserID(fmt.Sprintf("U%03d", n))), "github"}
}

// settings of the keys in the steps of a rotation.
var (
	oldKey   = keyOf("1", 'a')
	addedKey = keyOf("1", 'a') + "," + keyOf("2", 'b')
	movedKey = keyOf("2", 'b') + "," + keyOf("1", 'a')
	newKeyed = keyOf("2", 'b')
)

func uses(t *testing.T, v *Vault) string {
	t.Helper()
	all, err := v.KeyUses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, u := range all {
		words = append(words, fmt.Sprintf("%s:%d", u.Version, u.Accounts))
	}
	return strings.Join(words, " ")
}

func TestRotationLeavesNothingUnderTheOldKey(t *testing.T) {
	k := newKit(t)
	for n := range people {
		k.put(owner(n), account(n))
	}
	moved := k.with(movedKey)
	if got := uses(t, moved); got != fmt.Sprintf("2:0 1:%d", people) {
		t.Error(got)
	}
	first := k.get(owner(3))
	flow, err := k.AddFlow(t.Context(), "state", alice, []byte("verifier"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	done, err := moved.Rotate(t.Context(), nil)
	if err != nil || done.Rewrapped != people || done.Already != 0 || len(done.Failed) != 0 || done.To != "2" || done.Flows != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	if got := uses(t, moved); got != fmt.Sprintf("2:%d 1:0", people) {
		t.Error(got)
	}
	after := k.with(newKeyed)
	for n := range people {
		if r, err := after.Get(t.Context(), owner(n)); err != nil || r.Access.Reveal() != account(n).Access.Reveal() {
			t.Fatalf("%d: %v", n, err)
		}
	}
	// For whoever had read it, nothing has happened.
	if f, err := after.Flow(t.Context(), "state"); err != nil || string(f.Value) != "verifier" || f.Revision != flow.Revision {
		t.Errorf("a connection under way: %v", err)
	}
	if life, err := k.redis.PTTL(t.Context(), k.flow(flowName("state"))).Result(); err != nil || life <= 0 || life > time.Minute {
		t.Errorf("it lives for %s, %v", life, err)
	}
	if _, err := after.Swap(t.Context(), owner(3), first.Revision, first); err != nil {
		t.Error(err)
	}
	if done, err := moved.Rotate(t.Context(), nil); err != nil || done.Rewrapped != 0 || done.Already != people {
		t.Errorf("again: %+v %v", done, err)
	}
	if _, err := k.Get(t.Context(), owner(1)); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("with the old key alone: %v", err)
	}
}

// Replicas go on renewing tokens while it rotates, and none of what they write is
// lost.
func TestRotationLosesNoRenewal(t *testing.T) {
	k := newKit(t)
	for n := range people {
		k.put(owner(n), account(0))
	}
	added, moved := k.with(addedKey), k.with(movedKey)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	last := make([]string, people)
	turns := make([]int, 4)
	for w := range 4 {
		wg.Go(func() {
			for round := 1; ctx.Err() == nil; round++ {
				turns[w] = round
				for n := w; n < people; n += 4 {
					r, err := added.Get(t.Context(), owner(n))
					if err != nil {
						t.Error(err)
						return
					}
					i, err := added.Intend(t.Context(), owner(n), r.Revision, time.Minute)
					if err != nil {
						t.Error(err)
						return
					}
					fresh := account(round)
					if _, err := added.Settle(t.Context(), i, fresh); err != nil {
						t.Error(err)
						return
					}
					last[n] = fresh.Access.Reveal()
				}
			}
		})
	}
	rewrapped := 0
	for range 5 {
		done, err := moved.Rotate(t.Context(), nil)
		if err != nil || len(done.Failed) > 0 {
			t.Errorf("%+v %v", done, err)
		}
		rewrapped += done.Rewrapped
	}
	cancel()
	wg.Wait()
	if done, err := moved.Rotate(t.Context(), nil); err != nil || done.Rewrapped+done.Already != people {
		t.Errorf("%+v %v", done, err)
	}
	after := k.with(newKeyed)
	for n := range people {
		if r, err := after.Get(t.Context(), owner(n)); err != nil || last[n] != "" && r.Access.Reveal() != last[n] {
			t.Errorf("%d: a renewal was lost (%v)", n, err)
		}
	}
	if rewrapped < people/2 {
		t.Errorf("only %d were rotated beside the work of %v rounds", rewrapped, turns)
	}
}

// rotator is a process of its own that rotates and says what it does.
func TestRotatorProcess(t *testing.T) {
	addr, prefix, found := strings.Cut(os.Getenv("CREDENTIALS_ROTATOR"), " ")
	if !found {
		return // it is no test but a part of the next one
	}
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	_, err := NewVault(client, prefix, true, ring(t, movedKey)).Rotate(t.Context(), func(r Rotation) { fmt.Println("rewrapped", r.Rewrapped) })
	fmt.Println("ended", err)
}

func TestRotationGoesOnAfterKill(t *testing.T) {
	space := redistest.Shared(t)
	k := &kit{t, NewVault(space.Client(), space.Prefix(), true, ring(t, oldKey)), space.Client(), space.Prefix()}
	for n := range people {
		k.put(owner(n), account(n))
	}
	moved := k.with(movedKey)
	killed := 0
	for after := 5; ; after += 17 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRotatorProcess$", "-test.v")
		cmd.Env = append(os.Environ(), "CREDENTIALS_ROTATOR="+space.Addrs()[0]+" "+space.Prefix())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended, lines := false, bufio.NewScanner(out)
		for n := 0; lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "rewrapped") {
				if n++; n == after {
					_ = cmd.Process.Kill()
					killed++
				}
			}
			ended = ended || strings.HasPrefix(lines.Text(), "ended <nil>")
		}
		_ = cmd.Wait()
		// Whatever it has left is whole, one by one.
		for n := range people {
			if r, err := moved.Get(t.Context(), owner(n)); err != nil || r.Access.Reveal() != account(n).Access.Reveal() {
				t.Fatalf("killed %d times: %d: %v", killed, n, err)
			}
		}
		if ended {
			break
		}
		if killed > people {
			t.Fatal("it never ended")
		}
	}
	if killed < 3 {
		t.Errorf("it was killed %d times only", killed)
	}
	if got := uses(t, k.with(newKeyed)); got != fmt.Sprintf("2:%d", people) {
		t.Error(got)
	}
}

func TestRotationWaitsForReplicas(t *testing.T) {
	k := newKit(t)
	k.put(alice, account(1))
	moved := k.with(movedKey)
	refused := func(why string) {
		t.Helper()
		_, err := moved.Rotate(t.Context(), nil)
		if !errors.Is(err, ErrReplicaLacksKey) || !strings.Contains(err.Error(), "replica-1") {
			t.Errorf("%s: %v", why, err)
		}
		if got := uses(t, moved); got != "2:0 1:1" {
			t.Errorf("%s: %s", why, got)
		}
	}
	// It lives until its context ends; then it says that it is gone.
	live := func(v *Vault) (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- v.Announce(ctx, "replica-1") }()
		for all := []Replica(nil); len(all) == 0; {
			var err error
			if all, err = v.Replicas(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return func() { cancel(); <-done }
	}
	end := live(k.with(oldKey))
	refused("a replica without the new key")
	end()
	end = live(k.with(keyOf("1", 'a') + "," + keyOf("2", 'z')))
	refused("a replica with another key of that version")
	end()
	end = live(k.with(addedKey))
	defer end()
	done, err := moved.Rotate(t.Context(), nil)
	if err != nil || done.Rewrapped != 1 || len(done.Behind) != 1 || done.Behind[0] != "replica-1" {
		t.Errorf("a replica that has the key, and does not yet seal with it: %+v %v", done, err)
	}
}

// A replica that died without a word is forgotten after a while.
func TestADeadReplicaIsForgotten(t *testing.T) {
	k := newKit(t)
	if err := k.announceFor(t.Context(), "replica-1", 200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := k.AnnounceOnce(t.Context(), "replica-2"); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(10 * time.Second)
	for {
		all, err := k.Replicas(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 1 && all[0].Name == "replica-2" {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%v", all)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestRotationRewritesNothingThatItCannotOpen(t *testing.T) {
	k := newKit(t)
	k.put(alice, account(1))
	k.put(bob, account(2))
	// Bob's record is put in the place of Carol's.
	carol := Owner{chat.Person("T1", "UCAROL"), "github"}
	k.put(carol, account(3))
	k.copy(bob, carol)
	before := k.dump()
	for name, v := range map[string]*Vault{
		"a wrong key": k.with(keyOf("2", 'b') + "," + keyOf("1", 'z')), "without the old key": k.with(keyOf("2", 'b')),
	} {
		done, err := v.Rotate(t.Context(), nil)
		if err != nil || done.Rewrapped != 0 || len(done.Failed) != 3 || !strings.Contains(done.Failed[0].Why, "version 1") {
			t.Errorf("%s: %+v %v", name, done, err)
		}
		if k.dump() != before {
			t.Errorf("%s: something was written", name)
		}
	}
	done, err := k.with(movedKey).Rotate(t.Context(), nil)
	if err != nil || done.Rewrapped != 2 || len(done.Failed) != 1 || done.Failed[0].Owner != carol {
		t.Errorf("%+v %v", done, err)
	}
	if _, err := k.with(movedKey).Get(t.Context(), carol); !errors.Is(err, ErrDamaged) {
		t.Errorf("it has been made to open: %v", err)
	}
}

func TestAWrongKeyIsSeenAtTheStart(t *testing.T) {
	k := newKit(t)
	if err := k.with(movedKey).Verify(t.Context()); err != nil {
		t.Errorf("a deployment that has never started: %v", err)
	}
	if err := k.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.put(alice, account(1))
	before := k.dump()
	for _, v := range []*Vault{k.with(keyOf("1", 'z')), k.with(keyOf("2", 'b') + "," + keyOf("1", 'z'))} {
		for _, check := range []func(context.Context) error{v.Verify} {
			err := check(t.Context())
			if !errors.Is(err, ErrWrongKey) || !strings.Contains(err.Error(), "version 1") {
				t.Errorf("%v", err)
			}
		}
		if k.dump() != before {
			t.Error("something was written")
		}
		if _, err := v.Get(t.Context(), alice); !errors.Is(err, ErrWrongKey) {
			t.Errorf("it opens: %v", err)
		}
		if _, err := v.Rotate(t.Context(), nil); !errors.Is(err, ErrWrongKey) {
			t.Errorf("it rotates: %v", err)
		}
	}
	// Two replicas start with different keys of one version: the second is told.
	if err := k.with(addedKey).Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := k.with(keyOf("1", 'a') + "," + keyOf("2", 'z')).Check(t.Context()); !errors.Is(err, ErrWrongKey) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("%v", err)
	}
	if err := k.with(newKeyed).Check(t.Context()); err != nil {
		t.Errorf("with the new key alone: %v", err)
	}
	uses, err := k.with(newKeyed).KeyUses(t.Context())
	if i := slices.IndexFunc(uses, func(u KeyUse) bool { return !u.Known }); err != nil || i < 0 || uses[i].Version != "1" || uses[i].Accounts != 1 {
		t.Errorf("%+v %v", uses, err)
	}
	if err := NewVault(k.redis, k.prefix, true, nil).Check(t.Context()); !errors.Is(err, ErrNoKeys) {
		t.Errorf("without keys: %v", err)
	}
}

// Of replicas that start at once with different keys of one version, those with one
// of the keys start, and all others are told.
func TestTwoKeysOfAVersionNeverBothStart(t *testing.T) {
	for range 10 {
		k := newKit(t)
		settings := []string{keyOf("1", 'a'), keyOf("1", 'b')}
		var started [2]atomic.Int32
		var wg sync.WaitGroup
		start := make(chan struct{})
		for w := range 16 {
			v := k.with(settings[w%2])
			wg.Go(func() {
				<-start
				switch err := v.Check(t.Context()); {
				case err == nil:
					started[w%2].Add(1)
				case !errors.Is(err, ErrWrongKey):
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		if a, b := started[0].Load(), started[1].Load(); a+b != 8 || a != 0 && b != 0 {
			t.Fatalf("%d have started with one key, and %d with the other", a, b)
		}
	}
}
