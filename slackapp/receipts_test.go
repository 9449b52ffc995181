package slackapp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

func (b *bench) message(thread, ts string, who chat.UserID) chat.Message {
	return chat.Message{
		ID:           chat.MessageID{Team: simulator.HomeTeam, Channel: simulator.General, TS: chat.TS(ts)},
		Conversation: chat.Conversation{Team: simulator.HomeTeam, Channel: simulator.General, Root: chat.TS(thread)},
		Author:       chat.Person(simulator.HomeTeam, who), Addressed: true,
	}
}

func (b *bench) said(text string) string {
	return b.sim.Say(simulator.Bob, simulator.General, text, simulator.SayOptions{Quiet: true, Thread: b.root})
}

// receipts are the reactions that stand on a message.
func (b *bench) receipts(ts string) string {
	for _, m := range b.sim.Messages(simulator.General, b.root) {
		if m.TS == ts {
			var names []string
			for _, r := range m.Reactions {
				names = append(names, r.Name)
			}
			slices.Sort(names)
			return strings.Join(names, " ")
		}
	}
	return "no such message"
}

func (b *bench) waitReceipts(ts, want string) {
	b.Helper()
	if err := b.sim.WaitUntil(b.ctx, func() bool { return b.receipts(ts) == want }); err != nil {
		b.Fatalf("receipts %q, want %q", b.receipts(ts), want)
	}
}

func newReceipts(b *bench) (r *slackapp.Receipts, run func()) {
	r = slackapp.NewReceipts(slackapp.ReceiptOptions{Client: b.api, Rate: 1000, Burst: 100, Most: 40})
	return r, func() {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = r.Run(ctx)
		}()
		b.Cleanup(func() {
			cancel()
			<-ended
		})
	}
}

func change(state runtime.ShownState, messages ...chat.Message) runtime.Change {
	c := runtime.Change{State: state, Turn: "t_x"}
	for _, m := range messages {
		c.Conversation, c.Actor = m.Conversation, m.Author
		c.Messages = append(c.Messages, m.ID)
	}
	return c
}

func TestReceiptsOfATurn(t *testing.T) {
	for end, want := range map[runtime.ShownState]string{
		runtime.ShownDone: "white_check_mark", runtime.ShownEnded: "", runtime.ShownNotAllowed: "",
	} {
		t.Run(string(end), func(t *testing.T) {
			b := newBench(t, nil)
			r, run := newReceipts(b)
			run()
			first, second := b.message(b.root, b.said("one"), simulator.Bob), b.message(b.root, b.said("two"), simulator.Bob)
			r.Told([]runtime.Outcome{{Message: first, Disposition: chat.Wait}})
			b.waitReceipts(string(first.ID.TS), "hourglass_flowing_sand")
			r.Told([]runtime.Outcome{{Message: second, Disposition: chat.Wait}})
			b.waitReceipts(string(second.ID.TS), "hourglass_flowing_sand")
			b.waitReceipts(string(first.ID.TS), "")
			r.Show(change(runtime.ShownStarted, first, second))
			b.waitReceipts(string(second.ID.TS), "eyes")
			r.Show(change(end, first, second))
			b.waitReceipts(string(second.ID.TS), want)
			b.waitReceipts(string(first.ID.TS), "")
		})
	}
}

// TestReceiptsOfAnotherReplica: what a replica did not set itself goes too.
func TestReceiptsOfAnotherReplica(t *testing.T) {
	b := newBench(t, nil)
	one, run := newReceipts(b)
	run()
	other, run := newReceipts(b)
	run()
	m := b.message(b.root, b.said("q"), simulator.Bob)
	one.Told([]runtime.Outcome{{Message: m, Disposition: chat.Wait}})
	b.waitReceipts(string(m.ID.TS), "hourglass_flowing_sand")
	other.Show(change(runtime.ShownStarted, m))
	b.waitReceipts(string(m.ID.TS), "eyes")
}

