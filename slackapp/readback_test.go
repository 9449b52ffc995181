package slackapp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// aftermath is a replica that has come back, on a simulated Slack in which
// things were said meanwhile; the test plays store, sockets and runtime.
type aftermath struct {
	t     *testing.T
	ctx   context.Context
	slack *simulator.Server
	stop  context.CancelFunc

	mu        sync.Mutex
	ago       time.Duration // by which Slack's clock is behind
	gap       *mailbox.Gap
	touched   []chat.Conversation
	closed    chan mailbox.Gap
	delivered []chat.Message
	known     map[chat.TS]bool
	refuse    int // calls of Deliver that fail
	edits     []string
	told      []string
}

func newAftermath(t *testing.T, o simulator.Options) *aftermath {
	a := &aftermath{t: t, closed: make(chan mailbox.Gap, 16), known: map[chat.TS]bool{}}
	o.Now = func() time.Time {
		a.mu.Lock()
		defer a.mu.Unlock()
		return time.Now().Add(-a.ago)
	}
	a.slack = simulator.ForTest(t, o)
	var cancel context.CancelFunc
	a.ctx, cancel = context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return a
}

// says is somebody writing while nobody hears it, some time ago: not earlier
// than what was said before.
func (a *aftermath) says(ago time.Duration, user, channel, text string, o simulator.SayOptions) string {
	a.t.Helper()
	a.mu.Lock()
	a.ago = ago
	a.mu.Unlock()
	o.Quiet = true
	return a.slack.Say(user, channel, text, o)
}

func (a *aftermath) touch(channel, root string) {
	a.touched = append(a.touched, chat.Conversation{Team: "T1", Channel: chat.ChannelID(channel), Root: chat.TS(root)})
}

// reads lets the replica find a gap that began ten minutes ago.
func (a *aftermath) reads(change ...func(*slackapp.ReadBackOptions)) *slackapp.ReadBack {
	a.t.Helper()
	self, err := slackapp.WhoAmI(a.ctx, slackapp.NewClient(slackapp.ClientOptions{BotToken: a.slack.BotToken(), APIURL: a.slack.APIURL()}))
	if err != nil {
		a.t.Fatal(err)
	}
	o := slackapp.ReadBackOptions{
		Gaps: a, Line: a, Inbox: a, Notices: a, Edits: a, Self: self, Reader: slackapp.NewReader(a.slack.APIURL(), a.slack.BotToken()),
		StampEvery: 10 * time.Millisecond, Rate: rate.Inf, Log: slog.New(slog.NewTextHandler(a.t.Output(), nil)),
	}
	for _, c := range change {
		c(&o)
	}
	a.mu.Lock()
	a.gap = &mailbox.Gap{Number: 1, From: time.Now().Add(-10 * time.Minute), Opened: true, Mine: true}
	a.mu.Unlock()
	b := slackapp.NewReadBack(o)
	ctx, stop := context.WithCancel(a.ctx)
	end := make(chan struct{})
	go func() {
		defer close(end)
		_ = b.Run(ctx)
	}()
	a.stop = func() {
		stop()
		<-end
	}
	a.t.Cleanup(a.stop)
	return b
}

// readBack waits until the gap is closed.
func (a *aftermath) readBack() {
	a.t.Helper()
	select {
	case <-a.closed:
	case <-a.ctx.Done():
		a.t.Fatal("the gap was not closed")
	}
	a.stop()
}

func (a *aftermath) Heard() (time.Duration, int64, bool) { return 0, 1, true }

func (a *aftermath) Stamp(context.Context, mailbox.Sign) (*mailbox.Gap, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gap == nil {
		return nil, nil
	}
	gap := *a.gap
	a.gap.Opened = false
	return &gap, nil
}

func (a *aftermath) CloseGap(_ context.Context, g mailbox.Gap) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gap = nil
	a.closed <- g
	return true, nil
}

func (a *aftermath) Touched(context.Context, time.Time) ([]chat.Conversation, error) {
	return a.touched, nil
}

