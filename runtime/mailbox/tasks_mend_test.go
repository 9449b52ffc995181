package mailbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// The shard of T1:C1, as the tests that break records see it.
func taskKeys(t *testing.T, space *redistest.Space, turn chat.TurnID) (shard, record string) {
	t.Helper()
	keys, err := space.Client().Keys(t.Context(), space.Prefix()+"*task:"+string(learn)+"/"+string(turn)).Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("the record of the task: %v %v", keys, err)
	}
	return keys[0][:strings.Index(keys[0], "task:")], keys[0]
}

// swept sweeps once what is older than three TTLs.
func (w *world) swept() {
	w.t.Helper()
	<-time.After(4 * brief.LeaseTTL)
	if _, err := w.box.Sweep(w.t.Context(), 0); err != nil {
		w.t.Fatal(err)
	}
}

func TestP9_TaskThatNoIndexNamesIsFound(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	w := newWorld(t, brief, space, false)
	held, lost := w.starts(alice, "one"), (*run)(nil)
	held.doneWith("a", learn)
	lost = w.starts(bob, "two")
	lost.doneWith("", learn)
	shard, _ := taskKeys(t, space, lost.Turn)
	space.Client().ZRem(t.Context(), shard+"leases", "k|"+w.conv.Key()+"|"+string(learn)+"/"+string(lost.Turn))
	w.noTask("the index has lost it")
	w.swept()
	names, _ := w.dueTasks()
	w.same("due", []string{"memory/learn of " + string(lost.Turn)}, names) // the other's answer is not posted
}

func TestP9_TaskWhoseRecordIsBrokenIsSetAside(t *testing.T) {
	for name, break_ := range map[string]func(*testing.T, *redistest.Space, string){
		"another type": func(t *testing.T, s *redistest.Space, key string) {
			s.Client().Del(t.Context(), key)
			s.Client().Set(t.Context(), key, "x", 0)
		},
		"no number":     func(t *testing.T, s *redistest.Space, key string) { s.Client().HSet(t.Context(), key, "tries", "x") },
		"later version": func(t *testing.T, s *redistest.Space, key string) { s.Client().HSet(t.Context(), key, "v", "2") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := redistest.Shared(t)
			w := newWorld(t, brief, space, false)
			turn := w.starts(alice, "one")
			turn.doneWith("", learn)
			_, key := taskKeys(t, space, turn.Turn)
			break_(t, space, key)
			if task, err := w.box.ClaimTask(t.Context(), w.conv, learn, turn.Turn, 8); task != nil || err != nil {
				t.Errorf("it was claimed: %+v %v", task, err)
			}
			w.noTask("it was set aside")
			w.tasksLeft(0)
			dead, err := w.box.Dead(t.Context())
			if err != nil || !slices.ContainsFunc(dead, func(d mailbox.DeadRecord) bool { return strings.HasPrefix(d.Where, "task:") }) {
				t.Errorf("set aside: %+v %v", dead, err)
			}
			w.says(chat.Start, bob, "the conversation goes on")
		})
	}
}