// TestReceiptsOfAChangeOfMind: a message that was read waits again, and one that
// waited is read after all.
func TestReceiptsOfAChangeOfMind(t *testing.T) {
	b := newBench(t, nil)
	r, run := newReceipts(b)
	run()
	steer, waits := b.message(b.root, b.said("one"), simulator.Bob), b.message(b.root, b.said("two"), simulator.Carol)
	r.Told([]runtime.Outcome{{Message: steer, Disposition: chat.SteerContext}, {Message: waits, Disposition: chat.Wait}})
	b.waitReceipts(string(steer.ID.TS), "eyes")
	b.waitReceipts(string(waits.ID.TS), "hourglass_flowing_sand")
	r.Show(change(runtime.ShownWaits, steer))
	b.waitReceipts(string(steer.ID.TS), "hourglass_flowing_sand")
	r.Show(change(runtime.ShownJoins, waits))
	b.waitReceipts(string(waits.ID.TS), "eyes")
}

// TestReceiptsCoalesce: what is undone before it was sent is never sent.
func TestReceiptsCoalesce(t *testing.T) {
	b := newBench(t, nil)
	r, run := newReceipts(b)
	m := b.message(b.root, b.said("q"), simulator.Bob)
	r.Told([]runtime.Outcome{{Message: m, Disposition: chat.Start}})
	r.Show(change(runtime.ShownStarted, m))
	r.Show(change(runtime.ShownDone, m))
	run()
	b.waitReceipts(string(m.ID.TS), "white_check_mark")
	if calls := append(b.sim.Calls("reactions.add"), b.sim.Calls("reactions.remove")...); len(calls) != 1 {
		t.Errorf("%d calls, want 1: %v", len(calls), calls)
	}
}

// TestReceiptsDrop: what does not fit is dropped, and nobody waits for it.
func TestReceiptsDrop(t *testing.T) {
	b := newBench(t, nil)
	r, run := newReceipts(b)
	var last string
	for range 100 {
		last = b.said("q")
		r.Told([]runtime.Outcome{{Message: b.message(b.root, last, simulator.Bob), Disposition: chat.Start}})
	}
	run()
	if err := b.sim.WaitUntil(b.ctx, func() bool { return len(b.sim.Calls("reactions.add")) == 40 }); err != nil {
		t.Fatal(err)
	}
	if got := b.receipts(last); got != "" {
		t.Errorf("the last message got %q, want nothing", got)
	}
	// There is room again.
	next := b.said("q")
	r.Told([]runtime.Outcome{{Message: b.message(b.root, next, simulator.Bob), Disposition: chat.Start}})
	b.waitReceipts(next, "eyes")
}

func TestReceiptsFaults(t *testing.T) {
	b := newBench(t, nil)
	r, run := newReceipts(b)
	run()
	b.sim.Fail(simulator.Fault{Method: "reactions.add", Status: 429, RetryAfter: 1})
	b.sim.Fail(simulator.Fault{Method: "reactions.add", Error: "already_reacted"})
	b.sim.Fail(simulator.Fault{Method: "reactions.add", Error: "message_not_found"})
	var ts []string
	for i := range 3 {
		ts = append(ts, b.said(fmt.Sprint(i)))
		r.Told([]runtime.Outcome{{Message: b.message(b.root, ts[i], simulator.Bob), Disposition: chat.SteerOwn}})
	}
	b.waitReceipts(ts[2], "eyes")
	if n := len(b.sim.Calls("reactions.add")); n != 4 {
		t.Errorf("%d calls, want 4: the limited one again, the others once", n)
	}
}

