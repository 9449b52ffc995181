package credentials

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

func record(n int) plugins.AuditRecord {
	return plugins.AuditRecord{
		Key: fmt.Sprintf("t_1/%d/allowed", n), Kind: "call", Time: time.Now().UTC().Truncate(time.Millisecond), Turn: "t_00000000000000000000alice1",
		Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1700000000.000001"}, Actor: alice.Actor, Tool: "github_search",
		Principal: alice.Actor, Provider: "github", Decision: "allowed", Rule: "read", Arguments: "abc",
	}
}

func newAudit(t *testing.T, keep time.Duration) *Audit {
	space := redistest.Shared(t)
	return NewAudit(space.Client(), space.Prefix(), true, keep)
}

func read(t *testing.T, a *Audit, f AuditFilter) (all []plugins.AuditRecord) {
	t.Helper()
	if err := a.Read(t.Context(), f, func(r plugins.AuditRecord) bool { all = append(all, r); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestARecordIsKeptOnceAndWhole(t *testing.T) {
	a := newAudit(t, time.Hour)
	r := record(1)
	r.By = bob.Actor
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := a.Append(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	again := r
	again.Decision = "refused" // what was said first stands
	if err := a.Append(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]plugins.AuditRecord{r}, read(t, a, AuditFilter{})); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []plugins.AuditRecord{{}, {Key: "k"}, {Time: time.Now()}} {
		if a.Append(t.Context(), bad) == nil {
			t.Errorf("%+v is kept", bad)
		}
	}
}

func TestReadingPagesAndFilters(t *testing.T) {
	a := newAudit(t, time.Hour)
	if all := read(t, a, AuditFilter{}); len(all) != 0 {
		t.Fatalf("%v", all)
	}
	const total = auditPage + 70
	for n := range total {
		r := record(n)
		switch n % 4 {
		case 1:
			r.Actor, r.Principal = bob.Actor, bob.Actor
		case 2:
			r.Kind, r.Decision, r.By = "consent", "refused", alice.Actor
			r.Actor, r.Principal = bob.Actor, chat.Actor{}
		case 3:
			r.Tool, r.Provider, r.Turn = "web_send", "", "t_00000000000000000000bob001"
		}
		r.Time = r.Time.Add(-time.Duration(total-n) * time.Second)
		if err := a.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	count := func(want func(int) bool) (n int) {
		for i := range total {
			if want(i) {
				n++
			}
		}
		return n
	}
	now := time.Now().UTC()
	for name, c := range map[string]struct {
		filter AuditFilter
		want   int
	}{
		"all":      {AuditFilter{}, total},
		"alice":    {AuditFilter{Person: alice.Actor}, count(func(n int) bool { return n%4 != 1 })},
		"bob":      {AuditFilter{Person: bob.Actor}, count(func(n int) bool { return n%4 == 1 || n%4 == 2 })},
		"tool":     {AuditFilter{Tool: "web_send"}, count(func(n int) bool { return n%4 == 3 })},
		"turn":     {AuditFilter{Turn: "bob001"}, count(func(n int) bool { return n%4 == 3 })},
		"refused":  {AuditFilter{Decision: "refused"}, count(func(n int) bool { return n%4 == 2 })},
		"consents": {AuditFilter{Kind: "consent", Person: alice.Actor}, count(func(n int) bool { return n%4 == 2 })},
		"none":     {AuditFilter{Tool: "other"}, 0},
		"since":    {AuditFilter{Since: now.Add(-100 * time.Second)}, 100},
		"until":    {AuditFilter{Until: now.Add(-100 * time.Second)}, total - 100},
		"future":   {AuditFilter{Since: now.Add(24 * time.Hour)}, 0},
	} {
		got := read(t, a, c.filter)
		if d := len(got) - c.want; d < -3 || d > 3 || name[0] != 's' && name[0] != 'u' && d != 0 {
			t.Errorf("%s: %d, want %d", name, len(got), c.want)
		}
		if !slices.IsSortedFunc(got, func(x, y plugins.AuditRecord) int { return y.Time.Compare(x.Time) }) {
			t.Errorf("%s: they are not read from the newest on", name)
		}
	}
	n := 0
	if err := a.Read(t.Context(), AuditFilter{}, func(plugins.AuditRecord) bool { n++; return n < 10 }); err != nil || n != 10 {
		t.Errorf("it went on to %d, %v", n, err)
	}
}

func TestOldRecordsGo(t *testing.T) {
	space := redistest.Shared(t)
	long := NewAudit(space.Client(), space.Prefix(), true, time.Hour)
	for n := range 3 {
		if err := long.Append(t.Context(), record(n)); err != nil {
			t.Fatal(err)
		}
	}
	short := NewAudit(space.Client(), space.Prefix(), true, time.Millisecond)
	if err := long.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := read(t, long, AuditFilter{}); len(all) != 3 {
		t.Errorf("%d are left of what is new", len(all))
	}
	<-time.After(5 * time.Millisecond)
	if err := short.Append(t.Context(), record(9)); err != nil {
		t.Fatal(err)
	}
	if all := read(t, long, AuditFilter{}); len(all) != 1 || all[0].Key != record(9).Key {
		t.Errorf("%d are left", len(all))
	}
	<-time.After(5 * time.Millisecond)
	if err := short.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := read(t, long, AuditFilter{}); len(all) != 0 {
		t.Errorf("%d are left", len(all))
	}
}
