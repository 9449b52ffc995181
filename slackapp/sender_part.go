package slackapp

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp/render"
)

// errOver ends a lane: its drain is over or the process stops.
var errOver = errors.New("the sender stops")

// attempt is the state of one part's delivery.
type attempt struct {
	part    chat.Part
	channel chat.ChannelID
	thread  chat.TS
	rung    render.Rung
	// forms are a card's, one for each rung; nil: the part is no card.
	forms []cardForm
	text  string // that says in a line what the card is
	apart bool   // its arguments stand above it
	// began is just before the first try; a post of the part is not older.
	began time.Time
	// open: a try may have been carried out, until its deadline.
	open     bool
	deadline time.Time
	failures int // in a row

	// over: nothing is left to be tried. The part is posted, or unsent, or is to
	// be cut because Slack finds it too long in its plainest form.
	over   bool
	posted chat.TS
	unsent *mailbox.Unsent
	cut    bool
}

// deliver posts a part, once. It returns when the part is posted or never will
// be; its only error is errOver. rung is the first form to be tried. The message
// that the part became is named where it stands in the conversation's channel.
func (d *drain) deliver(part chat.Part, rung render.Rung, look bool) (mailbox.Posted, error) {
	if part.Edits != "" {
		return d.edit(part)
	}
	a := &attempt{part: part, thread: part.To.Thread, rung: rung, began: time.Now(), open: look}
	if part.Card != nil {
		a.text = TextCard(*part.Card)
		if a.forms = wholeForms(*part.Card); len(a.forms) == 0 {
			return d.cardApart(a, look)
		}
	}
	return d.carry(a, look)
}

// carry makes attempts until one is the last.
func (d *drain) carry(a *attempt, look bool) (mailbox.Posted, error) {
	if look {
		a.began = written(a.part)
	}
	for !a.over {
		err := d.try(a)
		if errors.Is(err, errOver) {
			return mailbox.Posted{}, err
		}
		if err == nil {
			continue
		}
		wait := d.react(a, judge(err))
		if err := d.sleep(wait); err != nil {
			return mailbox.Posted{}, err
		}
	}
	switch {
	case a.cut && a.forms != nil:
		return d.cardApart(a, look)
	case a.cut:
		return d.pieces(a, look)
	}
	out := mailbox.Posted{ID: a.part.ID, Card: a.part.Card != nil, DM: a.part.To.Channel == "", Unsent: a.unsent}
	if a.posted != "" {
		out.Channel, out.TS = a.channel, a.posted
	}
	return out, nil
}

// react says what a failure changes, and for how long to wait.
func (d *drain) react(a *attempt, f *failure) time.Duration {
	switch f.kind {
	case failForm:
		if int(a.rung)+1 < a.rungs() {
			a.rung++
			d.log.Warn("post refused for its form, trying a plainer one", "part", a.part.ID, "rung", int(a.rung), "err", f.text())
			return 0
		}
		if a.canPart() {
			d.log.Warn("card refused for its form, putting its arguments into posts of their own", "part", a.part.ID, "err", f.text())
			a.over, a.cut = true, true
			return 0
		}
		if a.forms == nil && f.code() == "msg_too_long" && a.canCut() {
			d.log.Warn("post refused for its length, cutting it", "part", a.part.ID)
			a.over, a.cut = true, true
			return 0
		}
		f.kind = failForGood
	case failThread:
		if a.thread != "" {
			// The answer is worth more than its place.
			d.log.Warn("thread is gone, posting without it", "part", a.part.ID, "err", f.text())
			a.thread = ""
			return 0
		}
		f.kind = failForGood
	case failLimited:
		d.s.pace.hold(a.channel, f.wait)
		d.log.Info("slack limits the rate", "part", a.part.ID, "wait", f.wait)
		return f.wait
	}
	if f.kind == failForGood {
		d.refused(a, f)
		return 0
	}
	a.failures++
	wait := min(d.s.opts.Backoff<<min(a.failures-1, 20), d.s.opts.BackoffCap)
	d.log.Warn("post failed, will go on", "part", a.part.ID, "open", a.open, "attempt", a.failures, "wait", wait, "err", f.text())
	return wait
}

// canCut bounds how small a part is cut: into halves, six times at most, down to
// some two hundred characters.
func (a *attempt) canCut() bool {
	return strings.Count(a.part.ID, "~") < 6 && utf8.RuneCountInString(a.part.Markdown) > 200
}

// pieces posts a part that is too long for one post in several, plainly. Each
// has an id of its own below the part's, so that a look finds it.
func (d *drain) pieces(a *attempt, look bool) (mailbox.Posted, error) {
	out := mailbox.Posted{ID: a.part.ID}
	for i, text := range render.SplitWithin(a.part.Markdown, utf8.RuneCountInString(a.part.Markdown)/2) {
		piece := a.part
		piece.ID, piece.Markdown = fmt.Sprintf("%s~%d", a.part.ID, i), text
		p, err := d.deliver(piece, render.Plain, look)
		if err != nil {
			return out, err
		}
		if p.Unsent != nil {
			// What is left of the part goes the same way, whole.
			out.Unsent = p.Unsent
			if p.Unsent.Moved {
				out.Unsent.Tell = TextMoved(a.part.Markdown)
			}
			return out, nil
		}
		if out.TS == "" {
			out.Channel, out.TS, out.DM = p.Channel, p.TS, p.DM
		}
	}
	return out, nil
}