func TestReceiptsOfOutcomes(t *testing.T) {
	b := newBench(t, nil)
	r, run := newReceipts(b)
	run()
	want := map[chat.Disposition]string{
		chat.Start: "eyes", chat.SteerOwn: "eyes", chat.SteerContext: "eyes", chat.JoinParked: "eyes", chat.EndWait: "eyes",
		chat.Wait: "hourglass_flowing_sand", chat.WithdrawOwn: "white_check_mark",
		chat.Stop: "", chat.ReplaceText: "", chat.Withdraw: "", chat.Blank: "", chat.ClaimKey: "", chat.NothingRunning: "", chat.AsContext: "", chat.Refused: "", chat.Duplicate: "", chat.Ignored: "",
	}
	ts := map[chat.Disposition]string{}
	for d := range want {
		ts[d] = b.said(string(d))
		r.Told([]runtime.Outcome{{Message: b.message(b.root, ts[d], simulator.Bob), Disposition: d}})
	}
	for d, w := range want {
		b.waitReceipts(ts[d], w)
	}
}

// What is taken back is not dealt with: its marks go.
func TestReceiptsOfWhatIsTakenBack(t *testing.T) {
	b := newBench(t, nil)
	r, run := newReceipts(b)
	run()
	waiting, steer, other := b.said("waits"), b.said("steers"), b.said("waits too")
	for ts, d := range map[string]chat.Disposition{waiting: chat.Wait, steer: chat.SteerOwn, other: chat.Wait} {
		who := map[string]chat.UserID{waiting: simulator.Bob, steer: simulator.Bob, other: simulator.Carol}[ts]
		r.Told([]runtime.Outcome{{Message: b.message(b.root, ts, who), Disposition: d}})
	}
	b.waitReceipts(waiting, "hourglass_flowing_sand")
	b.waitReceipts(steer, "eyes")
	b.waitReceipts(other, "hourglass_flowing_sand")
	r.Told([]runtime.Outcome{
		{Message: b.message(b.root, waiting, simulator.Bob), Disposition: chat.Withdraw},
		{Message: b.message(b.root, b.said("stop"), simulator.Bob), Disposition: chat.Stop, Withdrawn: []chat.MessageID{b.message(b.root, steer, simulator.Bob).ID}},
	})
	b.waitReceipts(waiting, "")
	b.waitReceipts(steer, "")
	b.waitReceipts(other, "hourglass_flowing_sand")
}

// memory remembers for ever, and what it was asked.
type memory struct {
	mu   sync.Mutex
	said map[string]time.Duration
	err  error
}

func (m *memory) Once(_ context.Context, name string, ttl time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return false, m.err
	}
	_, known := m.said[name]
	m.said[name] = ttl
	return !known, nil
}

func newNotifier(b *bench) (*slackapp.Notifier, *memory) {
	m := &memory{said: map[string]time.Duration{}}
	n := slackapp.NewNotifier(slackapp.NotifierOptions{Client: b.api, Memory: m})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = n.Run(ctx)
	}()
	b.Cleanup(func() {
		cancel()
		<-ended
	})
	return n, m
}

