package slackapp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"go.uber.org/goleak"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// outbox is the mailbox's side of sending, in memory.
type outbox struct {
	mu       sync.Mutex
	parts    []chat.Part
	unsent   []mailbox.Posted // with which the sender has done so
	posted   []mailbox.Posted // where the others stand
	fails    int              // calls that go wrong; for ever when negative
	err      error            // with which they do
	calls    int
	released chan struct{} // closed when the lease is
}

func (o *outbox) Release(ctx context.Context, l mailbox.SendLease, done ...mailbox.Posted) error {
	_, err := o.Sent(ctx, l, done...)
	return err
}

func newOutbox(parts ...chat.Part) *outbox {
	return &outbox{parts: parts, released: make(chan struct{})}
}

func (o *outbox) Sent(_ context.Context, _ mailbox.SendLease, done ...mailbox.Posted) ([]chat.Part, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	if o.fails != 0 {
		o.fails--
		return nil, o.err
	}
	for _, d := range done {
		i := slices.IndexFunc(o.parts, func(p chat.Part) bool { return p.ID == d.ID })
		if i < 0 {
			continue
		}
		p := o.parts[i]
		o.parts = slices.Delete(o.parts, i, i+1)
		if d.Unsent == nil {
			o.posted = append(o.posted, d)
			continue
		}
		o.unsent = append(o.unsent, d)
		if d.Unsent.Tell != "" {
			o.parts = append(o.parts, chat.Part{ID: d.ID + ".dm", Turn: p.Turn, To: chat.Destination{DM: simulator.Alice}, Markdown: d.Unsent.Tell})
		}
	}
	if len(o.parts) == 0 {
		close(o.released)
	}
	return slices.Clone(o.parts), nil
}

// PostedAt knows the cards that stand somewhere.
func (o *outbox) PostedAt(_ context.Context, _ chat.Conversation, part string) (chat.ChannelID, chat.TS, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.posted {
		if p.ID == part && p.Card && p.TS != "" {
			return p.Channel, p.TS, true, nil
		}
	}
	return "", "", false, nil
}

func (o *outbox) add(p chat.Part) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.parts = append(o.parts, p)
}

func (o *outbox) left() []chat.Part {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.parts)
}

// bench is a sender between an outbox and a simulated Slack.
type bench struct {
	*testing.T
	sim    *simulator.Server
	box    *outbox
	api    *slack.Client
	sender *slackapp.Sender
	stop   context.CancelFunc // lets the sender end
	ended  chan struct{}
	ctx    context.Context
	root   string // a thread in General

	mu     sync.Mutex
	counts map[string]int // by name, label
}

func newBench(t *testing.T, change func(*slackapp.SenderOptions)) *bench {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, leaks) })
	b := &bench{T: t, sim: simulator.ForTest(t, simulator.Options{}), ended: make(chan struct{}), counts: map[string]int{}}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	b.api = slackapp.NewClient(slackapp.ClientOptions{BotToken: b.sim.BotToken(), APIURL: b.sim.APIURL()})
	self, err := slackapp.WhoAmI(b.ctx, b.api)
	if err != nil {
		t.Fatal(err)
	}
	b.root = b.sim.Say(simulator.Alice, simulator.General, "hello", simulator.SayOptions{Quiet: true})
	b.box = newOutbox()
	o := slackapp.SenderOptions{
		Outbox: b, Client: b.api, Self: self, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		LeaseTTL: time.Second, LeaseMargin: 200 * time.Millisecond, RenewEvery: 300 * time.Millisecond,
		Backoff: time.Millisecond, BackoffCap: 20 * time.Millisecond, Rate: 1000, Burst: 100,
		Count: func(name, label string, n int) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.counts[name+" "+label] += n
		},
	}
	if change != nil {
		change(&o)
	}
	b.sender = slackapp.NewSender(o)
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	go func() {
		defer close(b.ended)
		_ = b.sender.Run(ctx)
	}()
	t.Cleanup(func() {
		b.stop()
		<-b.ended
	})
	return b
}

// Sent hands on to the outbox of the day.
func (b *bench) Sent(ctx context.Context, l mailbox.SendLease, done ...mailbox.Posted) ([]chat.Part, error) {
	return b.box.Sent(ctx, l, done...)
}

func (b *bench) Release(ctx context.Context, l mailbox.SendLease, done ...mailbox.Posted) error {
	return b.box.Release(ctx, l, done...)
}

func (b *bench) PostedAt(ctx context.Context, in chat.Conversation, part string) (chat.ChannelID, chat.TS, bool, error) {
	return b.box.PostedAt(ctx, in, part)
}

func (b *bench) part(n int, markdown string) chat.Part {
	const turn = "t_01hzzzzzzzzzzzzzzzzzzzzzzz"
	return chat.Part{
		ID: fmt.Sprintf("%s/%d", turn, n), Turn: turn, Markdown: markdown,
		To: chat.Destination{Channel: simulator.General, Thread: chat.TS(b.root)},
	}
}

// send posts parts and waits until the outbox is empty.
func (b *bench) send(look bool, parts ...chat.Part) {
	b.Helper()
	b.begin(look, parts...)
	b.wait(b.box.released)
}

func (b *bench) begin(look bool, parts ...chat.Part) {
	b.box.mu.Lock()
	b.box.parts = append(b.box.parts, parts...)
	b.box.mu.Unlock()
	b.sender.Post(mailbox.SendLease{
		Conversation: chat.Conversation{Team: simulator.HomeTeam, Channel: simulator.General, Root: chat.TS(b.root)},
		Token:        "1-a", Start: time.Now(), Look: look,
	}, parts)
}

// postAs posts what an earlier sender could have.
func (b *bench) postAs(id, text string) {
	b.Helper()
	_, _, err := b.api.PostMessageContext(b.ctx, simulator.General, slack.MsgOptionTS(b.root), slack.MsgOptionText(text, false),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reeve_part", EventPayload: map[string]any{"id": id}}))
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) wait(c <-chan struct{}) {
	b.Helper()
	select {
	case <-c:
	case <-b.ctx.Done():
		b.Fatal("nothing comes of it")
	}
}

// posted are the markdown texts, or else the plain ones, of the bot's posts.
func (b *bench) posted(channel, thread string) []string {
	var out []string
	for _, m := range b.sim.Messages(channel, thread) {
		if m.BotID == "" {
			continue
		}
		var blocks []struct{ Type, Text string }
		if json.Unmarshal(m.Blocks, &blocks) == nil && len(blocks) == 1 && blocks[0].Type == "markdown" {
			out = append(out, blocks[0].Text)
			continue
		}
		out = append(out, m.Text)
	}
	return out
}

func (b *bench) expect(got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("posted %q, want %q", got, want)
	}
}

// waitEnd waits until a time has passed and the sender is idle.
func (b *bench) waitEnd(at time.Time) {
	b.Helper()
	timer := time.NewTimer(time.Until(at) + 500*time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.ctx.Done():
	}
	b.stop()
	b.wait(b.ended)
}
