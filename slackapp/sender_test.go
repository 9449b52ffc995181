package slackapp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

func TestP7_InOrderPerDestination(t *testing.T) {
	b := newBench(t, nil)
	dm := func(n int, s string) chat.Part {
		p := b.part(n, s)
		p.To = chat.Destination{DM: simulator.Bob}
		return p
	}
	b.send(false, b.part(1, "one"), dm(2, "uno"), b.part(3, "**two**"), dm(4, "due"), b.part(5, "three"))
	b.expect(b.posted(simulator.General, b.root), "one", "**two**", "three")
	b.expect(b.posted(simulator.BobDM, ""), "uno", "due")
	for _, m := range b.sim.Messages(simulator.General, b.root)[1:] {
		if m.UnfurlLinks == nil || *m.UnfurlLinks || m.UnfurlMedia == nil || *m.UnfurlMedia {
			t.Errorf("%q may be unfurled", m.Text)
		}
		if m.Text == "" {
			t.Error("a post has no text beside its blocks")
		}
	}
	for _, c := range b.sim.Calls("chat.postMessage") {
		if c.Args["parse"] != "" || c.Args["link_names"] != "" {
			t.Errorf("parse %q, link_names %q; want neither", c.Args["parse"], c.Args["link_names"])
		}
	}
	if n := len(b.sim.Calls("conversations.open")); n != 1 {
		t.Errorf("the DM was opened %d times", n)
	}
}

// TestP7_DestinationsApart: a thread that Slack will not have delays no DM.
func TestP7_DestinationsApart(t *testing.T) {
	b := newBench(t, nil)
	release := b.sim.Hold("conversations.open")
	defer release()
	p := b.part(1, "private")
	p.To = chat.Destination{DM: simulator.Bob}
	b.begin(false, p, b.part(2, "public"))
	if _, err := b.sim.WaitMessage(b.ctx, simulator.ByBot(simulator.General, b.root)); err != nil {
		t.Fatal(err)
	}
	release()
	b.wait(b.box.released)
	b.expect(b.posted(simulator.BobDM, ""), "private")
}

func TestLadder(t *testing.T) {
	const markdown = "**Bold** <!channel> [x](https://e.com)"
	for rung, want := range []string{
		"**Bold** @\u2060channel [x](https://e.com)",
		"*Bold* @\u2060channel <https://e.com|x>",
		"Bold @\u2060channel x (https://e.com)",
	} {
		for _, code := range []string{"invalid_blocks", "msg_blocks_too_long", "msg_too_long", "some_new_error"} {
			t.Run(fmt.Sprint(rung, code), func(t *testing.T) {
				b := newBench(t, nil)
				if rung > 0 {
					b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Times: rung, Error: code})
				}
				b.send(false, b.part(1, markdown))
				b.expect(b.posted(simulator.General, b.root), want)
			})
		}
	}
}

func TestBlankPart(t *testing.T) {
	b := newBench(t, nil)
	b.send(false, b.part(1, " \n"))
	b.expect(b.posted(simulator.General, b.root), slackapp.TextNoAnswer())
}

// TestP7_Once: whatever happens to the answer, the part is posted once.
func TestP7_Once(t *testing.T) {
	post, replies := "chat.postMessage", "conversations.replies"
	for name, faults := range map[string][]simulator.Fault{
		"answer lost":           {{Method: post, LoseAnswer: true}},
		"answer late":           {{Method: post, Delay: 3 * time.Second}},
		"lost twice":            {{Method: post, LoseAnswer: true, Times: 2}},
		"failed inside":         {{Method: post, Error: "internal_error"}, {Method: post, Error: "fatal_error"}},
		"server error":          {{Method: post, Status: 500}, {Method: post, Status: 503}},
		"lost, and looks fail":  {{Method: post, LoseAnswer: true}, {Method: replies, Status: 500, Times: 2}, {Method: replies, Error: "internal_error"}, {Method: replies, LoseAnswer: true}},
		"error, and looks fail": {{Method: post, Status: 502}, {Method: replies, Error: "fatal_error", Times: 3}},
		"lost, and looks limited": {
			{Method: post, LoseAnswer: true}, {Method: replies, Status: 429, RetryAfter: 1},
		},
		"lost, and looks refused for want of a scope": {{Method: post, LoseAnswer: true}, {Method: replies, Error: "missing_scope", Times: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			for _, f := range faults {
				b.sim.Fail(f)
			}
			b.send(false, b.part(1, "first"), b.part(2, "second"))
			b.expect(b.posted(simulator.General, b.root), "first", "second")
		})
	}
}

