package slackapp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

const (
	// overlap is read again before a gap: what was on its way when the last sign
	// was given, by a clock that need not be Slack's.
	overlap = 30 * time.Second
	// editsBefore is how old a message may be at the beginning of a gap, so that
	// its edit is found.
	editsBefore = time.Hour
	// readBatch is how many messages are delivered in one step at most.
	readBatch = 64
)

// reading is one attempt at a gap.
type reading struct {
	*ReadBack
	gap    mailbox.Gap
	cancel context.CancelFunc

	since, oldest  chat.TS // where messages, and edits, begin
	found, entered int
}

// place is a channel in which the bot is, as Slack names its kinds in events.
type place struct {
	id     chat.ChannelID
	kind   string // channel, group, im or mpim
	shared bool   // with another organisation
}

// job is what is read and delivered together, in the order of time.
type job struct {
	in place
	// top: the channel's top level too, with the threads that began in the gap.
	top     bool
	threads []chat.TS
}

// run reads the gap back and closes it. What Slack or the store does not give
// now is asked for again, until ctx ends.
func (r *reading) run(ctx context.Context) {
	start := time.Now()
	from := r.gap.From.Add(-overlap)
	r.since, r.oldest = slackTime(from), slackTime(from.Add(-editsBefore))
	jobs, err := r.jobs(ctx)
	for wait := time.Second; err == nil && len(jobs) > 0; wait = min(2*wait, time.Minute) {
		if jobs, err = r.pass(ctx, jobs); len(jobs) > 0 && err == nil {
			err = pause(ctx, wait)
		}
	}
	closed := false
	if err == nil {
		closed, err = again(ctx, func() (bool, error) { return r.opts.Gaps.CloseGap(ctx, r.gap) })
	}
	log := r.log.With("gap", r.gap.Number, "from", r.gap.From, "messages", r.found, "entered", r.entered, "took", time.Since(start).Round(time.Millisecond))
	switch {
	case ctx.Err() != nil:
		log.Info("reading back broken off")
	case err != nil:
		log.Warn("gap not read back", "err", scrubbed(err))
	default:
		log.Info("gap read back", "closed", closed)
	}
}

// pass does each job once and answers those that are to be tried again.
func (r *reading) pass(ctx context.Context, jobs []job) (left []job, err error) {
	for _, j := range jobs {
		err := r.do(ctx, j)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
		case refusedForGood(err), lacksScope(err):
			r.log.Warn("not read back, slack refuses it", "channel", j.in.id, "err", scrubbed(err))
		default:
			r.log.Warn("not read back yet", "channel", j.in.id, "err", scrubbed(err))
			left = append(left, j)
		}
	}
	return left, nil
}

// jobs are what is to be read, where somebody waits first: the DMs in which
// there was talk, each with its threads; the channels; the threads of ours in
// them, those of last first; and the other DMs.
func (r *reading) jobs(ctx context.Context) ([]job, error) {
	touched, err := again(ctx, func() ([]chat.Conversation, error) { return r.opts.Gaps.Touched(ctx, r.gap.From) })
	if err != nil {
		return nil, err
	}
	places, err := again(ctx, func() ([]place, error) { return r.places(ctx) })
	if err != nil {
		return nil, err
	}
	known := map[chat.ChannelID]place{}
	for _, p := range places {
		known[p.id] = p
	}
	var dms, threads []job
	at := map[chat.ChannelID]int{} // of a DM's job
	for _, c := range touched {
		p, ok := known[c.Channel]
		if !ok && strings.HasPrefix(string(c.Channel), "D") {
			p, ok = place{id: c.Channel, kind: "im"}, true // closed, and there all the same
		}
		i, begun := at[c.Channel]
		switch {
		case !ok || c.Team != r.opts.Self.Team: // the bot has left it
		case p.kind != "im":
			threads = append(threads, job{in: p, threads: []chat.TS{c.Root}})
		case begun:
			dms[i].threads = append(dms[i].threads, c.Root)
		default:
			at[c.Channel] = len(dms)
			dms = append(dms, job{in: p, top: true, threads: []chat.TS{c.Root}})
		}
	}
	var channels, others []job
	for _, p := range places {
		_, begun := at[p.id]
		switch {
		case p.kind != "im":
			channels = append(channels, job{in: p, top: true})
		case !begun:
			others = append(others, job{in: p, top: true})
		}
	}
	return slices.DeleteFunc(slices.Concat(dms, channels, threads, others), r.barred), nil
}

