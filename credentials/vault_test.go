package credentials

import (
	"errors"
	"testing"
	"time"

	"reeve/runtime/chat"
)

func TestAnAccountIsKeptAndAnswered(t *testing.T) {
	k := newKit(t)
	if _, err := k.Get(t.Context(), alice); !errors.Is(err, ErrNone) {
		t.Fatalf("before: %v", err)
	}
	kept, _, had, err := k.connect(alice, account(1))
	if err != nil || had {
		t.Fatal(had, err)
	}
	if got := k.get(alice); !same(got, kept) || got.Access.Reveal() != canary+"-1" || got.Hidden["client_secret"].Reveal() != canary3 ||
		got.Extra["resource"] == "" || !got.Usable() || got.State != Live {
		t.Errorf("%+v", got)
	}
	if _, err := k.Get(t.Context(), bob); !errors.Is(err, ErrNone) {
		t.Errorf("another person's: %v", err)
	}
	if _, err := k.Get(t.Context(), Owner{alice.Actor, "google"}); !errors.Is(err, ErrNone) {
		t.Errorf("at another provider: %v", err)
	}
}

// A new connection takes the place of the old one, whatever its state, and the
// old one's tokens are answered so that they can be ended.
func TestPutAnswersWhatItReplaces(t *testing.T) {
	k := newKit(t)
	first := k.put(alice, account(1))
	if _, err := k.Intend(t.Context(), alice, first.Revision, time.Minute); err != nil {
		t.Fatal(err)
	}
	kept, was, had, err := k.connect(alice, account(2))
	if err != nil || !had || was.Access.Reveal() != canary+"-1" {
		t.Fatal(had, err)
	}
	if kept.Revision == first.Revision || k.get(alice).Access.Reveal() != canary+"-2" || k.get(alice).State != Live {
		t.Error("the new one does not stand")
	}
}

func TestSwapComparesTheRevision(t *testing.T) {
	k := newKit(t)
	first := k.put(alice, account(1))
	second, err := k.Swap(t.Context(), alice, first.Revision, account(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Swap(t.Context(), alice, first.Revision, account(3)); !errors.Is(err, ErrChanged) {
		t.Errorf("over an old state: %v", err)
	}
	if got := k.get(alice); !same(got, second) {
		t.Errorf("%+v", got)
	}
	if _, err := k.Swap(t.Context(), bob, first.Revision, account(3)); err == nil {
		t.Error("a swap made an account where there was none")
	}
	if _, err := k.Swap(t.Context(), bob, 0, account(3)); err == nil {
		t.Error("a swap of revision 0 made an account")
	}
}

// What was read before an account was taken out and connected again is not what
// stands there now.
func TestNoRevisionComesTwice(t *testing.T) {
	k := newKit(t)
	first := k.put(alice, account(1))
	if gone, err := k.Delete(t.Context(), alice); err != nil || gone.Refresh.Reveal() != canary2+"-1" {
		t.Fatal(gone, err)
	}
	k.put(alice, account(2))
	if _, err := k.Swap(t.Context(), alice, first.Revision, account(3)); !errors.Is(err, ErrChanged) {
		t.Errorf("the old state's revision is taken: %v", err)
	}
}

func TestDeleteIsForAllAtOnce(t *testing.T) {
	k := newKit(t)
	other := k.with(keyOf("1", 'a'))
	k.put(alice, account(1))
	if _, err := other.Get(t.Context(), alice); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Delete(t.Context(), alice); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Get(t.Context(), alice); !errors.Is(err, ErrNone) {
		t.Errorf("another replica still reads it: %v", err)
	}
	if _, err := k.Delete(t.Context(), alice); !errors.Is(err, ErrNone) {
		t.Errorf("again: %v", err)
	}
	if all, err := k.List(t.Context(), alice.Actor); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

// Whoever is not a whole person owns nothing.
func TestAMissingIDOwnsNothing(t *testing.T) {
	k := newKit(t)
	for _, o := range []Owner{
		{}, {chat.Person("T1", ""), "github"}, {chat.Person("", "UALICE"), "github"}, {alice.Actor, ""},
		{chat.SystemActor("scheduler"), "github"}, {chat.Person("T1:UALICE", "x"), "github"}, {chat.Person("T1", "UALICE:github"), "x"},
		{alice.Actor, "Git Hub"}, {alice.Actor, "git}hub"},
	} {
		if _, _, _, err := k.Put(t.Context(), o, "none", account(1)); !errors.Is(err, ErrNobody) {
			t.Errorf("put for %q: %v", o.Key(), err)
		}
		if _, err := k.Get(t.Context(), o); !errors.Is(err, ErrNobody) {
			t.Errorf("get for %q: %v", o.Key(), err)
		}
		if _, err := k.Delete(t.Context(), o); !errors.Is(err, ErrNobody) {
			t.Errorf("delete for %q: %v", o.Key(), err)
		}
		if _, err := k.Intend(t.Context(), o, 1, time.Minute); !errors.Is(err, ErrNobody) {
			t.Errorf("intend for %q: %v", o.Key(), err)
		}
		if _, err := k.AddFlow(t.Context(), "id", o, nil, time.Minute); !errors.Is(err, ErrNobody) {
			t.Errorf("flow for %q: %v", o.Key(), err)
		}
	}
}

func TestListsShowOnesOwnWithoutKeys(t *testing.T) {
	k := newKit(t)
	k.put(alice, account(1))
	k.put(Owner{alice.Actor, "mcp:files"}, account(2))
	k.put(Owner{chat.Person("T1", "UALICE2"), "github"}, account(3))
	keyless := NewVault(k.redis, k.prefix, true, nil)
	all, err := keyless.List(t.Context(), alice.Actor)
	if err != nil || len(all) != 2 || all[0].Provider != "github" || all[1].Provider != "mcp:files" || all[0].AccountName != "octocat" || all[0].Key != "1" {
		t.Errorf("%+v %v", all, err)
	}
	n := 0
	if err := keyless.Each(t.Context(), func(Account) error { n++; return nil }); err != nil || n != 3 {
		t.Error(n, err)
	}
	if _, err := keyless.Get(t.Context(), alice); !errors.Is(err, ErrNoKeys) {
		t.Errorf("without keys: %v", err)
	}
	if _, _, _, err := keyless.Put(t.Context(), bob, "none", account(1)); !errors.Is(err, ErrNoKeys) {
		t.Errorf("without keys: %v", err)
	}
	// Nor is a lack of keys in the way of taking an account out.
	if gone, err := keyless.Delete(t.Context(), alice); err != nil || gone.Access.IsSet() || gone.AccountName != "octocat" {
		t.Errorf("%+v %v", gone, err)
	}
}

// More accounts than a page holds are all seen, each once.
func TestEachSeesAllPages(t *testing.T) {
	k := newKit(t)
	seen := map[string]int{}
	for i := range pageOf + 20 {
		k.put(Owner{alice.Actor, "p" + string(rune('a'+i%26)) + string(rune('a'+i/26))}, account(i))
	}
	if err := k.Each(t.Context(), func(a Account) error { seen[a.Owner.Key()]++; return nil }); err != nil || len(seen) != pageOf+20 {
		t.Fatal(len(seen), err)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s was seen %d times", name, n)
		}
	}
}