func (a *aftermath) Deliver(_ context.Context, in []chat.Message) []runtime.Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refuse--
	out := make([]runtime.Outcome, len(in))
	for i, m := range in {
		out[i] = runtime.Outcome{Message: m, Disposition: chat.Start}
		switch {
		case a.refuse >= 0:
			out[i].Err = errors.New("the store is away")
		case a.known[m.ID.TS]:
			out[i].Disposition = chat.Duplicate
		default:
			a.known[m.ID.TS] = true
			a.delivered = append(a.delivered, m)
		}
	}
	return out
}

func (a *aftermath) Told(_ context.Context, outcomes []runtime.Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, o := range outcomes {
		a.told = append(a.told, o.Message.Text)
	}
}

func (a *aftermath) Edited(_ context.Context, m chat.Message) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.edits = append(a.edits, m.Text)
	return nil
}

// wantEntered compares the texts of what entered in one channel, in order.
func (a *aftermath) wantEntered(channel string, want ...string) []chat.Message {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	var in []chat.Message
	var texts []string
	for _, m := range a.delivered {
		if string(m.ID.Channel) == channel {
			in, texts = append(in, m), append(texts, m.Text)
		}
	}
	if !slices.Equal(texts, want) {
		a.t.Errorf("in %s entered %q, want %q", channel, texts, want)
	}
	return in
}

func below(root string) simulator.SayOptions { return simulator.SayOptions{Thread: root} }

func TestP11_ReadBackInTheOrderOfTime(t *testing.T) {
	a := newAftermath(t, simulator.Options{})
	none := simulator.SayOptions{}
	old := a.says(2*time.Hour, simulator.Alice, simulator.AliceDM, "an old root", none)
	thread := a.says(2*time.Hour, simulator.Alice, simulator.General, "<@UBOT> an old thread", none)
	foreign := a.says(2*time.Hour, simulator.Bob, simulator.General, "a thread without the bot", none)
	a.says(time.Hour, simulator.Alice, simulator.General, "read before", below(thread))
	a.touch(simulator.AliceDM, old)
	a.touch(simulator.General, thread)
	late := a.says(30*time.Minute, simulator.Carol, simulator.General, "<@UBOT> a thread of late", none)
	a.touch(simulator.General, late)
	a.says(20*time.Minute, simulator.Carol, simulator.General, "known too", below(late))

	a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, "d1", none)
	a.says(9*time.Minute, simulator.Carol, simulator.General, "nothing to do with it", none)
	a.says(9*time.Minute, simulator.Carol, simulator.General, "<@UBOT> inside a foreign thread", below(foreign))
	fresh := a.says(8*time.Minute, simulator.Bob, simulator.General, "<@UBOT> !! g1", none)
	a.says(8*time.Minute, simulator.Alice, simulator.General, "<@UBOT> t1", below(thread))
	a.says(8*time.Minute, simulator.Alice, simulator.AliceDM, "d2", below(old))
	d3 := a.says(7*time.Minute, simulator.Alice, simulator.AliceDM, "d3", none)
	a.says(6*time.Minute, simulator.Deploybot, simulator.General, "t2", simulator.SayOptions{Thread: thread, Author: simulator.AsBot()})
	a.says(6*time.Minute, simulator.Carol, simulator.General, "g2", below(fresh))
	a.says(6*time.Minute, simulator.Alice, simulator.AliceDM, "d4", below(d3))
	a.says(6*time.Minute, simulator.Bob, simulator.General, "t3", simulator.SayOptions{Thread: thread, Broadcast: true})
	a.says(6*time.Minute, simulator.Alice, simulator.AliceDM, "d5", below(old))
	a.says(5*time.Minute, simulator.Bob, simulator.General, "stop", below(fresh))
	a.says(5*time.Minute, simulator.Bob, simulator.BobDM, "never spoken to before", none)
	a.reads()
	a.readBack()

	a.wantEntered(simulator.AliceDM, "d1", "d2", "d3", "d4", "d5")
	a.wantEntered(simulator.BobDM, "never spoken to before")
	in := a.wantEntered(simulator.General, "g1", "g2", "stop", "t1", "t2", "t3")
	if len(in) != 6 {
		t.FailNow()
	}
	if m := in[0]; !m.Forced || !m.Addressed || m.Author.User != simulator.Bob || m.Visibility != chat.Public {
		t.Errorf("a mention is read as %+v", m)
	}
	if m := in[2]; !m.Stop || m.Addressed || string(m.Conversation.Root) != fresh {
		t.Errorf("a stop is read as %+v", m)
	}
	if m := in[4]; m.Standing != chat.ContextOnly || m.Author.IsPerson() || string(m.Conversation.Root) != thread {
		t.Errorf("a bot's post is read as %+v", m)
	}
	// Each thread is read once, though one is touched and of its channel too.
	read := map[string]int{}
	for _, c := range a.slack.Calls("conversations.replies") {
		read[c.Args["ts"]]++
	}
	for root, n := range read {
		if n != 1 {
			t.Errorf("the thread %s is read %d times", root, n)
		}
	}
	if len(a.told) != 12 {
		t.Errorf("people are told of %q", a.told)
	}
}

