package mailbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// everything is every key and every value of the world's store, one a line.
func (w *world) everything() string {
	w.t.Helper()
	ctx, mu, all := context.Background(), sync.Mutex{}, &strings.Builder{}
	read := func(ctx context.Context, c *redis.Client) error {
		var cursor uint64
		for {
			keys, next, err := c.Scan(ctx, cursor, w.box.Prefix()+":*", 500).Result()
			if err != nil {
				return err
			}
			for _, key := range keys {
				kind := c.Type(ctx, key).Val()
				var value any
				switch kind {
				case "string":
					value = c.Get(ctx, key).Val()
				case "hash":
					value = c.HGetAll(ctx, key).Val()
				case "list":
					value = c.LRange(ctx, key, 0, -1).Val()
				case "zset":
					value = c.ZRange(ctx, key, 0, -1).Val()
				default:
					w.t.Errorf("%s is a %s", key, kind)
				}
				mu.Lock()
				fmt.Fprintf(all, "%s %v\n", key, value)
				mu.Unlock()
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	var err error
	switch c := w.box.Redis().(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, read)
	case *redis.Client:
		err = read(ctx, c)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return all.String()
}

// wantWords wants some words to stand in the store, and others nowhere.
func (w *world) wantWords(there []string, gone ...string) {
	w.t.Helper()
	all := w.everything()
	for _, word := range there {
		if !strings.Contains(all, word) {
			w.t.Errorf("%q is nowhere in the store", word)
		}
	}
	for line := range strings.Lines(all) {
		for _, word := range gone {
			if strings.Contains(line, word) {
				w.t.Errorf("%q stands in the store: %s", word, line)
			}
		}
	}
}

func entryOf(e chat.Entry) []byte {
	raw, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return raw
}

func (w *world) person(who chat.Actor) mailbox.Holding {
	w.t.Helper()
	h, err := w.box.Person(context.Background(), who, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// erase takes out what is held of a person, and wants nothing to be left.
func (w *world) erase(who chat.Actor) mailbox.Holding {
	w.t.Helper()
	ctx, h := context.Background(), w.person(who)
	if err := w.box.EraseConversations(ctx, who, h); err != nil {
		w.t.Fatal(err)
	}
	if err := w.box.ErasePlain(ctx, h); err != nil {
		w.t.Fatal(err)
	}
	after := w.person(who)
	w.same("what is held after an erasure", []mailbox.HeldCount(nil), after.Counts())
	return after
}

func quoting(author chat.Actor, text string) how {
	return func(m *chat.Message) {
		m.Attached = append(m.Attached, chat.Attached{Origin: chat.Quoted, Author: &author, Text: text})
	}
}

// crowd lets Bob leave something of himself in every kind of record: words with
// "bobs" in them, and Alice words with "hers".
func (w *world) crowd() (open *run) {
	w.t.Helper()
	ctx := context.Background()
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	// Alice's first turn: a thread message and a steer of Bob's, a quote of him, his
	// name, and a result that names him.
	first := w.starts(alice, "hers-request", quoting(bob, "bobs-quoted"), quoting(carol, "carols-quoted"))
	w.says(chat.SteerContext, bob, "bobs-steer", forced)
	w.says(chat.AsContext, bob, "bobs-aside", unaddressed)
	begun := chat.Entry{Role: chat.UserRole, Origin: chat.Begun, Text: `{"names":{"T1:UBOB":"bobs-name","T1:UCAROL":"carols-name"}}`}
	found := chat.Entry{Role: chat.ToolRole, Origin: chat.Result, CallID: "1", Tool: "slack_read", Text: "UBOB: bobs-found"}
	other := chat.Entry{Role: chat.ToolRole, Origin: chat.Result, CallID: "2", Tool: "slack_read", Text: "UBOBBY: hers-found"}
	first.commit(mailbox.Commit{Take: true, Entries: [][]byte{entryOf(begun), entryOf(found), entryOf(other)}})
	first.done("hers-answer")

	// Bob's own turn, in which Alice has a word; its answer is not posted.
	bobs := w.starts(bob, "bobs-request")
	w.says(chat.SteerContext, alice, "hers-steer", forced)
	bobs.boundary("bobs-result")
	bobs.doneWith("bobs-answer", learn)

	// Alice's second turn stands on a summary of all that, and runs: Bob's steer
	// is read and not answered, another is not read, and a message waits.
	open = w.starts(alice, "hers-second")
	w.says(chat.SteerContext, bob, "bobs-broken", forced)
	w.says(chat.SteerContext, bob, "bobs-read", forced)
	note := chat.Entry{Role: chat.UserRole, Origin: chat.Summary, Text: "bobs-summary", Covers: &chat.Range{From: 1, To: 2, Reader: alice}}
	open.commit(mailbox.Commit{Take: true, Entries: [][]byte{entryOf(note)}})
	w.says(chat.SteerContext, bob, "bobs-unread", forced)
	w.says(chat.Wait, bob, "bobs-waiting")
	w.says(chat.AsContext, bob, "bobs-later", unaddressed)
	w.says(chat.Wait, carol, "carols-waiting", quoting(bob, "bobs-waiting-quote"))
	must(w.box.SetAside(ctx, w.conv, open.Turn, 2, w.itemAt(open.Turn, 2), "it is broken", chat.Actor{}))

	must(w.box.KeepFact(ctx, bob, []byte(`{"name":"bobs-account"}`), 1<<40))
	must(w.box.KeepFact(ctx, alice, []byte(`{"name":"hers-account"}`), 1<<40))
	must(w.box.AddTokens(ctx, bob, "2026-01-01", 5))
	_, err := w.box.Once(ctx, "full:T1:UBOB:T1:C1:1", 1<<40)
	must(err)
	must(w.box.PluginStore("todo", bob).Set(ctx, "list", []byte("bobs-todo")))
	must(w.box.PluginStore("todo", alice).Set(ctx, "list", []byte("hers-todo")))
	must(w.box.PluginStore("todo", chat.Actor{}).Set(ctx, "last", []byte("UBOB")))
	return open
}

// itemAt is an item of an open turn's log.
func (w *world) itemAt(turn chat.TurnID, n int) mailbox.Item {
	w.t.Helper()
	s, err := w.box.Story(context.Background(), w.conv, turn)
	if err != nil || len(s.Log) <= n {
		w.t.Fatalf("the log of %s: %d items, %v", turn, len(s.Log), err)
	}
	return s.Log[n]
}

var hers = []string{"hers-request", "hers-found", "hers-answer", "hers-steer", "hers-second", "hers-account", "hers-todo",
	"carols-quoted", "carols-name", "carols-waiting"}

func TestErasingTakesOutAPersonsWordsAndNobodyElses(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		open := w.crowd()
		before := w.person(bob)
		for _, kind := range mailbox.HeldKinds {
			if !slices.ContainsFunc(before.Counts(), func(c mailbox.HeldCount) bool { return c.Kind == kind }) {
				w.t.Errorf("nothing of the kind %q is found", kind)
			}
		}
		raw, _ := json.Marshal(before)
		for _, word := range []string{"bobs-quoted", "bobs-steer", "bobs-aside", "bobs-request", "bobs-result", "bobs-answer", "bobs-unread", "bobs-waiting", "bobs-account", "bobs-todo"} {
			if !strings.Contains(string(raw), word) {
				w.t.Errorf("%q is not among what is held of him", word)
			}
		}
		after := w.erase(bob)
		w.wantWords(hers, "bobs-")
		if !slices.ContainsFunc(after.Left, func(s string) bool { return strings.Contains(s, "todo has one store for all") }) {
			w.t.Errorf("what is left: %q", after.Left)
		}
		// The turn that runs ends badly. Nothing of his comes back, and what waits
		// of others goes on.
		next := open.close(mailbox.Failed, "hers-failure").Next
		w.began(next, carol, "request carols-waiting").done("carols-answer")
		history := w.history()
		w.same("turns", 4, len(history))
		w.same("her first turn", "deleted steer_context", history[0][5])
		w.same("his turn", []string{"UBOB done", "deleted thread", "deleted request", "erased entry", "steer_context hers-steer", "erased entry"}, history[1])
		w.wantWords(hers, "bobs-")
		if c := w.person(bob).Counts(); len(c) > 0 {
			w.t.Errorf("found again: %v", c)
		}
	})
}

// Wherever it is cut, another erasure comes to the same end.
func TestAnErasureThatIsKilledIsGoneOnWith(t *testing.T) {
	for steps := range 4 {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			t.Parallel()
			w := onServer(t, mailbox.Options{})
			w.crowd()
			long := w.conv
			w.conv.Root, w.conv.Channel = at(900), "C9"
			w.clock = 900
			r := w.starts(bob, "bobs-long")
			for i := range 60 {
				r.answers(fmt.Sprint("bobs-step", i))
			}
			r.done("bobs-end")
			w.conv = long
			w.other.DieAfter(steps)
			if err := w.other.EraseConversations(context.Background(), bob, w.person(bob)); err == nil {
				t.Fatal("it was not cut")
			}
			w.wantWords([]string{"bobs-"})
			w.erase(bob)
			w.wantWords(hers, "bobs-")
		})
	}
}

func TestTwoErasuresAtOnceBesideOneWhoWrites(t *testing.T) {
	w := onServer(t, mailbox.Options{})
	w.crowd()
	h := w.person(bob)
	var both sync.WaitGroup
	for _, box := range []*mailbox.Box{w.box, w.other} {
		both.Go(func() {
			if err := box.EraseConversations(context.Background(), bob, h); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 9 { // and one waits already: more of one author's cannot
		w.saysNoRoom(chat.Wait, carol, fmt.Sprint("carols-", i))
	}
	both.Wait()
	w.erase(bob)
	w.wantWords(append(slices.Clone(hers), "carols-8"), "bobs-")
}

// What his open turn holds stays, also when it has begun since he was looked for.
func TestErasingLeavesAnOpenTurnAlone(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		first := w.starts(bob, "bobs-open")
		h := w.person(bob)
		if len(h.Open) != 1 || h.Open[0].Turn != first.Turn || len(h.Counts()) > 0 {
			w.t.Fatalf("an open turn: %+v, counts %v", h.Open, h.Counts())
		}
		if raw, _ := json.Marshal(h); !strings.Contains(string(raw), "bobs-open") {
			w.t.Error("what it holds is not found")
		}
		w.erase(bob)
		w.wantWords([]string{"bobs-open"})
		if err := w.box.Abandon(context.Background(), w.conv, first.Turn); err != nil && !errors.Is(err, mailbox.ErrNotOpen) {
			w.t.Fatal(err) // a repeated call finds it ended
		}
		w.erase(bob)
		w.wantWords([]string{"Whoever runs me has ended the work"}, "bobs-open")
	})
}

// What asks somebody stays while his turn waits for the answer, and goes with it:
// the card, what has taken its place, and what the turn waited for.
func TestWhatAsksSomebodyGoesWithItsTurn(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(bob, "one")
		turn.asks(time.Hour)
		w.erase(bob)
		w.wantOutbox("card")
		if err := w.box.Abandon(context.Background(), w.conv, turn.Turn); err != nil && !errors.Is(err, mailbox.ErrNotOpen) {
			w.t.Fatal(err) // a repeated call finds it ended
		}
		w.wantOutbox("card", "card.v abandoned", "o")
		w.erase(bob)
		w.wantOutbox("o")
		w.wantWords(nil, "may I")
	})
}