// TestP7_NoPostBesideAnOpenOne: after a failure that leaves it open whether the
// part is posted, the next attempt waits for the deadline of the last.
func TestP7_NoPostBesideAnOpenOne(t *testing.T) {
	b := newBench(t, nil)
	start := time.Now()
	b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Status: 500})
	b.send(false, b.part(1, "late"))
	calls := b.sim.Calls("chat.postMessage")
	if len(calls) != 2 {
		t.Fatalf("%d attempts, want 2", len(calls))
	}
	if wait := calls[1].At.Sub(start); wait < 700*time.Millisecond {
		t.Errorf("the second attempt came %v after the lease began, before the first one's deadline", wait)
	}
	if looks := b.sim.Calls("conversations.replies"); len(looks) != 1 || looks[0].At.Sub(start) < 700*time.Millisecond {
		t.Errorf("looked %d times, or too early", len(looks))
	}
}

func TestP7_LimitsDelay(t *testing.T) {
	b := newBench(t, nil)
	b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Status: 429, RetryAfter: 1})
	b.sim.Fail(simulator.Fault{Method: "conversations.replies", Error: "internal_error", Times: -1})
	b.send(false, b.part(1, "a"), b.part(2, "b"))
	b.expect(b.posted(simulator.General, b.root), "a", "b")
	calls := b.sim.Calls("chat.postMessage")
	if wait := calls[1].At.Sub(calls[0].At); wait < time.Second {
		t.Errorf("tried again after %v, want what Slack asked for", wait)
	}
}

// TestP7_SuccessorLooks: what an earlier sender has posted is found by its id.
func TestP7_SuccessorLooks(t *testing.T) {
	b := newBench(t, nil)
	b.postAs(b.part(1, "").ID, "first")
	b.send(true, b.part(1, "first"), b.part(2, "second"))
	b.expect(b.posted(simulator.General, b.root), "first", "second")
}

// TestP7_SuccessorLooksForEach: an earlier sender may have posted several parts
// of which the mailbox did not learn.
func TestP7_SuccessorLooksForEach(t *testing.T) {
	b := newBench(t, nil)
	b.postAs(b.part(1, "").ID, "first")
	b.postAs(b.part(2, "").ID, "second")
	b.send(true, b.part(1, "first"), b.part(2, "second"), b.part(3, "third"))
	b.expect(b.posted(simulator.General, b.root), "first", "second", "third")
}

// TestP7_ForeignMetadata: a post of another app that carries the part's id is
// not taken for it; a person's token in an app's hands writes no post of ours.
func TestP7_ForeignMetadata(t *testing.T) {
	b := newBench(t, nil)
	b.sim.Say(simulator.Deploybot, simulator.General, "first", simulator.SayOptions{
		Thread: b.root, Quiet: true, Author: simulator.AsBot(),
		Metadata: `{"event_type":"reeve_part","event_payload":{"id":"` + b.part(1, "").ID + `"}}`,
	})
	b.sim.Say(simulator.Alice, simulator.General, "first", simulator.SayOptions{
		Thread: b.root, Quiet: true,
		Metadata: `{"event_type":"reeve_part","event_payload":{"id":"` + b.part(1, "").ID + `~0"}}`,
	})
	b.send(true, b.part(1, "first"))
	var ours []string
	for _, m := range b.sim.Messages(simulator.General, b.root) {
		if m.User == "UBOT" {
			ours = append(ours, m.Text)
		}
	}
	b.expect(ours, "first")
	b.counted("parts found", 0)
}

