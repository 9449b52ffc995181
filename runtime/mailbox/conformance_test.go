package mailbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m, redistest.NoSync()) }

var (
	alice = chat.Person("T1", "UALICE")
	bob   = chat.Person("T1", "UBOB")
	carol = chat.Person("T1", "UCAROL")
)

// world is one conversation on one store, and what a replica does with it.
type world struct {
	t      *testing.T
	box    *mailbox.Box
	other  *mailbox.Box // a second replica; the embedded store has but one
	conv   chat.Conversation
	policy runtime.Policy
	clock  int // of the next message
	ids    int
}

// onEveryStore runs one case on a redis-server, on a Cluster, on the embedded
// store, and on a redis-server of whose steps every first answer is lost.
func onEveryStore(t *testing.T, opts mailbox.Options, play func(*world)) {
	t.Parallel()
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		play(newWorld(t, opts, redistest.Shared(t), false))
	})
	t.Run("answers lost", func(t *testing.T) {
		t.Parallel()
		play(newWorld(t, opts, redistest.Shared(t), true))
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		play(newWorld(t, opts, redistest.SharedCluster(t), false))
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		play(newWorld(t, opts, nil, false))
	})
}

// onServer runs one case on a redis-server.
func onServer(t *testing.T, opts mailbox.Options) *world {
	return newWorld(t, opts, redistest.Shared(t), false)
}

func newWorld(t *testing.T, opts mailbox.Options, space *redistest.Space, lose bool) *world {
	w := &world{
		t: t, conv: chat.Conversation{Team: "T1", Channel: "C1", Root: at(1)}, clock: 1,
		policy: runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone},
	}
	opts.CallTimeout = 20 * time.Second // a loaded machine is no failure
	open := func() *mailbox.Box {
		if space != nil {
			opts.URL, opts.Prefix = space.URL(), space.Prefix()
		}
		box, err := mailbox.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = box.Shutdown() })
		if lose {
			box.LoseAnswers()
		}
		return box
	}
	w.box = open()
	w.other = w.box
	if space != nil {
		w.other = open()
	}
	return w
}

func at(n int) chat.TS { return chat.TS(fmt.Sprintf("1700000000.%06d", n)) }

func (w *world) id(ts chat.TS) chat.MessageID {
	return chat.MessageID{Team: w.conv.Team, Channel: w.conv.Channel, TS: ts}
}

func (w *world) turnID() chat.TurnID {
	w.ids++
	return chat.TurnID(fmt.Sprintf("t_%02d", w.ids))
}

// how changes a message that would be an addressed one of a known person.
type how func(*chat.Message)

func forced(m *chat.Message)      { m.Forced = true }
func stop(m *chat.Message)        { m.Stop = true }
func unaddressed(m *chat.Message) { m.Addressed = false }
func unchecked(m *chat.Message)   { m.Standing = chat.Unchecked }
func contextOnly(m *chat.Message) { m.Standing = chat.ContextOnly }
func sentAt(n int) how            { return func(m *chat.Message) { m.ID.TS = at(n) } }
func dm(root chat.TS) how {
	return func(m *chat.Message) {
		m.Visibility = chat.DM
		m.Conversation.Root = root
	}
}

// message is the next one of an author in the thread.
func (w *world) message(author chat.Actor, text string, hows ...how) chat.Message {
	w.clock++
	m := chat.Message{
		ID: w.id(at(w.clock)), Conversation: w.conv, Author: author, Text: text,
		Standing: chat.MayInstruct, Addressed: true,
	}
	for _, h := range hows {
		h(&m)
	}
	return m
}

func (w *world) asPut(m chat.Message, claim bool) mailbox.Put {
	return mailbox.Put{
		Message: m, Row: runtime.DecideRow(m, w.policy), Turn: w.turnID(), Setup: []byte("setup"), Claim: claim,
	}
}

func (w *world) put(puts ...mailbox.Put) []mailbox.PutResult {
	w.t.Helper()
	results, errs := w.box.PutAll(context.Background(), puts)
	for _, err := range errs {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return results
}

// says puts a message and wants what becomes of it. The process has room.
func (w *world) says(want chat.Disposition, author chat.Actor, text string, hows ...how) mailbox.PutResult {
	w.t.Helper()
	return w.putOne(want, w.asPut(w.message(author, text, hows...), true))
}

// saysNoRoom is says of a process that has no room for a turn.
func (w *world) saysNoRoom(want chat.Disposition, author chat.Actor, text string, hows ...how) mailbox.PutResult {
	w.t.Helper()
	return w.putOne(want, w.asPut(w.message(author, text, hows...), false))
}

func (w *world) putOne(want chat.Disposition, p mailbox.Put) mailbox.PutResult {
	w.t.Helper()
	r := w.put(p)[0]
	if r.Disposition != want {
		w.t.Fatalf("%s says %q: %s, want %s", p.Message.Author.User, p.Message.Text, r.Disposition, want)
	}
	return r
}

// starts puts a message that starts a turn.
func (w *world) starts(author chat.Actor, text string, hows ...how) *run {
	w.t.Helper()
	return w.runs(w.says(chat.Start, author, text, hows...).Claimed)
}

func (w *world) room() mailbox.Next { return mailbox.Next{Claim: true, Turn: w.turnID()} }

func (w *world) noRoom() mailbox.Next { return mailbox.Next{Turn: w.turnID()} }

// claim claims what is due in the conversation, for a replica.
func (w *world) claim(box *mailbox.Box) mailbox.ClaimResult {
	w.t.Helper()
	r, err := box.Claim(context.Background(), w.conv, w.room(), 2)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// claimLate waits by the store's clock until the running turn's lease has
// ended, and claims it.
func (w *world) claimLate(box *mailbox.Box) mailbox.ClaimResult {
	w.t.Helper()
	for {
		r := w.claim(box)
		if r.Later == 0 {
			return r
		}
		<-time.After(r.Later)
	}
}

// history is every closed turn, oldest first: "ACTOR OUTCOME", then its log.
func (w *world) history() [][]string {
	w.t.Helper()
	var all [][]string
	_, err := w.box.History(context.Background(), w.conv, 1<<40, func(c mailbox.ClosedTurn) bool {
		all = append(all, append([]string{string(c.Actor.User) + " " + string(c.Outcome)}, lines(c.Log)...))
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Reverse(all)
	return all
}

// lines are a log's items for reading: how each was taken, and its text.
func lines(items []mailbox.Item) []string {
	all := []string{}
	for _, i := range items {
		text := string(i.Body)
		var m chat.Message
		if i.Taken != mailbox.EntryItem && json.Unmarshal(i.Body, &m) == nil {
			text = m.Text
		}
		all = append(all, string(i.Taken)+" "+text)
	}
	return all
}

func (w *world) same(what string, want, got any) {
	w.t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		w.t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// wantLog compares a log with lines separated by " | ".
func (w *world) wantLog(want string, items []mailbox.Item) {
	w.t.Helper()
	w.same("log", want, strings.Join(lines(items), " | "))
}

func (w *world) wantHistory(want ...string) {
	w.t.Helper()
	got := []string{}
	for _, turn := range w.history() {
		got = append(got, strings.Join(turn, " | "))
	}
	w.same("closed turns", want, got)
}
