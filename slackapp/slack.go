package slackapp

import (
	"context"
	"log/slog"
	"sync"

	"github.com/slack-go/slack"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp/render"
)

// Store is what the outbound side keeps in the mailbox.
type Store interface {
	Outbox
	FactStore
	Remembers
}

// Options are what Slack is made of.
type Options struct {
	Client *slack.Client
	Reader *Reader
	Self   Identity
	Store  Store
	// Admission is the policy by which a thread is read, too. Its Known is
	// filled in where it is nil.
	Admission   Admission
	AllowGuests bool
	Log         *slog.Logger
	// Sender and Receipts change intervals and rates; clients, stores and logs
	// in them are filled in.
	Sender   SenderOptions
	Receipts ReceiptOptions
}

// Slack is the Slack edge as the runtime sees it: runtime.Slack, and Notices
// for the Edge.
type Slack struct {
	People   *PeopleFacts
	Channels *ChannelFacts
	sender   *Sender
	receipts *Receipts
	notifier *Notifier
	threads  *ThreadReader
}

var (
	_ runtime.Slack = (*Slack)(nil)
	_ Notices       = (*Slack)(nil)
)

// New makes a Slack; Run sets it to work.
func New(o Options) *Slack {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Slack{
		People: NewPeopleFacts(FactsOptions{
			Client: o.Client, Store: o.Store, Self: o.Self,
			AllowGuests: o.AllowGuests, AllowExternal: o.Admission.AllowExternal, Log: o.Log,
		}),
		Channels: NewChannelFacts(o.Client),
	}
	if o.Admission.Known == nil {
		o.Admission.Known = s.People.Known
	}
	s.threads = &ThreadReader{Reader: o.Reader, Self: o.Self, Policy: o.Admission}
	o.Sender.Outbox, o.Sender.Client, o.Sender.Self, o.Sender.Log = o.Store, o.Client, o.Self, o.Log
	o.Sender.Channels, o.Sender.AllowExternal = s.Channels, o.Admission.AllowExternal
	if o.Sender.Name == nil {
		o.Sender.Name = s.People.Name
	}
	s.sender = NewSender(o.Sender)
	o.Receipts.Client, o.Receipts.Log = o.Client, o.Log
	s.receipts = NewReceipts(o.Receipts)
	s.notifier = NewNotifier(NotifierOptions{Client: o.Client, Memory: o.Store, Receipts: s.receipts, Log: o.Log})
	return s
}

// Run works until ctx ends, and returns when the posts under way are through or
// at their deadlines.
func (s *Slack) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() { _ = s.sender.Run(ctx) })
	parts.Go(func() { _ = s.receipts.Run(ctx) })
	parts.Go(func() { _ = s.notifier.Run(ctx) })
	parts.Wait()
	return ctx.Err()
}

// Facts implements runtime.Slack.
func (s *Slack) Facts(ctx context.Context, who chat.Actor) (runtime.Facts, error) {
	return s.People.Facts(ctx, who)
}

// Known is what is known of a person without asking anybody, for Admission.
func (s *Slack) Known(who chat.Actor) (runtime.Facts, bool) { return s.People.Known(who) }

// Thread implements runtime.Slack. A channel whose kind is not known counts as
// private.
func (s *Slack) Thread(ctx context.Context, in chat.Conversation, before chat.TS) ([]chat.Message, bool, error) {
	limited, cancel := context.WithTimeout(ctx, threadTime/2)
	visibility, err := s.Channels.Visibility(limited, in.Channel)
	cancel()
	if err != nil {
		visibility = chat.Private
	}
	return s.threads.Thread(ctx, in, visibility, before)
}

// Split implements runtime.Slack. An answer with nothing in it becomes a
// sentence that says so.
func (s *Slack) Split(markdown string) []string { return Split(markdown) }

// Split cuts an answer into pieces that one post can hold each; there is always
// one.
func Split(markdown string) []string {
	if pieces := render.Split(markdown); len(pieces) > 0 {
		return pieces
	}
	return []string{TextNoAnswer()}
}

// Post implements runtime.Slack.
func (s *Slack) Post(lease mailbox.SendLease, parts []chat.Part) { s.sender.Post(lease, parts) }

// Show implements runtime.Slack.
func (s *Slack) Show(c runtime.Change) {
	s.receipts.Show(c)
	s.notifier.Show(c)
}

// Told implements Notices.
func (s *Slack) Told(ctx context.Context, outcomes []runtime.Outcome) { s.notifier.Told(ctx, outcomes) }
