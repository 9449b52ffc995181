package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"reeve/plugins"
)

// board is what this replica knows of all jobs. What it knows is never too late:
// a job's next time only moves forward, so that what another replica has done
// meanwhile is found out when it comes due here.
type board struct {
	mu    sync.Mutex
	known map[ref]*entry
}

// entry is a job that is known: when to look at it, and since when its record
// has been missing.
type entry struct {
	due     time.Time
	missing time.Time
}

// orphanAfter is how long something may stand in the index before its record is
// there: the record is written first, but may be read from elsewhere.
const orphanAfter = 5 * time.Minute

// atOnce is how many due jobs are begun at the same time.
const atOnce = 8

// run begins what comes due, until ctx ends.
func (p *Plugin) run(ctx context.Context) error {
	for {
		wait, err := p.look(ctx)
		if err != nil && ctx.Err() == nil {
			p.log.Warn("reminders not looked at", "err", err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-p.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// added lets this replica know of a new job at once.
func (p *Plugin) added(j job) {
	p.board.mu.Lock()
	if p.board.known[ref{j.By, j.ID}] == nil {
		p.board.known[ref{j.By, j.ID}] = &entry{due: j.At}
	}
	p.board.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// look reads the index, begins what is due, and answers when to look again. It
// costs one round trip, and two for each job that this replica has not seen.
func (p *Plugin) look(ctx context.Context) (time.Duration, error) {
	keys, err := p.index().Keys(ctx)
	if err != nil {
		return lookEvery, err
	}
	now := p.services.Now()
	var due []ref
	wait := lookEvery
	p.board.mu.Lock()
	listed := make(map[ref]bool, len(keys))
	for _, key := range keys {
		r, ok := parseRef(key)
		if !ok {
			continue
		}
		listed[r] = true
		e := p.board.known[r]
		if e == nil {
			e = &entry{} // due now: it has to be read
			p.board.known[r] = e
		}
		if in := e.due.Sub(now); in > 0 {
			wait = min(wait, in)
		} else {
			due = append(due, r)
		}
	}
	for r := range p.board.known {
		if !listed[r] {
			delete(p.board.known, r)
		}
	}
	p.board.mu.Unlock()

	var working sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, r := range due {
		places <- struct{}{}
		working.Go(func() {
			defer func() { <-places }()
			next, err := p.attend(ctx, r)
			if err != nil {
				if ctx.Err() == nil {
					p.log.Warn("reminder not begun", "id", r.id, "actor", r.by.Key(), "retry", lookEvery.String(), "err", err)
				}
				next = now.Add(lookEvery)
			}
			p.board.mu.Lock()
			if e := p.board.known[r]; e != nil {
				e.due = next
			}
			p.board.mu.Unlock()
		})
	}
	working.Wait()
	p.board.mu.Lock()
	defer p.board.mu.Unlock()
	for _, r := range due {
		if e := p.board.known[r]; e != nil {
			wait = min(wait, max(e.due.Sub(p.services.Now()), 0))
		}
	}
	return wait, nil
}

// attend reads a job, begins what is due of it, and answers when it comes next.
func (p *Plugin) attend(ctx context.Context, r ref) (next time.Time, err error) {
	store, now := p.services.Store(r.by), p.services.Now()
	j, found, err := p.load(ctx, store, r.id)
	if err != nil {
		return next, err
	}
	if !found {
		return p.orphan(ctx, r, now)
	}
	over, err := handled(ctx, store, j)
	if err != nil {
		return next, err
	}
	times, next := j.due(over, now)
	if len(times) == 0 {
		if next.IsZero() {
			return now.Add(lookEvery), p.remove(ctx, r)
		}
		return next, nil
	}
	last := times[len(times)-1]
	started, err := p.services.Start(ctx, dueOf(j, times, now))
	refusal, ended := errors.AsType[plugins.Refusal](err)
	switch {
	case ended:
		p.log.Info("reminder ended", "id", j.ID, "actor", j.By.Key(), "why", string(refusal))
		return now.Add(lookEvery), p.remove(ctx, r)
	case err != nil:
		return next, err
	case started:
		p.log.Info("reminder begun", "id", j.ID, "actor", j.By.Key(), "at", last, "late", now.Sub(last).Round(time.Second).String(), "missed", len(times)-1)
	}
	if next.IsZero() {
		return now.Add(lookEvery), p.remove(ctx, r)
	}
	if err := handle(ctx, store, j, last); err != nil {
		return next, err
	}
	// Who has cancelled it meanwhile is not to find a trace of it.
	if _, found, err := store.Get(ctx, jobKey(j.ID)); err != nil || found {
		return next, err
	}
	return now.Add(lookEvery), p.remove(ctx, r)
}

// orphan forgets what stands in the index alone, once that has been so for a
// while. A record that cannot be read, such as a later release's, stays.
func (p *Plugin) orphan(ctx context.Context, r ref, now time.Time) (time.Time, error) {
	if _, found, err := p.services.Store(r.by).Get(ctx, jobKey(r.id)); err != nil || found {
		return now.Add(lookEvery), err
	}
	p.board.mu.Lock()
	e := p.board.known[r]
	if e != nil && e.missing.IsZero() {
		e.missing = now
	}
	gone := e != nil && now.Sub(e.missing) >= orphanAfter
	p.board.mu.Unlock()
	if !gone {
		return now.Add(lookEvery), nil
	}
	return now.Add(lookEvery), p.remove(ctx, r)
}

// dueOf is what is begun of a job whose times these are: the last of them, or,
// when that is long past, a report of what was missed.
func dueOf(j job, times []time.Time, now time.Time) plugins.Due {
	last := times[len(times)-1]
	d := plugins.Due{
		Conversation: j.Conversation, Key: j.ID, Text: j.Text, CreatedBy: j.By, Created: j.Created, At: last, Zone: j.Zone,
		Report: now.Sub(last) > missedAfter,
	}
	earlier := len(times) - 1
	switch {
	case d.Report && earlier == 0:
		d.Note = fmt.Sprintf("It was due at %s, and I was not running then. It was missed.", j.shown(last))
	case d.Report:
		d.Note = fmt.Sprintf("It was due %d times from %s to %s, and I was not running then. They were missed.", len(times), j.shown(times[0]), j.shown(last))
	case now.Sub(last) > lateAfter:
		d.Note = fmt.Sprintf("It was due at %s and comes late.", j.shown(last))
	}
	if !d.Report && earlier == 1 {
		d.Note += " One before it was missed."
	} else if !d.Report && earlier > 1 {
		d.Note += fmt.Sprintf(" %d before it were missed, the first at %s.", earlier, j.shown(times[0]))
	}
	return d
}