func TestP11_EditsOfTheGapAreReadBack(t *testing.T) {
	a := newAftermath(t, simulator.Options{})
	none := simulator.SayOptions{}
	edit := func(ago time.Duration, user, ts, text string) {
		a.mu.Lock()
		a.ago = ago
		a.mu.Unlock()
		if !a.slack.Edit(user, simulator.AliceDM, ts, text) {
			t.Fatal("no edit")
		}
	}
	before := a.says(30*time.Minute, simulator.Alice, simulator.AliceDM, "said before the gap", none)
	long := a.says(29*time.Minute, simulator.Alice, simulator.AliceDM, "edited before the gap", none)
	edit(28*time.Minute, simulator.Alice, long, "edited before the gap, once")
	known := a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, "known", none)
	other := a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, "known too", none)
	unknown := a.says(8*time.Minute, simulator.Alice, simulator.AliceDM, "unknown", none)
	edit(7*time.Minute, simulator.Alice, before, "said before the gap, edited in it")
	edit(7*time.Minute, simulator.Alice, known, "known, edited")
	edit(6*time.Minute, simulator.Bob, other, "known too, edited by somebody else")
	edit(6*time.Minute, simulator.Alice, unknown, "unknown, edited")
	a.known[chat.TS(known)], a.known[chat.TS(other)] = true, true
	a.reads()
	a.readBack()
	a.wantEntered(simulator.AliceDM, "unknown, edited")
	if want := []string{"said before the gap, edited in it", "known, edited"}; !slices.Equal(a.edits, want) {
		t.Errorf("edits of %q, want %q", a.edits, want)
	}
}

// What Slack, or the store, does not give at first is asked for again, and the
// gap stands until all was given.
func TestP11_OnlyAFinishedReadingClosesTheGap(t *testing.T) {
	a := newAftermath(t, simulator.Options{})
	thread := a.says(2*time.Hour, simulator.Alice, simulator.General, "<@UBOT> a thread", simulator.SayOptions{})
	a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, "one", simulator.SayOptions{})
	a.says(8*time.Minute, simulator.Alice, simulator.General, "two", below(thread))
	a.touch(simulator.General, thread)
	a.touch(simulator.General, "1600000000.000000") // its root is gone
	a.touch(simulator.Random, "1600000000.000001")  // the bot has left
	a.refuse = 2
	a.slack.Fail(simulator.Fault{Method: "users.conversations", Status: 500})
	a.slack.Fail(simulator.Fault{Method: "conversations.history", Error: "internal_error", Times: 2})
	a.slack.Fail(simulator.Fault{Method: "conversations.replies", LoseAnswer: true})
	b := a.reads()
	if err := a.slack.WaitUntil(a.ctx, func() bool { return len(a.slack.Calls("conversations.history")) > 1 }); err != nil {
		t.Fatal(err)
	}
	if s := b.Stats(); !s.Reading || s.From.IsZero() || len(a.closed) > 0 {
		t.Errorf("before all is read: %+v, closed %d times", s, len(a.closed))
	}
	a.readBack()
	a.wantEntered(simulator.AliceDM, "one")
	a.wantEntered(simulator.General, "two")
}