func TestP7_SuccessorPostsWhatIsNotThere(t *testing.T) {
	b := newBench(t, nil)
	dm := b.part(2, "private")
	dm.To = chat.Destination{DM: simulator.Bob}
	b.send(true, b.part(1, "first"), dm)
	b.expect(b.posted(simulator.General, b.root), "first")
	b.expect(b.posted(simulator.BobDM, ""), "private")
}

// TestThreadGone: a reply outlives the message that asked for it.
func TestThreadGone(t *testing.T) {
	for name, fault := range map[string]simulator.Fault{
		"deleted":                 {},
		"deleted, and refused":    {Method: "chat.postMessage", Error: "thread_not_found"},
		"deleted, and no answer":  {Method: "chat.postMessage", LoseAnswer: true},
		"refused for the message": {Method: "chat.postMessage", Error: "cannot_reply_to_message"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.sim.Delete(simulator.General, b.root)
			if fault.Method != "" {
				b.sim.Fail(fault)
			}
			b.send(false, b.part(1, "answer"))
			all := append(b.posted(simulator.General, ""), b.posted(simulator.General, b.root)...)
			b.expect(all, "answer")
		})
	}
}

func TestPartsThatComeLater(t *testing.T) {
	b := newBench(t, nil)
	release := b.sim.Hold("chat.postMessage")
	defer release()
	b.begin(false, b.part(1, "one"))
	if err := b.sim.WaitHeld(b.ctx, "chat.postMessage", 1); err != nil {
		t.Fatal(err)
	}
	b.box.add(b.part(2, "two"))
	release()
	b.wait(b.box.released)
	b.expect(b.posted(simulator.General, b.root), "one", "two")
}

// TestPartsThatComeWhileAnotherIsStuck: a renewal tells of them.
func TestPartsThatComeWhileAnotherIsStuck(t *testing.T) {
	b := newBench(t, nil)
	release := b.sim.Hold("conversations.open")
	defer release()
	stuck := b.part(1, "private")
	stuck.To = chat.Destination{DM: simulator.Bob}
	b.begin(false, stuck)
	if err := b.sim.WaitHeld(b.ctx, "conversations.open", 1); err != nil {
		t.Fatal(err)
	}
	b.box.add(b.part(2, "public"))
	if _, err := b.sim.WaitMessage(b.ctx, simulator.ByBot(simulator.General, b.root)); err != nil {
		t.Fatal(err)
	}
	release()
	b.wait(b.box.released)
}

// TestLeaseLost: a sender whose mailbox is away posts nothing once its lease
// cannot be trusted any more.
func TestLeaseLost(t *testing.T) {
	b := newBench(t, nil)
	b.box.fails, b.box.err = -1, errors.New("redis is away")
	b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: "team_added_to_org", Times: -1})
	start := time.Now()
	b.begin(false, b.part(1, "late"))
	// The drain ends by itself when the lease has.
	b.waitEnd(start.Add(time.Second))
	for _, c := range b.sim.Calls("chat.postMessage") {
		if after := c.At.Sub(start); after > 850*time.Millisecond {
			t.Errorf("an attempt %v after the last renewal, beyond the trusted time", after)
		}
	}
	if len(b.box.left()) != 1 {
		t.Error("the part is gone")
	}
}

// frozen is the context of a process that was frozen past its deadline: nothing
// has told it yet.
type frozen struct{ context.Context }

func (frozen) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }
func (frozen) Done() <-chan struct{}       { return nil }
func (frozen) Err() error                  { return nil }

// TestP7_NothingIsPostedAfterItsDeadline: whoever sleeps from its last look at the
// clock until after the deadline has posted nothing.
func TestP7_NothingIsPostedAfterItsDeadline(t *testing.T) {
	b := newBench(t, nil)
	for range 2 { // by a new connection, and by one that was used before
		if _, _, err := b.api.PostMessageContext(frozen{b.ctx}, simulator.General, slack.MsgOptionText("late", false)); err == nil {
			t.Error("it says that it was posted")
		}
		if _, err := b.api.AuthTestContext(b.ctx); err != nil {
			t.Fatal(err)
		}
	}
	b.expect(b.posted(simulator.General, ""))
}

