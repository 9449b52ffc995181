package slackapp_test

import (
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// newReadersBench is a bench whose sender asks who can read a channel.
func newReadersBench(t *testing.T, external bool) *bench {
	return newBench(t, func(o *slackapp.SenderOptions) {
		o.Channels, o.AllowExternal = slackapp.NewChannelFacts(o.Client), external
	})
}

// becomes makes General another kind of channel.
func (b *bench) becomes(kind simulator.ChannelKind, shared bool) {
	b.sim.SetChannel(simulator.Channel{
		ID: simulator.General, Name: "general", Kind: kind, Shared: shared,
		Members: []string{simulator.Alice, simulator.Bob, "UBOT"},
	})
}

func (b *bench) wantAsked(want int) {
	b.Helper()
	if n := len(b.sim.Calls("conversations.info")); n != want {
		b.Errorf("asked %d times who can read the channel, want %d", n, want)
	}
}

// seen is when a part's turn last knew who could read.
func seen(p chat.Part, was chat.Visibility, ago time.Duration) chat.Part {
	p.Visibility, p.Seen = was, chat.TSOf(time.Now().Add(-ago))
	return p
}

func TestReadersAreAskedOfOnlyWhenNotJustSaid(t *testing.T) {
	b := newReadersBench(t, false)
	b.send(false, seen(b.part(1, "at once"), chat.Public, time.Second))
	b.wantAsked(0)
	b.box = newOutbox()
	b.send(false, seen(b.part(2, "later"), chat.Public, 2*time.Minute), seen(b.part(3, "and more"), chat.Public, 2*time.Minute))
	b.wantAsked(1)
	b.box = newOutbox()
	parked := b.part(4, "after a wait")
	parked.Visibility = chat.Public
	b.send(false, parked)
	b.wantAsked(1) // it has been said within the last minute
	b.expect(b.posted(simulator.General, b.root), "at once", "later", "and more", "after a wait")
}

func TestReadersAreAskedOfAfterAWait(t *testing.T) {
	b := newReadersBench(t, false)
	b.send(false, b.part(1, "after a wait"))
	b.wantAsked(1)
	b.expect(b.posted(simulator.General, b.root), "after a wait")
}

// TestMoreReadersMoveTheAnswer: it goes to the actor alone, whole, and says why.
func TestMoreReadersMoveTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		was      chat.Visibility
		kind     simulator.ChannelKind
		shared   bool
		external bool // the operator's policy
		moves    bool
	}{
		"as before":                              {was: chat.Public},
		"was not known":                          {was: ""},
		"fewer":                                  {was: chat.Public, kind: simulator.PrivateChannel},
		"shared now":                             {was: chat.Public, shared: true, moves: true},
		"shared now, not known before":           {was: "", shared: true, moves: true},
		"shared now, where that is allowed":      {was: chat.Public, shared: true, external: true, moves: true},
		"shared all along, which is allowed":     {was: chat.Shared, shared: true, external: true},
		"shared all along, not allowed any more": {was: chat.Shared, shared: true, moves: true},
		"private became public":                  {was: chat.Private, moves: true},
		"a dm became a channel":                  {was: chat.DM, kind: simulator.PrivateChannel, moves: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newReadersBench(t, c.external)
			b.becomes(c.kind, c.shared)
			one, two := seen(b.part(1, "- a\n- b"), c.was, time.Hour), seen(b.part(2, "two"), c.was, time.Hour)
			b.send(false, one, two)
			if !c.moves {
				b.expect(b.posted(simulator.General, b.root), one.Markdown, "two")
				return
			}
			b.expect(b.posted(simulator.General, b.root))
			b.expect(b.posted(simulator.AliceDM, ""), slackapp.TextMoved(one.Markdown), slackapp.TextMoved("two"))
			b.counted("parts moved", 2)
		})
	}
}

// TestP7_AFailedQuestionDelays: while Slack does not say who can read, nothing
// is posted, and nothing is dropped.
func TestP7_AFailedQuestionDelays(t *testing.T) {
	for name, fault := range map[string]simulator.Fault{
		"server error": {Status: 500, Times: 3},
		"limited":      {Status: 429, RetryAfter: 1},
		"no answer":    {LoseAnswer: true, Times: 2},
		"no scope":     {Error: "missing_scope", Times: 3},
		"unknown":      {Error: "some_new_error", Times: 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := newReadersBench(t, false)
			fault.Method = "conversations.info"
			b.sim.Fail(fault)
			b.send(false, b.part(1, "one"), b.part(2, "two"))
			b.expect(b.posted(simulator.General, b.root), "one", "two")
		})
	}
	t.Run("channel gone", func(t *testing.T) {
		b := newReadersBench(t, false)
		b.sim.Fail(simulator.Fault{Method: "conversations.info", Error: "channel_not_found"})
		b.send(false, b.part(1, "one"))
		b.wantUnsent(b.part(1, "").ID, "channel_not_found")
	})
}
