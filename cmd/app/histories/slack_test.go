package histories

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// post is a part that was posted.
type post struct {
	chat.Part
	at     int  // when, by the world's count
	unsent bool // Slack did not take it
}

// slack is the edge of a world.
type slack struct{ *house }

// Facts implements runtime.Slack.
func (s slack) Facts(_ context.Context, who chat.Actor) (runtime.Facts, error) {
	f, _ := s.Known(who)
	return f, nil
}

// Known implements runtime.Slack.
func (slack) Known(who chat.Actor) (runtime.Facts, bool) {
	if who == people[robot] {
		return runtime.Facts{Standing: chat.ContextOnly, Why: "a bot"}, true
	}
	return runtime.Facts{Standing: chat.MayInstruct, Name: "Alice"}, true // so they all call themselves
}

// Thread implements runtime.Slack.
func (slack) Thread(context.Context, chat.Conversation, chat.TS) ([]chat.Message, bool, error) {
	return nil, false, nil
}

// Split implements runtime.Slack.
func (slack) Split(text string) []string { return []string{text} }

// Show implements runtime.Slack.
func (s slack) Show(runtime.Change) { s.note(func() {}) }

// Post implements runtime.Slack: it posts all that there is, unless the sender is
// lost before it does.
func (s slack) Post(lease mailbox.SendLease, parts []chat.Part) {
	lost := false
	s.note(func() {
		if lost, s.mute = s.mute, false; lost {
			s.senders++
		}
	})
	for !lost && len(parts) > 0 {
		var done []mailbox.Posted
		s.note(func() {
			for _, p := range parts {
				done = append(done, s.posted(p))
			}
		})
		var err error
		if parts, err = s.box.Sent(context.Background(), lease, done...); errors.Is(err, mailbox.ErrStale) {
			return // another posts what is left
		} else if err != nil {
			s.wrong("posts are not marked: %v", err)
			return
		}
	}
	s.note(func() {})
}

// posted posts one part. The world is locked.
func (h *house) posted(p chat.Part) mailbox.Posted {
	h.count++
	done := mailbox.Posted{ID: p.ID, Channel: h.in.Channel, TS: chat.TS(fmt.Sprintf("%d.%06d", h.base+1, h.count)), Card: p.Card != nil}
	if p.To.DM != "" {
		done.Channel, done.DM = chat.ChannelID("D"+p.To.DM), true
	}
	if slices.ContainsFunc(h.posts, func(o post) bool { return o.ID == p.ID }) {
		return done // another sender has seen it in Slack
	}
	unsent := false
	if p.Card != nil && p.Edits == "" && h.refuse {
		h.refuse, unsent = false, true
		done = mailbox.Posted{ID: p.ID, Unsent: &mailbox.Unsent{Why: "refused", Tell: "It could not be posted."}}
	}
	h.posts = append(h.posts, post{p, h.count, unsent})
	return done
}