func TestStaleLeaseEndsTheDrain(t *testing.T) {
	b := newBench(t, nil)
	b.box.fails, b.box.err = -1, fmt.Errorf("sent: %w", mailbox.ErrStale)
	b.sim.Fail(simulator.Fault{Method: "chat.postMessage", Error: "team_added_to_org", Times: -1})
	b.begin(false, b.part(1, "x"))
	if _, err := b.sim.WaitFor(b.ctx, func(e simulator.Event) bool {
		return e.Kind == simulator.Called && e.Call.Method == "chat.postMessage"
	}); err != nil {
		t.Fatal(err)
	}
	b.waitEnd(time.Now().Add(300 * time.Millisecond))
	b.box.mu.Lock()
	defer b.box.mu.Unlock()
	if b.box.calls != 1 {
		t.Errorf("the mailbox was asked %d times under a lease that is another's, want 1", b.box.calls)
	}
}

// TestShutdown: the attempt under way ends and is marked; no other begins.
func TestShutdown(t *testing.T) {
	ends := make(chan struct{})
	b := newBench(t, func(o *slackapp.SenderOptions) {
		o.Log = slog.New(&logged{Handler: o.Log.Handler(), begins: "sender ends", seen: ends})
		o.LeaseTTL, o.LeaseMargin, o.RenewEvery = 20*time.Second, time.Second, 5*time.Second
	})
	release := b.sim.Hold("chat.postMessage")
	defer release()
	b.begin(false, b.part(1, "one"), b.part(2, "two"))
	if err := b.sim.WaitHeld(b.ctx, "chat.postMessage", 1); err != nil {
		t.Fatal(err)
	}
	b.stop()
	b.wait(ends)
	select {
	case <-b.ended:
		t.Fatal("the sender ended in the middle of an attempt")
	default:
	}
	release()
	b.wait(b.ended)
	b.expect(b.posted(simulator.General, b.root), "one")
	if left := b.box.left(); len(left) != 1 || left[0].ID != b.part(2, "").ID {
		t.Errorf("left in the outbox: %v, want the second part", left)
	}
	b.sender.Post(mailbox.SendLease{Start: time.Now()}, b.box.left())
	b.expect(b.posted(simulator.General, b.root), "one")
}

// logged closes seen with the first line that begins so.
type logged struct {
	slog.Handler
	begins string
	seen   chan struct{}
	once   sync.Once
}

func (l *logged) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, l.begins) {
		l.once.Do(func() { close(l.seen) })
	}
	return l.Handler.Handle(ctx, r)
}

// TestManyConversations drains many outboxes at once.
func TestManyConversations(t *testing.T) {
	b := newBench(t, func(o *slackapp.SenderOptions) { o.Calls = 8 })
	var parts []chat.Part
	for i := range 50 {
		p := b.part(i, fmt.Sprint("answer ", i))
		p.To.Thread = chat.TS(b.sim.Say(simulator.Alice, simulator.General, "q", simulator.SayOptions{Quiet: true}))
		parts = append(parts, p)
	}
	b.send(false, parts...)
	for i, p := range parts {
		b.expect(b.posted(simulator.General, string(p.To.Thread)), fmt.Sprint("answer ", i))
	}
}

func TestSecretsAreNotLogged(t *testing.T) {
	var logs strings.Builder
	b := newBench(t, func(o *slackapp.SenderOptions) {
		o.Log = slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	b.sim.Fail(simulator.Fault{Method: "chat.postMessage", LoseAnswer: true})
	b.send(false, b.part(1, "the text of the answer"))
	b.stop()
	b.wait(b.ended)
	for _, secret := range []string{b.sim.BotToken(), "the text of the answer"} {
		if strings.Contains(logs.String(), secret) {
			t.Errorf("the log has %q:\n%s", secret, &logs)
		}
	}
}