func TestNotices(t *testing.T) {
	alice := chat.Person(simulator.HomeTeam, simulator.Alice)
	stop := func(m chat.Message) chat.Message { m.Stop = true; return m }
	barred := func(m chat.Message, rule string) chat.Message { m.Standing, m.Rule = chat.ContextOnly, rule; return m }
	b := newBench(t, nil)
	m := b.message(b.root, b.said("q"), simulator.Bob)
	tests := []struct {
		name  string
		o     runtime.Outcome
		want  string
		every time.Duration
	}{
		{"waits", runtime.Outcome{Message: m, Disposition: chat.Wait, Runs: alice}, slackapp.TextWaiting(alice), 24 * time.Hour},
		{"full", runtime.Outcome{Message: m, Disposition: chat.Refused, Runs: alice}, slackapp.TextFull(), time.Minute},
		{"not yours", runtime.Outcome{Message: stop(m), Disposition: chat.Refused, Runs: alice}, slackapp.TextNotYours(alice), time.Minute},
		{"nothing running", runtime.Outcome{Message: stop(m), Disposition: chat.NothingRunning}, slackapp.TextNothingRunning(false), time.Minute},
		{"stopped too late", runtime.Outcome{Message: stop(m), Disposition: chat.NothingRunning, Runs: alice}, slackapp.TextNothingRunning(true), time.Minute},
		{"not among the users", runtime.Outcome{Message: barred(m, "user_not_allowed"), Disposition: chat.Ignored}, slackapp.TextNotAllowed("user_not_allowed"), 24 * time.Hour},
		{"in a shared channel", runtime.Outcome{Message: barred(m, "external_channel"), Disposition: chat.AsContext}, slackapp.TextNotAllowed("external_channel"), 24 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, nil)
			n, mem := newNotifier(b)
			tt.o.Message.Conversation.Root = chat.TS(b.root)
			n.Told(b.ctx, []runtime.Outcome{tt.o, tt.o})
			if err := b.sim.WaitUntil(b.ctx, func() bool { return len(b.sim.Ephemerals(simulator.Bob)) > 0 }); err != nil {
				t.Fatal(err)
			}
			got := b.sim.Ephemerals(simulator.Bob)
			if len(got) != 1 || got[0].Text != tt.want || got[0].ThreadTS != b.root {
				t.Errorf("told %+v, want once %q in the thread", got, tt.want)
			}
			mem.mu.Lock()
			defer mem.mu.Unlock()
			for name, every := range mem.said {
				if every != tt.every || !strings.Contains(name, simulator.Bob) {
					t.Errorf("remembered as %q for %v, want %v", name, every, tt.every)
				}
			}
		})
	}
}

// TestNoNotice: what can be seen anyway is not said.
func TestNoNotice(t *testing.T) {
	b := newBench(t, nil)
	n, mem := newNotifier(b)
	m := b.message(b.root, b.said("q"), simulator.Bob)
	unaddressed := m
	unaddressed.Addressed = false
	app := m
	app.Author = chat.SystemActor("app A1")
	outcomes := []runtime.Outcome{
		{Message: m, Disposition: chat.Wait, Runs: m.Author}, {Message: m, Disposition: chat.Start}, {Message: m, Disposition: chat.Stop, Runs: m.Author},
		{Message: unaddressed, Disposition: chat.NothingRunning}, {Message: app, Disposition: chat.Refused}, {Message: m, Disposition: chat.Duplicate},
	}
	n.Told(b.ctx, outcomes)
	n.Show(runtime.Change{State: runtime.ShownNotAllowed, Conversation: m.Conversation, Actor: m.Author, Why: "a guest account"})
	if err := b.sim.WaitUntil(b.ctx, func() bool { return len(b.sim.Ephemerals(simulator.Bob)) > 0 }); err != nil {
		t.Fatal(err)
	}
	if got := b.sim.Ephemerals(simulator.Bob); len(got) != 1 || got[0].Text != slackapp.TextNotAllowed("a guest account") {
		t.Errorf("told %+v", got)
	}
	mem.mu.Lock()
	defer mem.mu.Unlock()
	if len(mem.said) != 1 {
		t.Errorf("remembered %v, want one", mem.said)
	}
}

// TestNoticeWithoutMemory: when nobody can say whether it was said, it is not.
func TestNoticeWithoutMemory(t *testing.T) {
	b := newBench(t, nil)
	n, mem := newNotifier(b)
	mem.err = errors.New("redis is away")
	m := b.message(b.root, b.said("q"), simulator.Bob)
	n.Told(b.ctx, []runtime.Outcome{{Message: m, Disposition: chat.Refused}})
	mem.mu.Lock()
	mem.err = nil
	mem.mu.Unlock()
	n.Told(b.ctx, []runtime.Outcome{{Message: m, Disposition: chat.NothingRunning}})
	if err := b.sim.WaitUntil(b.ctx, func() bool { return len(b.sim.Ephemerals(simulator.Bob)) > 0 }); err != nil {
		t.Fatal(err)
	}
}

func mrkdwn(thread, text string) []slack.MsgOption {
	return []slack.MsgOption{slack.MsgOptionTS(thread), slack.MsgOptionText(text, false)}
}
