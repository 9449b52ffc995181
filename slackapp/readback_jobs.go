package slackapp

import (
	"context"
	"slices"
	"strings"

	"reeve/runtime/chat"
)

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
