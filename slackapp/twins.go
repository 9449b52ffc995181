package slackapp

import (
	"context"
	"encoding/json"
	"time"

	"reeve/runtime/chat"
)

// A mention in a channel comes twice: as message, which alone has files and
// subtype, and as app_mention, with the same ts, in either order. The second
// is held here, unacknowledged, until its twin was delivered by this process,
// or for Hold; then it is looked for in the mailbox, and, where it is not
// there, in Slack.

// Keys looks messages up in the mailbox.
type Keys interface {
	// Known reports whether the message has entered.
	Known(ctx context.Context, id chat.MessageID) (bool, error)
}

// Fetcher reads one message from Slack.
type Fetcher interface {
	// Fetch gives the message's raw form; nil without an error when Slack has
	// no such message or refuses it for good.
	Fetch(ctx context.Context, channel chat.ChannelID, thread, ts chat.TS) (json.RawMessage, error)
}

// held is a mention that waits, with every envelope that brought it.
type held struct {
	raw        Raw
	thread     chat.TS
	deliveries []Delivery
	timer      *time.Timer
	asked      bool // a look-up is under way or has failed
}

// settled is what a look-up found: a verdict, or an error after which nothing
// is acknowledged.
type settled struct {
	id      chat.MessageID
	verdict Verdict
	err     error
}

// hold keeps a mention; the edge's loop alone calls it.
func (e *Edge) hold(d Delivery, raw Raw, v Verdict) {
	if e.seen.has(v.About) {
		e.ignore(d, "duplicate_mention")
		return
	}
	if h := e.held[v.About]; h != nil {
		h.deliveries = append(h.deliveries, d)
		return
	}
	id := v.About
	h := &held{raw: raw, thread: v.Thread, deliveries: []Delivery{d}}
	h.timer = time.AfterFunc(e.opts.Hold, func() {
		select {
		case e.due <- id:
		case <-e.done:
		}
	})
	e.held[id] = h
}

// release acknowledges a held mention whose message was delivered.
func (e *Edge) release(id chat.MessageID, rule string) {
	h := e.held[id]
	if h == nil {
		return
	}
	h.timer.Stop()
	delete(e.held, id)
	for _, d := range h.deliveries {
		e.ignore(d, rule)
	}
}

// lookUp settles a mention whose time is over, beside the loop.
func (e *Edge) lookUp(ctx context.Context, id chat.MessageID) {
	h := e.held[id]
	if h == nil || h.asked {
		return
	}
	h.asked = true
	raw, thread := h.raw, h.thread
	e.work.Go(func() {
		s := settled{id: id}
		select {
		case e.lookUps <- struct{}{}:
			s.verdict, s.err = e.findTwin(ctx, id, raw, thread)
			<-e.lookUps
		case <-ctx.Done():
			s.err = ctx.Err()
		}
		select {
		case e.settled <- s:
		case <-e.done:
		}
	})
}

// findTwin says what a mention is whose message did not come.
func (e *Edge) findTwin(ctx context.Context, id chat.MessageID, raw Raw, thread chat.TS) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.LookUpTimeout)
	defer cancel()
	known, err := e.opts.Keys.Known(ctx, id)
	switch {
	case err != nil:
		return Verdict{}, err
	case known:
		return ignored("duplicate_mention"), nil
	}
	message, err := e.opts.Fetcher.Fetch(ctx, id.Channel, thread, id.TS)
	switch {
	case err != nil:
		return Verdict{}, err
	case message == nil:
		return AdmitMention(raw, e.opts.Self, e.opts.Admission), nil
	}
	return AdmitFetched(raw, message, e.opts.Self, e.opts.Admission), nil
}

// settle takes what a look-up found: the held envelopes are acknowledged, let
// go unacknowledged, or wait for the message that is given back.
func (e *Edge) settle(s settled) (item, bool) {
	h := e.held[s.id]
	if h == nil {
		return item{}, false // its message came meanwhile
	}
	delete(e.held, s.id)
	switch {
	case s.err != nil:
		e.log.Warn("mention not settled", "channel", s.id.Channel, "ts", s.id.TS, "err", s.err)
		for _, d := range h.deliveries {
			e.letGo(d)
		}
	case s.verdict.Kind == KindMessage:
		return item{message: s.verdict.Message, deliveries: h.deliveries}, true
	default:
		for _, d := range h.deliveries {
			e.ignore(d, s.verdict.Rule)
		}
	}
	return item{}, false
}

// recent remembers the last ids that were added to it.
type recent struct {
	ids  map[chat.MessageID]bool
	ring []chat.MessageID
	next int
}

func newRecent(size int) *recent {
	return &recent{ids: make(map[chat.MessageID]bool, size), ring: make([]chat.MessageID, size)}
}

func (r *recent) add(id chat.MessageID) {
	if r.ids[id] {
		return
	}
	delete(r.ids, r.ring[r.next])
	r.ring[r.next], r.ids[id] = id, true
	r.next = (r.next + 1) % len(r.ring)
}

func (r *recent) has(id chat.MessageID) bool { return r.ids[id] }
