package slackapp

import (
	"context"
	"time"

	"reeve/runtime/chat"
)

// try makes one step: it settles an open try, or posts.
func (d *drain) try(a *attempt) error {
	if a.open {
		if err := d.settleOpen(a); err != nil || a.over {
			return err
		}
	}
	if d.late(a) {
		return nil
	}
	if err := d.place(a); err != nil {
		return err
	}
	if err := d.checkReaders(a); err != nil || a.over {
		return err
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
	a.over = true
	if since(deadline) > 0 {
		d.s.opts.Count(CountLate, "", 1)
		d.log.Warn("part posted after its attempt's deadline, another sender may have posted it too", "part", a.part.ID)
	}
	if a.thread != "" && answer.ThreadTimestamp == "" && answer.Timestamp != "" {
		d.log.Info("slack posted a reply outside of its thread", "part", a.part.ID)
	}
	d.stands(a, chat.TS(answer.Timestamp))
	d.s.opts.Count(CountParts, "posted", 1)
	d.log.Debug("part posted", "part", a.part.ID, "turn", a.part.Turn)
	return nil
}

// stands says as what the part was posted, and remembers it of a card, for a
// part that takes its place.
func (d *drain) stands(a *attempt, ts chat.TS) {
	a.posted = ts
	if a.part.Card == nil || ts == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.places[a.part.ID] = posted{a.channel, ts}
}

// settleOpen finds out how a try ended that may have been carried out.
func (d *drain) settleOpen(a *attempt) error {
	if err := d.place(a); err != nil {
		return err
	}
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
	switch {
	case found.whole > 0:
		a.over = true
		d.stands(a, found.ts)
		d.s.opts.Count(CountParts, "found", 1)
		d.log.Info("part found posted", "part", a.part.ID)
		if found.whole > 1 {
			d.s.opts.Count(CountLate, "", 1)
			d.log.Warn("part stands there more than once", "part", a.part.ID, "times", found.whole)
		}
	case found.piece:
		a.over, a.cut = true, true
	}
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
