package slackapp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"golang.org/x/time/rate"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Outbox is what the sender asks of the mailbox.
type Outbox interface {
	// Sent removes parts and renews the sender's lease. It answers what is
	// left, oldest first, and releases the lease in the same step when nothing
	// is. mailbox.ErrStale: the lease is another sender's.
	Sent(ctx context.Context, lease mailbox.SendLease, done ...mailbox.Posted) (left []chat.Part, err error)
	// Release does the same and gives the lease up: another replica goes on at
	// once.
	Release(ctx context.Context, lease mailbox.SendLease, done ...mailbox.Posted) error
	// PostedAt finds the post of a part with a card; ok is false where none is
	// known.
	PostedAt(ctx context.Context, in chat.Conversation, part string) (channel chat.ChannelID, ts chat.TS, ok bool, err error)
}

// SenderOptions are what a Sender is made of. Zero durations and numbers mean
// the shipped values.
type SenderOptions struct {
	Outbox Outbox
	Client *slack.Client
	Self   Identity
	// Name is a person's display name if it is known already; may be nil.
	Name func(chat.UserID) string
	// Channels says again who can read a channel before a post, where that was
	// last known a while ago; nil: nobody is asked.
	Channels *ChannelFacts
	// AllowExternal: channels shared with another organisation may be posted to.
	AllowExternal bool
	// Over is told of a card whose question is over, before that is shown, and of
	// one perhaps several times; may be nil. After an error it is told again, and the
	// card is changed without it in the end.
	Over func(ctx context.Context, card chat.Card) error
	// Count is told what happens, for metrics; may be nil. See the Count
	// constants.
	Count func(name, label string, n int)
	Log   *slog.Logger

	MaxAge      time.Duration // of a part; an older one is not posted any more; 24 h
	LeaseTTL    time.Duration // of the sender's lease; 10 s
	LeaseMargin time.Duration // by which it is trusted for less; 2 s
	RenewEvery  time.Duration // 3 s
	CallTimeout time.Duration // of a call to the mailbox; 2 s
	Backoff     time.Duration // the first wait after a failure, doubled up to BackoffCap; 500 ms
	BackoffCap  time.Duration // 30 s
	Calls       int           // concurrent calls to Slack; 64
	// Rate is how many messages a second a channel may get, after a burst.
	// Slack's rule is one; more is for tests and benchmarks.
	Rate  rate.Limit
	Burst int // 5
}

// maxCalls is how many calls to Slack run at once.
const maxCalls = 64

func (o SenderOptions) filled() SenderOptions {
	or := func(d *time.Duration, shipped time.Duration) {
		if *d == 0 {
			*d = shipped
		}
	}
	or(&o.MaxAge, 24*time.Hour)
	or(&o.LeaseTTL, 10*time.Second)
	or(&o.LeaseMargin, 2*time.Second)
	or(&o.RenewEvery, 3*time.Second)
	or(&o.CallTimeout, 2*time.Second)
	or(&o.Backoff, 500*time.Millisecond)
	or(&o.BackoffCap, 30*time.Second)
	if o.Calls == 0 {
		o.Calls = maxCalls
	}
	if o.Rate == 0 {
		o.Rate = 1
	}
	if o.Burst == 0 {
		o.Burst = 5
	}
	if o.Count == nil {
		o.Count = func(string, string, int) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Sender posts what stands in the outbox. The rules that keep a part from being
// posted twice, or never:
//
//   - A conversation has one sender, by a lease. The lease is trusted for its
//     TTL less a margin from when its renewal began, by the earlier of the
//     monotonic and the wall clock; every attempt has its deadline inside that
//     time, so that a successor never posts beside it.
//   - The parts of one destination go out in order; destinations do not wait
//     for each other.
//   - An attempt of which nobody knows how it ended (no answer, or one that
//     leaves it open) is followed by another only when its deadline has passed
//     and a look into the thread has not found the part, which carries its id
//     in the message's metadata. A look that fails is repeated, never skipped.
//   - Limits and outages delay a part. What Slack refuses for good, or has become
//     too old, is kept aside and its turn's actor told, so that what stands behind
//     it goes on.
//   - A part is posted where no more people can read than its turn knew; else it
//     goes to the turn's actor alone.
//   - A part is out of the outbox only when it is posted or set aside: whatever
//     ends the sender before leaves it to the next one, who looks first.
type Sender struct {
	opts  SenderOptions
	calls chan struct{}
	pace  *channelPace

	mu       sync.Mutex
	draining sync.WaitGroup
	stopped  bool
	ending   context.Context // ends when no new attempt may begin
	end      context.CancelFunc
	stop     <-chan struct{} // of ending
	dms      map[chat.UserID]chat.ChannelID
}

// NewSender makes a Sender, which works at once; Run ends it.
func NewSender(o SenderOptions) *Sender {
	o = o.filled()
	ending, end := context.WithCancel(context.Background())
	return &Sender{
		opts: o, calls: make(chan struct{}, o.Calls), pace: newChannelPace(o.Rate, o.Burst),
		ending: ending, end: end, stop: ending.Done(), dms: map[chat.UserID]chat.ChannelID{},
	}
}

// Post drains a conversation's outbox under a lease of this process. It returns
// at once. After Run has ended it does nothing: the lease expires.
func (s *Sender) Post(lease mailbox.SendLease, parts []chat.Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.draining.Go(func() { newDrain(s, lease).run(parts) })
}

// Run waits until ctx ends; then it lets the attempts under way finish, within
// their deadlines, and begins no others. Leases are left to expire.
func (s *Sender) Run(ctx context.Context) error {
	<-ctx.Done()
	s.mu.Lock()
	s.stopped = true
	s.end()
	s.mu.Unlock()
	s.opts.Log.Info("sender ends: what is under way is finished, and nothing new is begun")
	s.draining.Wait()
	return ctx.Err()
}
