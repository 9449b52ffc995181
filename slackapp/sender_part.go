package slackapp

import (
	"context"
	"errors"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
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
	// began is just before the first try; a post of the part is not older.
	began time.Time
	// open: a try may have been carried out, until its deadline.
	open     bool
	deadline time.Time
	failures int // in a row
	posted   chat.TS
}

// deliver posts a part, once. It returns when the part is posted or refused for
// good; its only error is errOver. posted is the message that it became in the
// conversation's channel, where that is known.
func (d *drain) deliver(part chat.Part, look bool) (posted chat.TS, err error) {
	a := &attempt{part: part, thread: part.To.Thread, began: time.Now(), open: look}
	if look {
		a.began = written(part)
	}
	for {
		err := d.try(a)
		switch {
		case err == nil:
			return a.posted, nil
		case errors.Is(err, errOver):
			return "", err
		}
		var f *failure
		if !errors.As(err, &f) {
			f = judge(err)
		}
		wait := d.react(a, f)
		if f.kind == failForGood {
			return "", nil
		}
		if err := d.sleep(wait); err != nil {
			return "", err
		}
	}
}

// react says what a failure changes, and for how long to wait.
func (d *drain) react(a *attempt, f *failure) time.Duration {
	switch f.kind {
	case failForm:
		if int(a.rung)+1 < render.Rungs {
			a.rung++
			d.log.Warn("post refused for its form, trying a plainer one", "part", a.part.ID, "rung", int(a.rung), "err", f.text())
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
		d.s.opts.Count(CountParts, "refused", 1)
		d.log.Error("part refused for good", "part", a.part.ID, "turn", a.part.Turn, "err", f.text())
		if d.s.opts.Refused != nil {
			d.s.opts.Refused(a.part, f.err)
		}
		return 0
	}
	a.failures++
	wait := min(d.s.opts.Backoff<<min(a.failures-1, 20), d.s.opts.BackoffCap)
	d.log.Warn("post failed, will go on", "part", a.part.ID, "open", a.open, "attempt", a.failures, "wait", wait, "err", f.text())
	return wait
}

// try makes one step: it settles an open try, or posts.
func (d *drain) try(a *attempt) error {
	if err := d.place(a); err != nil {
		return err
	}
	if a.open {
		// Whatever was sent may still be carried out until its deadline.
		if err := d.sleep(time.Until(a.deadline)); err != nil {
			return err
		}
		d.s.opts.Count(CountLooks, "", 1)
		found, err := d.look(a)
		if err != nil {
			return err
		}
		a.open = false
		if found {
			d.s.opts.Count(CountParts, "found", 1)
			d.log.Info("part found posted", "part", a.part.ID)
			return nil
		}
	}
	if err := d.s.pace.wait(a.channel, d.over.Done(), d.s.stop); err != nil {
		return err
	}
	deadline, err := d.begin()
	if err != nil {
		return err
	}
	defer d.s.release()
	a.deadline = deadline
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	_, _, answer, err := d.s.opts.Client.PostMessageWithResponseContext(ctx, string(a.channel), d.s.form(a)...)
	if err != nil {
		f := judge(err)
		a.open = f.kind == failOpen
		return f
	}
	if a.thread != "" && answer.ThreadTimestamp == "" && answer.Timestamp != "" {
		d.log.Info("slack posted a reply outside of its thread", "part", a.part.ID)
	}
	if a.channel == d.lease.Conversation.Channel {
		a.posted = chat.TS(answer.Timestamp)
	}
	d.s.opts.Count(CountParts, "posted", 1)
	d.log.Debug("part posted", "part", a.part.ID, "turn", a.part.Turn)
	return nil
}

// place finds the channel of a DM.
func (d *drain) place(a *attempt) error {
	if a.channel != "" {
		return nil
	}
	if a.part.To.Channel != "" {
		a.channel = a.part.To.Channel
		return nil
	}
	if err := d.take(); err != nil {
		return err
	}
	defer d.s.release()
	channel, err := d.s.dm(a.part.To.DM)
	if err != nil {
		f := judge(err)
		if f.kind == failForm || f.kind == failThread {
			f.kind = failForGood
		}
		return f
	}
	a.channel = channel
	return nil
}

// begin takes a place among the calls and answers the deadline of an attempt,
// inside of the time for which the lease is trusted.
func (d *drain) begin() (time.Time, error) {
	enough := (d.s.opts.LeaseTTL - d.s.opts.LeaseMargin) / 4
	for {
		if err := d.take(); err != nil {
			return time.Time{}, err
		}
		left, renewed := d.trust()
		if left >= enough {
			return time.Now().Add(left), nil
		}
		d.s.release()
		select {
		case <-renewed:
		case <-d.over.Done():
			return time.Time{}, errOver
		case <-d.s.stop:
			return time.Time{}, errOver
		}
	}
}

// take waits for a place among the calls to Slack.
func (d *drain) take() error {
	select {
	case <-d.s.stop:
		return errOver
	default:
	}
	select {
	case d.s.calls <- struct{}{}:
		return nil
	case <-d.over.Done():
	case <-d.s.stop:
	}
	return errOver
}

func (s *Sender) release() { <-s.calls }

// sleep waits, unless the lane must end.
func (d *drain) sleep(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-d.over.Done():
	case <-d.s.stop:
	}
	return errOver
}

// form is the part on its rung, as the call's options.
func (s *Sender) form(a *attempt) []slack.MsgOption {
	post := render.Render(a.part.Markdown, a.rung, render.Options{Mentions: a.part.Mentions, Name: s.opts.Name})
	if post.Text == "" && post.Markdown == "" {
		post = render.Render(TextNoAnswer(), render.Plain, render.Options{})
	}
	options := append(postOptions(post), slack.MsgOptionMetadata(slack.SlackMetadata{
		EventType: partEvent, EventPayload: map[string]any{"id": a.part.ID},
	}))
	if a.thread != "" {
		options = append(options, slack.MsgOptionTS(string(a.thread)))
	}
	return options
}

// postOptions are the same for all that we post: nothing is unfurled, since
// Slack would fetch what a model wrote, and no names are linked.
func postOptions(post render.Post) []slack.MsgOption {
	options := []slack.MsgOption{
		slack.MsgOptionText(post.Text, false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
	if post.Markdown != "" {
		return append(options, slack.MsgOptionBlocks(slack.NewMarkdownBlock("", post.Markdown)))
	}
	if !post.Mrkdwn {
		options = append(options, slack.MsgOptionDisableMarkdown())
	}
	return options
}
