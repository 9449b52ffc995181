package slackapp

import (
	"context"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// A part that is not posted where it was to be: what Slack refuses for good,
// what has become too old, and what others could read now. The mailbox keeps it
// and tells the actor of its turn by DM, in the step that takes it out of the
// outbox. What is itself a DM is kept, and nobody is told, so that nothing goes
// round in circles.

// readersAge is how long it is believed who can read a channel, for a post.
const readersAge = time.Minute

// giveUp ends a part's delivery without a post.
func (a *attempt) giveUp(why, tell string) {
	if a.part.To.Channel == "" {
		tell = ""
	}
	a.over, a.unsent = true, &mailbox.Unsent{Why: why, Tell: tell}
}

// refused gives up what Slack will never take.
func (d *drain) refused(a *attempt, f *failure) {
	d.s.opts.Count(CountParts, "refused", 1)
	d.log.Error("part refused for good", "part", a.part.ID, "turn", a.part.Turn, "err", f.text())
	a.giveUp("refused by slack: "+f.text(), TextRefused(a.part.Turn, f.code()))
}

// late gives up a part that is too old to come as an answer.
func (d *drain) late(a *attempt) bool {
	at := a.part.Written.Time()
	if a.part.Written == "" || since(at) <= d.s.opts.MaxAge {
		return false
	}
	d.s.opts.Count(CountParts, "late", 1)
	d.log.Error("part too old to be posted", "part", a.part.ID, "turn", a.part.Turn, "written", at)
	a.giveUp("older than "+d.s.opts.MaxAge.String(), TextLate(a.part.Turn))
	return true
}

// checkReaders asks again who can read the channel, where that was last known
// too long ago. An answer that more could read now than its turn knew goes to
// the turn's actor alone.
func (d *drain) checkReaders(a *attempt) error {
	c, to := d.s.opts.Channels, a.part.To.Channel
	if c == nil || to == "" {
		return nil
	}
	now, known := c.known(to, readersAge)
	if !known {
		if a.part.Seen != "" && since(a.part.Seen.Time()) <= readersAge {
			return nil // Slack has just said so, with the message
		}
		ctx, cancel := context.WithTimeout(d.over, d.s.opts.LeaseTTL)
		defer cancel()
		defer context.AfterFunc(d.s.ending, cancel)()
		var err error
		if now, err = c.Within(ctx, to, readersAge); err != nil {
			if d.over.Err() != nil || d.s.ending.Err() != nil {
				return errOver
			}
			return lookFailure(err)
		}
	}
	if wider(now, a.part.Visibility) || now == chat.Shared && !d.s.opts.AllowExternal {
		d.s.opts.Count(CountParts, "moved", 1)
		d.log.Warn("more people can read the channel now, the part goes to its actor alone", "part", a.part.ID, "turn", a.part.Turn,
			"was", a.part.Visibility, "is", now)
		a.giveUp("the channel is "+string(now)+" now", TextMoved(a.part.Markdown))
		a.unsent.Moved = true
	}
	return nil
}

// wider reports whether more people can read what is now than what was.
func wider(now, was chat.Visibility) bool {
	order := map[chat.Visibility]int{chat.DM: 1, chat.Private: 2, chat.Public: 3, chat.Shared: 4}
	return order[was] > 0 && order[now] > order[was]
}
