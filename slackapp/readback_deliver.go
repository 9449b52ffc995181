package slackapp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
)

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
