package slackapp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp/render"
)

// Remembers says whether something is said for the first time; the mailbox is
// one, so that all replicas together say it once.
type Remembers interface {
	Once(ctx context.Context, name string, ttl time.Duration) (first bool, err error)
}

// How often a person is told the same.
const (
	waitingEvery = 24 * time.Hour
	allowedEvery = 24 * time.Hour
	refusedEvery = time.Minute
)

// NotifierOptions are what a Notifier is made of.
type NotifierOptions struct {
	Client   *slack.Client
	Memory   Remembers
	Receipts *Receipts // told too; may be nil
	Log      *slog.Logger
}

// Notifier tells people in private what became of their messages where that
// cannot be seen: that one waits, was not taken, may not stop, or found nothing
// to stop. Slack may lose such a notice; nothing that matters depends on one.
type Notifier struct {
	opts  NotifierOptions
	queue chan notice
}

// notice is one sentence to one person in a thread.
type notice struct {
	to    chat.Actor
	in    chat.Conversation
	once  string // the name under which it is remembered
	every time.Duration
	text  string
}

// NewNotifier makes a Notifier; Run sets it to work.
func NewNotifier(o NotifierOptions) *Notifier {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Notifier{opts: o, queue: make(chan notice, 256)}
}

// Told implements Notices. It returns at once.
func (n *Notifier) Told(_ context.Context, outcomes []runtime.Outcome) {
	if n.opts.Receipts != nil {
		n.opts.Receipts.Told(outcomes)
	}
	for _, o := range outcomes {
		if what, ok := noticeOf(o); ok {
			n.tell(what)
		}
	}
}

// Show tells an author that he may not instruct.
func (n *Notifier) Show(c runtime.Change) {
	if c.State != runtime.ShownNotAllowed || !c.Actor.IsPerson() {
		return
	}
	n.tell(notice{
		to: c.Actor, in: c.Conversation, once: "not_allowed:" + c.Actor.Key(), every: allowedEvery,
		text: TextNotAllowed(c.Why),
	})
}

// noticeOf is what a message's author is told, if anything.
func noticeOf(o runtime.Outcome) (notice, bool) {
	m := o.Message
	if !m.Author.IsPerson() {
		return notice{}, false
	}
	here := m.Author.Key() + ":" + m.Conversation.Key()
	n := notice{to: m.Author, in: m.Conversation, every: refusedEvery}
	switch {
	case o.Below != "" && m.Change == nil:
		n.once, n.text = "below:"+here, TextBelow(o.Below == mailbox.BelowCard)
	case o.Disposition == chat.Wait && !o.Runs.IsZero() && o.Runs != m.Author:
		n.once, n.every, n.text = "waiting:"+m.Author.Key(), waitingEvery, TextWaiting(o.Runs)
	case o.Disposition == chat.Refused && m.Stop:
		n.once, n.text = "not_yours:"+here, TextNotYours(o.Runs)
	case o.Disposition == chat.Refused:
		n.once, n.text = "full:"+here, TextFull()
	case o.Disposition == chat.NothingRunning && m.Addressed:
		n.once, n.text = "nothing_running:"+here, TextNothingRunning(!o.Runs.IsZero())
	case m.Addressed && m.Standing == chat.ContextOnly && m.Change == nil:
		n.once, n.every, n.text = "not_allowed:"+m.Author.Key(), allowedEvery, TextNotAllowed(m.Rule)
	default:
		return notice{}, false
	}
	return n, true
}

func (n *Notifier) tell(what notice) {
	select {
	case n.queue <- what:
	default:
		n.opts.Log.Warn("notice dropped, too many are pending", "actor", what.to.Key())
	}
}

// Run posts notices until ctx ends; the rest is forgotten.
func (n *Notifier) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case what := <-n.queue:
					n.post(ctx, what)
				}
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// post says it, unless it has been said. Once it is remembered it counts as
// said, so that a person hears it twice never and seldom not at all.
func (n *Notifier) post(ctx context.Context, what notice) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	log := n.opts.Log.With("actor", what.to.Key(), "conversation", what.in.Key())
	first, err := n.opts.Memory.Once(ctx, what.once, what.every)
	if err != nil {
		log.Warn("notice not remembered, not told", "err", err)
		return
	}
	if !first {
		return
	}
	options := append(postOptions(render.Post{Text: what.text, Mrkdwn: true}), slack.MsgOptionTS(string(what.in.Root)))
	for range 2 {
		_, err = n.opts.Client.PostEphemeralContext(ctx, string(what.in.Channel), string(what.to.User), options...)
		if err == nil {
			log.Debug("notice told")
			return
		}
		if f := judge(err); f.kind != failLimited || pause(ctx, f.wait) != nil {
			break
		}
	}
	log.Info("notice not told", "err", judge(err).text())
}