// barred: the operator keeps the bot out of there.
func (r *reading) barred(j job) bool {
	a := r.opts.Admission
	return j.in.shared && !a.AllowExternal ||
		j.in.kind != "im" && len(a.Channels) > 0 && !a.Channels[j.in.id]
}

// do reads what one job names and delivers it in the order of time.
func (r *reading) do(ctx context.Context, j job) error {
	var said []chat.Message
	if j.top {
		top, threads, err := r.top(ctx, j.in)
		if err != nil {
			return err
		}
		said = top
		for _, t := range threads {
			if !slices.Contains(j.threads, t) {
				j.threads = append(slices.Clone(j.threads), t)
			}
		}
	}
	for _, root := range j.threads {
		replies, err := r.thread(ctx, j.in, root)
		if err != nil && (len(j.threads) == 1 && !j.top || !refusedForGood(err)) {
			return err
		}
		said = append(said, replies...)
	}
	slices.SortFunc(said, func(a, b chat.Message) int { return strings.Compare(string(a.ID.TS), string(b.ID.TS)) })
	said = slices.CompactFunc(said, func(a, b chat.Message) bool { return a.ID.TS == b.ID.TS })
	for _, m := range said {
		if m.ID.TS < r.since {
			if err := r.edited(ctx, m); err != nil {
				return err
			}
		}
	}
	said = slices.DeleteFunc(said, func(m chat.Message) bool { return m.ID.TS < r.since })
	for batch := range slices.Chunk(said, readBatch) {
		if err := r.deliver(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// deliver puts messages like those that a socket brings.
func (r *reading) deliver(ctx context.Context, batch []chat.Message) error {
	var told []runtime.Outcome
	left := batch
	_, err := again(ctx, func() (none struct{}, err error) {
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		var failed []chat.Message
		for i, o := range r.opts.Inbox.Deliver(limited, left) {
			if o.Err != nil {
				failed, err = append(failed, left[i]), o.Err
			} else {
				told = append(told, o)
			}
		}
		left = failed
		return none, err
	})
	r.found += len(told)
	for _, o := range told {
		if o.Disposition == chat.Duplicate && err == nil {
			err = r.edited(ctx, o.Message)
		}
	}
	told = slices.DeleteFunc(told, func(o runtime.Outcome) bool {
		return o.Disposition == chat.Duplicate || o.Disposition == chat.Ignored
	})
	r.entered += len(told)
	if len(told) > 0 && r.opts.Notices != nil {
		r.opts.Notices.Told(ctx, told)
	}
	return err
}

// edited passes on an edit that was made in the gap.
func (r *reading) edited(ctx context.Context, m chat.Message) error {
	if m.Edited < r.since || r.opts.Edits == nil {
		return nil
	}
	return r.opts.Edits.Edited(ctx, m)
}

// again repeats a call that may go well later, five times.
func again[T any](ctx context.Context, call func() (T, error)) (got T, err error) {
	for n, wait := 0, time.Second; ; n, wait = n+1, min(2*wait, 5*time.Second) {
		if got, err = call(); err == nil || n == 4 || refusedForGood(err) {
			return got, err
		}
		if paused := pause(ctx, wait); paused != nil {
			return got, errors.Join(err, paused)
		}
	}
}

// slackTime is a time in the form of Slack's timestamps.
func slackTime(t time.Time) chat.TS {
	return chat.TS(strconv.FormatInt(t.Unix(), 10) + ".000000")
}

// admitRead admits a message that was read from a channel, by the rules for
// those that come as events. The text of somebody else's edit is no edit.
func (r *reading) admitRead(message json.RawMessage, in place) (m chat.Message, ok bool) {
	if !r.opts.Self.whole() {
		return chat.Message{}, false
	}
	ev := newRawEvent(parseFields(message))
	ev.Channel, ev.ChannelType = string(in.id), in.kind
	v := admitMessage(Raw{Team: r.opts.Self.Team, ExtShared: in.shared}, ev, r.opts.Self, r.opts.Admission)
	if v.Kind != KindMessage {
		return chat.Message{}, false
	}
	if ev.EditedUser != ev.User {
		v.Message.Edited = ""
	}
	return v.Message, true
}