func TestP11_ReadingEndsWithTheRightToIt(t *testing.T) {
	a := newAftermath(t, simulator.Options{})
	a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, "for another replica", simulator.SayOptions{})
	release := a.slack.Hold("conversations.history")
	defer release()
	b := a.reads()
	if err := a.slack.WaitHeld(a.ctx, "conversations.history", 1); err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	a.gap.Mine = false
	a.mu.Unlock()
	for b.Stats().Reading {
		if a.ctx.Err() != nil {
			t.Fatal("it reads on")
		}
		<-time.After(time.Millisecond)
	}
	a.stop()
	a.wantEntered(simulator.AliceDM)
	if len(a.closed) > 0 {
		t.Error("it closed the gap")
	}
}

func TestP11_ReadingKeepsToItsShareOfTheRate(t *testing.T) {
	a := newAftermath(t, simulator.Options{})
	a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, "one", simulator.SayOptions{})
	const perSecond, burst = 20, 2
	a.slack.Fail(simulator.Fault{Method: "users.conversations", Status: 429, RetryAfter: 1})
	a.reads(func(o *slackapp.ReadBackOptions) { o.Rate, o.Burst = perSecond, burst })
	a.readBack()
	a.wantEntered(simulator.AliceDM, "one")
	calls := a.slack.Calls("conversations.history")
	if len(calls) < 6 {
		t.Fatalf("only %d calls", len(calls))
	}
	least := time.Duration(len(calls)-burst) * time.Second / perSecond
	if took := calls[len(calls)-1].At.Sub(calls[0].At); took < least*9/10 {
		t.Errorf("%d calls in %v, want at least %v", len(calls), took, least)
	}
	lists := a.slack.Calls("users.conversations")
	if len(lists) != 2 || lists[1].At.Sub(lists[0].At) < 990*time.Millisecond {
		t.Errorf("after \"try again in a second\" came %v", lists[1:])
	}
}

func TestP11_OnlyWhatMayBeReadIsRead(t *testing.T) {
	scopes := slices.DeleteFunc(simulator.AllScopes(), func(s string) bool { return s == "groups:read" || s == "mpim:read" })
	a := newAftermath(t, simulator.Options{Scopes: scopes})
	for _, in := range []string{simulator.General, simulator.Planning, simulator.Trio, simulator.Partners} {
		a.says(9*time.Minute, simulator.Alice, in, "<@UBOT> here", simulator.SayOptions{})
	}
	a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, "in private", simulator.SayOptions{})
	a.reads()
	a.readBack()
	a.wantEntered(simulator.General, "here")
	a.wantEntered(simulator.AliceDM, "in private")
	for _, c := range a.slack.Calls("conversations.history") {
		if c.Args["channel"] == simulator.Partners {
			t.Error("a channel shared with another organisation is read")
		}
	}

	a = newAftermath(t, simulator.Options{})
	a.says(9*time.Minute, simulator.Alice, simulator.General, "<@UBOT> here", simulator.SayOptions{})
	a.says(9*time.Minute, simulator.Alice, simulator.Planning, "<@UBOT> there", simulator.SayOptions{})
	a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, "in private", simulator.SayOptions{})
	a.reads(func(o *slackapp.ReadBackOptions) {
		o.Admission.Channels = map[chat.ChannelID]bool{simulator.Planning: true}
	})
	a.readBack()
	a.wantEntered(simulator.General)
	a.wantEntered(simulator.Planning, "there")
	a.wantEntered(simulator.AliceDM, "in private")
}

// A week's worth in one channel comes page by page, newest first, and is
// delivered oldest first.
func TestP11_ManyPages(t *testing.T) {
	a := newAftermath(t, simulator.Options{})
	var want []string
	for i := range 450 {
		want = append(want, fmt.Sprint("m", i))
		a.says(9*time.Minute, simulator.Alice, simulator.AliceDM, want[i], simulator.SayOptions{})
	}
	a.reads()
	a.readBack()
	a.wantEntered(simulator.AliceDM, want...)
}
