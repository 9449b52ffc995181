package slackapp

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"golang.org/x/time/rate"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// The receipts, by the names of their emoji.
const (
	accepted = "eyes"
	waits    = "hourglass_flowing_sand"
	done     = "white_check_mark"
)

// ReceiptOptions are what Receipts is made of. Zero numbers mean the shipped
// values.
type ReceiptOptions struct {
	Client *slack.Client
	Log    *slog.Logger
	// Rate is how many reactions a second are set and taken off, each; Slack's
	// rule is 50 a minute. Burst is 20.
	Rate  rate.Limit
	Burst int
	// Most is how many may be pending; what comes then is dropped. 1000.
	Most int
}

// Receipts shows what becomes of messages as reactions on them: accepted,
// waits, done. They are computed from what turns do, they are best effort, and
// they delay nothing: what is not sent when its opposite comes is never sent.
type Receipts struct {
	opts          ReceiptOptions
	adds, removes *rate.Limiter
	work          chan struct{}

	mu      sync.Mutex
	pending map[reaction]bool // true: to be set, false: to be taken off
	order   []reaction
	// shown are the reactions that stand on a message, or will; an empty set
	// says that the message is known to have none.
	shown *expiring[chat.MessageID, []string]
	// last is the newest waiting message of an author.
	last *expiring[waiter, chat.MessageID]
}

type reaction struct {
	on   chat.MessageID
	name string
}

type waiter struct {
	in  chat.Conversation
	who chat.Actor
}

// NewReceipts makes Receipts; Run sets them to work.
func NewReceipts(o ReceiptOptions) *Receipts {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rate == 0 {
		o.Rate = rate.Every(time.Minute / 50)
	}
	if o.Burst == 0 {
		o.Burst = 20
	}
	if o.Most == 0 {
		o.Most = 1000
	}
	return &Receipts{
		opts: o, adds: rate.NewLimiter(o.Rate, o.Burst), removes: rate.NewLimiter(o.Rate, o.Burst),
		work: make(chan struct{}, 1), pending: map[reaction]bool{},
		shown: newExpiring[chat.MessageID, []string](20_000), last: newExpiring[waiter, chat.MessageID](20_000),
	}
}

// shownFor is how long it is remembered what stands on a message.
const shownFor = 24 * time.Hour

// Told shows what became of messages as they came in.
func (r *Receipts) Told(outcomes []runtime.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range outcomes {
		id := o.Message.ID
		switch o.Disposition {
		case chat.Start, chat.SteerOwn, chat.SteerContext, chat.JoinParked, chat.EndWait:
			r.set(id, accepted)
		case chat.Wait:
			r.waiting(id, waiter{o.Message.Conversation, o.Message.Author})
		case chat.WithdrawOwn:
			r.set(id, done)
		case chat.Withdraw:
			r.clear(id)
		}
		for _, w := range o.Withdrawn {
			r.clear(w)
		}
	}
	r.wake()
}

// waiting shows on the last of somebody's waiting messages that it waits.
func (r *Receipts) waiting(id chat.MessageID, who waiter) {
	if before, ok := r.last.get(who); ok && before != id {
		r.take(before, waits, false)
	}
	r.last.put(who, id, shownFor)
	r.set(id, waits)
}

// Show shows what becomes of a turn.
func (r *Receipts) Show(c runtime.Change) {
	if len(c.Messages) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last := c.Messages[len(c.Messages)-1]
	if c.State == runtime.ShownWaits {
		r.take(last, accepted, true)
		r.waiting(last, waiter{c.Conversation, c.Actor})
		r.wake()
		return
	}
	for _, id := range c.Messages {
		r.take(id, waits, id == last)
		if c.State != runtime.ShownStarted && c.State != runtime.ShownJoins || id != last {
			r.take(id, accepted, id == last)
		}
	}
	switch c.State {
	case runtime.ShownStarted, runtime.ShownJoins:
		r.set(last, accepted)
	case runtime.ShownDone:
		r.set(last, done)
	}
	r.wake()
}

// clear takes off what says that a message will be dealt with.
func (r *Receipts) clear(id chat.MessageID) {
	r.take(id, waits, true)
	r.take(id, accepted, false)
}

func (r *Receipts) set(id chat.MessageID, name string) {
	names, _ := r.shown.get(id)
	if slices.Contains(names, name) {
		return
	}
	if r.change(reaction{id, name}, true) {
		r.shown.put(id, append(slices.Clone(names), name), shownFor)
	}
}

// take takes a reaction off where it is known to stand, or where another
// replica may have set it and it is worth a try.
func (r *Receipts) take(id chat.MessageID, name string, try bool) {
	names, known := r.shown.get(id)
	if known && !slices.Contains(names, name) || !known && !try {
		return
	}
	if r.change(reaction{id, name}, false) {
		r.shown.put(id, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name }), shownFor)
	}
}

// change makes a change pending; one that undoes another takes it back. false:
// there is no room.
func (r *Receipts) change(re reaction, add bool) bool {
	if was, ok := r.pending[re]; ok {
		if was != add {
			delete(r.pending, re)
		}
		return true
	}
	if len(r.pending) >= r.opts.Most {
		r.opts.Log.Debug("receipt dropped, too many are pending", "channel", re.on.Channel, "ts", re.on.TS)
		return false
	}
	r.pending[re] = add
	r.order = append(r.order, re)
	return true
}

func (r *Receipts) wake() {
	select {
	case r.work <- struct{}{}:
	default:
	}
}

// next waits for the oldest change. It stays pending until it is taken.
func (r *Receipts) next(ctx context.Context) (reaction, bool) {
	for {
		r.mu.Lock()
		for len(r.order) > 0 {
			re := r.order[0]
			if _, ok := r.pending[re]; ok {
				r.mu.Unlock()
				return re, true
			}
			r.order = r.order[1:]
		}
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return reaction{}, false
		case <-r.work:
		}
	}
}

// Run sets and takes off reactions until ctx ends; the rest is forgotten.
func (r *Receipts) Run(ctx context.Context) error {
	for {
		re, ok := r.next(ctx)
		if !ok {
			return ctx.Err()
		}
		r.mu.Lock()
		add := r.pending[re]
		r.mu.Unlock()
		limiter := r.removes
		if add {
			limiter = r.adds
		}
		if limiter.Wait(ctx) != nil {
			return ctx.Err()
		}
		r.mu.Lock()
		now, still := r.pending[re]
		if still && now == add {
			delete(r.pending, re)
			r.order = r.order[1:]
		}
		r.mu.Unlock()
		if still && now == add {
			r.send(ctx, re, add)
		}
	}
}

// send makes one change, and once more after a limit.
func (r *Receipts) send(ctx context.Context, re reaction, add bool) {
	for range 2 {
		err := r.call(ctx, re, add)
		if err == nil {
			return
		}
		f := judge(err)
		if f.kind != failLimited {
			r.opts.Log.Debug("receipt not shown", "channel", re.on.Channel, "ts", re.on.TS, "reaction", re.name, "err", f.text())
			return
		}
		if pause(ctx, f.wait) != nil {
			return
		}
	}
}

func (r *Receipts) call(ctx context.Context, re reaction, add bool) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	item := slack.NewRefToMessage(string(re.on.Channel), string(re.on.TS))
	var err error
	if add {
		err = r.opts.Client.AddReactionContext(ctx, re.name, item)
	} else {
		err = r.opts.Client.RemoveReactionContext(ctx, re.name, item)
	}
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok && (e.Err == "already_reacted" || e.Err == "no_reaction") {
		return nil
	}
	return err
}
