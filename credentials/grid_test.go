package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// copy puts all that is kept at one account in the place of another's.
func (k *kit) copy(from, to Owner) {
	k.Helper()
	fields, err := k.redis.HGetAll(k.Context(), k.account(from)).Result()
	if err != nil || len(fields) == 0 {
		k.Fatal(fields, err)
	}
	if err := k.redis.HSet(k.Context(), k.account(to), fields).Err(); err != nil {
		k.Fatal(err)
	}
}

// dump is all that stands under the prefix.
func (k *kit) dump() string {
	k.Helper()
	keys, err := k.redis.Keys(k.Context(), k.prefix+":*").Result()
	if err != nil {
		k.Fatal(err)
	}
	slices.Sort(keys)
	var all strings.Builder
	for _, key := range keys {
		value, err := redistest.Value(k.Context(), k.redis, key)
		if err != nil {
			k.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %v\n", key, value)
	}
	return all.String()
}

// Whoever can write the store cannot hand one person's account to another, nor
// bring it to another provider or deployment.
func TestARecordInAnothersPlaceOpensForNobody(t *testing.T) {
	k := newKit(t)
	k.put(alice, account(1))
	for name, to := range map[string]Owner{
		"another person":   bob,
		"another team":     {chat.Person("T2", "UALICE"), "github"},
		"another provider": {alice.Actor, "google"},
		"a server of MCP":  {alice.Actor, "mcp:github"},
	} {
		k.put(to, account(2))
		k.copy(alice, to)
		if r, err := k.Get(t.Context(), to); !errors.Is(err, ErrDamaged) || r.Access.IsSet() {
			t.Errorf("%s: %v", name, err)
		}
		// Its owner can connect anew, and what was there is not taken for his.
		if _, was, had, err := k.connect(to, account(3)); err != nil || !had || was.Access.IsSet() {
			t.Errorf("%s: connected anew: %v %v", name, had, err)
		}
	}
	for name, other := range map[string]*kit{"another prefix": newKit(t), "the same prefix elsewhere": elsewhere(t, k.prefix)} {
		other.put(bob, account(4)) // it has an id of its own
		fields, err := k.redis.HGetAll(t.Context(), k.account(alice)).Result()
		if err == nil {
			err = other.redis.HSet(t.Context(), other.account(alice), fields).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Get(t.Context(), alice); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func elsewhere(t *testing.T, prefix string) *kit {
	client := redistest.Start(t).Client()
	return &kit{t, NewVault(client, prefix, true, ring(t, keyOf("1", 'a'))), client, prefix}
}

// A flow is no account, and an account no flow.
func TestOneKindIsNotTakenForAnother(t *testing.T) {
	k := newKit(t)
	kept := k.put(alice, account(1))
	sealed, err := k.redis.HGet(t.Context(), k.account(alice), "sealed").Result()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.redis.HSet(t.Context(), k.flow(flowName("id")), "rev", kept.Revision, "owner", alice.Key(), "sealed", sealed).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Flow(t.Context(), "id"); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
}

// An older state of a record is not taken for a newer one, nor is anything decided
// by what stands in the clear.
func TestWhatStandsInTheClearDecidesNothing(t *testing.T) {
	k := newKit(t)
	refused := account(1)
	refused.Refused = true
	kept := k.put(alice, refused)
	if err := k.redis.HSet(t.Context(), k.account(alice), "shown", `{"scopes":["admin"],"account_name":"mallory"}`).Err(); err != nil {
		t.Fatal(err)
	}
	if r := k.get(alice); !r.Refused || r.AccountName != "octocat" || len(r.Scopes) != 2 {
		t.Errorf("%+v", r)
	}
	old, err := k.redis.HGet(t.Context(), k.account(alice), "sealed").Result()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Swap(t.Context(), alice, kept.Revision, account(2)); err != nil {
		t.Fatal(err)
	}
	if err := k.redis.HSet(t.Context(), k.account(alice), "sealed", old).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Get(t.Context(), alice); !errors.Is(err, ErrDamaged) {
		t.Errorf("an older state under the new revision: %v", err)
	}
}

// No byte of a token stands anywhere in Redis, in its files, in what is printed of
// records or in errors.
func TestNoTokenStandsInRedis(t *testing.T) {
	server := redistest.Start(t)
	client := server.Client()
	k := &kit{t, NewVault(client, "reeve", true, ring(t, movedKey)), client, "reeve"}
	var told []string
	say := func(v any, err error) { told = append(told, fmt.Sprintf("%v %+v %#v %v", v, v, v, err)) }
	first := k.put(alice, account(1))
	say(first, nil)
	i, err := k.Intend(t.Context(), alice, first.Revision, time.Minute)
	say(i, err)
	kept, err := k.Settle(t.Context(), i, account(2))
	say(kept, err)
	_, err = k.Swap(t.Context(), alice, first.Revision, account(3))
	say(nil, err)
	flow, err := k.AddFlow(t.Context(), canary+"-state", alice, []byte(canary2+" verifier"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = k.SwapFlow(t.Context(), flow, []byte(canary2)); err != nil {
		t.Fatal(err)
	}
	_, err = k.AddFlow(t.Context(), canary+"-state", alice, nil, time.Minute)
	say(nil, err)
	rotated, err := k.with(keyOf("3", 'c')+","+movedKey).Rotate(t.Context(), nil)
	say(rotated, err)
	k.copy(alice, bob)
	_, err = k.with(keyOf("3", 'c')).Get(t.Context(), bob)
	say(nil, err)
	if err := k.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{"the keys": k.dump(), "what was printed": strings.Join(told, "\n")}
	err = filepath.WalkDir(server.Dir(), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(name)
			seen[d.Name()] = string(text)
		}
		return err
	})
	if err != nil || len(seen) < 5 {
		t.Fatal(len(seen), err)
	}
	keys := []string{strings.TrimPrefix(keyOf("1", 'a'), "1:"), strings.Repeat("a", 32), strings.Repeat("b", 32), strings.Repeat("c", 32)}
	for where, text := range seen {
		for _, leak := range append(keys, "canary", fmt.Sprintf("%x", "canary")) {
			if at := strings.Index(text, leak); at >= 0 {
				t.Errorf("%s: %q in %.80q", where, leak, text[max(0, at-30):])
			}
		}
	}
	if !strings.Contains(seen["the keys"], "octocat") {
		t.Error("nothing was looked at")
	}
}

// The embedded store does the same.
func TestTheEmbeddedStore(t *testing.T) {
	box, err := mailbox.Open(mailbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Shutdown()
	k := &kit{t, NewVault(box.Redis(), "reeve", false, ring(t, oldKey)), box.Redis(), "reeve"}
	if err := k.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := k.put(alice, account(1))
	i, err := k.Intend(t.Context(), alice, first.Revision, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if r := k.get(alice); r.State != Refreshing {
		t.Error(r.State)
	}
	if _, err := k.Settle(t.Context(), i, account(2)); err != nil {
		t.Fatal(err)
	}
	if err := k.AnnounceOnce(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	moved := NewVault(box.Redis(), "reeve", false, ring(t, movedKey))
	if _, err := moved.Rotate(t.Context(), nil); !errors.Is(err, ErrReplicaLacksKey) {
		t.Error(err)
	}
	if err := moved.AnnounceOnce(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if all, err := k.Replicas(t.Context()); err != nil || len(all) != 2 {
		t.Error(all, err)
	}
	f, err := k.AddFlow(t.Context(), "id", alice, []byte("x"), time.Minute)
	if err == nil {
		err = k.TakeFlow(t.Context(), f)
	}
	if err != nil {
		t.Error(err)
	}
	audit := NewAudit(box.Redis(), "reeve", false, time.Hour)
	for range 2 {
		if err := audit.Append(t.Context(), record(1)); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	if err := audit.Read(t.Context(), AuditFilter{}, func(plugins.AuditRecord) bool { n++; return true }); err != nil || n != 1 {
		t.Error(n, err)
	}
	if _, err := k.Delete(t.Context(), alice); err != nil {
		t.Error(err)
	}
}
