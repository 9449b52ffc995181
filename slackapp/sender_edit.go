package slackapp

import (
	"context"
	"errors"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp/render"
)

// posted is the message that a part became.
type posted struct {
	channel chat.ChannelID
	ts      chat.TS
}

// edit puts a part in the place of another's post. Whatever nobody knows the
// end of is simply done again: it changes nothing. What is not there, or cannot
// be changed any more, is left as it is, and nobody is told.
func (d *drain) edit(part chat.Part) (mailbox.Posted, error) {
	out := mailbox.Posted{ID: part.ID}
	a := &attempt{part: part, rung: render.Markdown, began: time.Now()}
	if part.Card != nil {
		if err := d.tellOver(part); err != nil {
			return out, err
		}
		a.text = TextCard(*part.Card)
		if a.forms = wholeForms(*part.Card); len(a.forms) == 0 {
			a.forms = apartForms(*part.Card) // as the card itself was posted
		}
	}
	for {
		place, ok, err := d.placeOf(part.Edits)
		if err == nil && (!ok || tooOld(part, d.s.opts.MaxAge)) {
			d.log.Info("post to be changed is not known, or too old", "part", part.ID, "edits", part.Edits)
			return out, nil
		}
		if err == nil {
			a.channel = place.channel
			if err = d.update(a, place); err == nil {
				d.s.opts.Count(CountParts, "edited", 1)
				return out, nil
			}
		}
		if errors.Is(err, errOver) {
			return out, err
		}
		wait, over := d.reactEdit(a, judge(err))
		if over {
			return out, nil
		}
		if err := d.sleep(wait); err != nil {
			return out, err
		}
	}
}

// overTries is how often it is told of a card that is over before its post is
// changed all the same: what stands behind it has to go out.
const overTries = 8

// tellOver tells of a card that is over. Its only error is errOver.
func (d *drain) tellOver(part chat.Part) error {
	if d.s.opts.Over == nil || part.Card.Ending == nil {
		return nil
	}
	for try := range overTries {
		ctx, cancel := context.WithTimeout(context.Background(), d.s.opts.CallTimeout)
		err := d.s.opts.Over(ctx, *part.Card)
		cancel()
		if err == nil {
			return nil
		}
		d.log.Error("end of a question not recorded", "part", part.ID, "attempt", try+1, "err", err)
		if err := d.sleep(min(d.s.opts.Backoff<<try, d.s.opts.BackoffCap)); err != nil {
			return err
		}
	}
	return nil
}

// update makes one attempt.
func (d *drain) update(a *attempt, at posted) error {
	if err := d.s.pace.wait(at.channel, d.over.Done(), d.s.stop); err != nil {
		return err
	}
	deadline, err := d.begin()
	if err != nil {
		return err
	}
	defer d.s.release()
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	_, _, _, err = d.s.opts.Client.UpdateMessageContext(ctx, string(at.channel), string(at.ts), d.s.content(a)...)
	return err
}

// reactEdit says for how long to wait after a failure, or that it was the last.
func (d *drain) reactEdit(a *attempt, f *failure) (wait time.Duration, over bool) {
	switch {
	case f.kind == failForm && int(a.rung)+1 < a.rungs():
		a.rung++
		return 0, false
	case f.kind == failForm && a.canPart():
		a.forms, a.rung, a.apart = apartForms(*a.part.Card), 0, true
		return 0, false
	case f.kind == failForm || f.kind == failThread || f.kind == failForGood:
		d.s.opts.Count(CountParts, "edit_refused", 1)
		d.log.Warn("post not changed, slack will not have it", "part", a.part.ID, "edits", a.part.Edits, "err", f.text())
		return 0, true
	case f.kind == failLimited:
		d.s.pace.hold(a.channel, f.wait)
		return f.wait, false
	}
	a.failures++
	wait = min(d.s.opts.Backoff<<min(a.failures-1, 20), d.s.opts.BackoffCap)
	d.log.Warn("post not changed, will go on", "part", a.part.ID, "edits", a.part.Edits, "attempt", a.failures, "wait", wait, "err", f.text())
	return wait, false
}

// placeOf finds a part's post: one of this drain, or one that the mailbox knows.
func (d *drain) placeOf(part string) (posted, bool, error) {
	d.mu.Lock()
	at, ok := d.places[part]
	d.mu.Unlock()
	if ok {
		return at, true, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.s.opts.CallTimeout)
	defer cancel()
	channel, ts, ok, err := d.s.opts.Outbox.PostedAt(ctx, d.lease.Conversation, part)
	if err != nil {
		return posted{}, false, &failure{kind: failPassing, err: err}
	}
	return posted{channel, ts}, ok && channel != "" && ts != "", nil
}

// tooOld reports whether a part has waited for too long to be of use.
func tooOld(p chat.Part, most time.Duration) bool {
	return p.Written != "" && since(p.Written.Time()) > most
}