// A turn that runs for somebody else has read his words already. What it notes
// of them is found by an erasure after it, and by that alone.
func TestWhatATurnNotesThatRanBesideAnErasureIsFoundAfterIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		summary := func(text string) []byte {
			return entryOf(chat.Entry{Role: chat.UserRole, Origin: chat.Summary, Text: text, Covers: &chat.Range{From: 1, To: 1, Reader: alice}})
		}
		w.starts(bob, "bobs-request").done("bobs-answer")
		beside := w.starts(alice, "hers")
		if left := w.erase(bob).Left; len(left) != 1 || !strings.Contains(left[0], "run this again when it has ended") {
			w.t.Errorf("what is left: %q", left)
		}
		beside.commit(mailbox.Commit{Entries: [][]byte{summary("bobs-summary")}})
		beside.done("hers-answer")
		later := w.starts(alice, "hers-later")
		later.commit(mailbox.Commit{Entries: [][]byte{summary("hers-summary")}})
		later.done("hers-end")
		w.same("found again", []mailbox.HeldCount{{Kind: mailbox.HeldSummary, Count: 1}}, w.person(bob).Counts())
		if left := w.erase(bob).Left; len(left) > 0 {
			w.t.Errorf("what is left: %q", left)
		}
		w.wantWords([]string{"hers-summary", "hers-later"}, "bobs-")
	})
}

// What this release does not know is not silently left out.
func TestAKeyOfAStrangeKindIsTold(t *testing.T) {
	w := onServer(t, mailbox.Options{})
	for _, name := range []string{":{c03}:token:T1:UBOB", ":{s03}:later:T1:UBOB", ":later:T1:UBOB", ":{m03}:book:person:T1:UBOB"} {
		if err := w.box.Redis().Set(context.Background(), w.box.Prefix()+name, "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	h, err := w.box.Person(context.Background(), bob, func(name string) bool { return strings.HasPrefix(name, "{m") })
	if err != nil || len(h.Left) != 3 || strings.Contains(strings.Join(h.Left, " "), "{m03}") {
		t.Errorf("what is left: %q, %v", h.Left, err)
	}
}

// A message that a run was handed and that is erased before it is looked at
// again is no follow-up, and Slack's word of its deletion or edit brings nothing back.
func TestWhatWasErasedDoesNotComeBack(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.clock = 100
		turn := w.starts(alice, "hers")
		w.says(chat.SteerContext, bob, "bobs-steer", sentAt(10), forced)
		w.says(chat.Wait, bob, "bobs-waiting", sentAt(11))
		turn.boundary("x")
		w.erase(bob)
		w.says(chat.Duplicate, bob, "bobs-steer", sentAt(10), forced)
		w.edits(chat.Ignored, bob, 10, "bobs-edited", addsMention)
		w.edits(chat.Ignored, bob, 11, "bobs-edited", addsMention)
		turn.close(mailbox.Failed, "gave up")
		w.wantWords([]string{"hers"}, "bobs-")
	})
}
