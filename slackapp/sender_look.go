package slackapp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// partEvent is the event type of the metadata that names a part.
const partEvent = "reeve_part"

// skew is by how much Slack's clock may be behind ours, for a look.
const skew = 2 * time.Minute

// written is when a part cannot have been written yet: its turn's id says when
// the turn began.
func written(p chat.Part) time.Time {
	if id, err := ulid.ParseStrict(strings.ToUpper(strings.TrimPrefix(string(p.Turn), "t_"))); err == nil {
		return ulid.Time(id.Time())
	}
	return time.Now().Add(-25 * time.Hour) // no part gets as old
}

// look reports whether a part stands in Slack: as a post of our own, with its
// id. Others could write the same metadata.
func (d *drain) look(a *attempt) (found bool, err error) {
	oldest := strconv.FormatInt(a.began.Add(-skew).Unix(), 10) + ".000000"
	thread := a.part.To.Thread
	if thread != "" {
		found, err = d.pages(a, func(ctx context.Context, cursor string) ([]slack.Message, string, error) {
			m, _, next, err := d.s.opts.Client.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: string(a.channel), Timestamp: string(thread), Oldest: oldest, Inclusive: true,
				Limit: 200, Cursor: cursor, IncludeAllMetadata: true,
			})
			return m, next, err
		})
		if err == nil && (found || a.thread != "") {
			return found, nil
		}
		if err != nil && judge(err).kind != failThread {
			return false, lookFailure(err)
		}
		// Where the thread is gone Slack posts beside it.
	}
	found, err = d.pages(a, func(ctx context.Context, cursor string) ([]slack.Message, string, error) {
		h, err := d.s.opts.Client.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
			ChannelID: string(a.channel), Oldest: oldest, Inclusive: true,
			Limit: 200, Cursor: cursor, IncludeAllMetadata: true,
		})
		if err != nil {
			return nil, "", err
		}
		return h.Messages, h.ResponseMetaData.NextCursor, nil
	})
	if err != nil {
		return false, lookFailure(err)
	}
	return found, nil
}

// lookFailure judges a look: it must be repeated unless the place itself is
// closed to us, where no post can be made either.
func lookFailure(err error) error {
	f := judge(err)
	switch f.kind {
	case failForm, failThread, failOpen:
		f.kind = failPassing
	}
	return f
}

// pages reads page after page until the part is found or there are no more.
func (d *drain) pages(a *attempt, page func(context.Context, string) ([]slack.Message, string, error)) (bool, error) {
	cursor := ""
	for {
		if err := d.take(); err != nil {
			return false, err
		}
		ctx, cancel := context.WithTimeout(d.over, d.s.opts.LeaseTTL)
		messages, next, err := page(ctx, cursor)
		cancel()
		d.s.release()
		if d.over.Err() != nil {
			return false, errOver
		}
		if err != nil {
			return false, fmt.Errorf("look for part %s: %w", a.part.ID, err)
		}
		for _, m := range messages {
			if d.s.isPart(m, a.part.ID) {
				return true, nil
			}
		}
		if next == "" || next == cursor {
			return false, nil
		}
		cursor = next
	}
}

func (s *Sender) isPart(m slack.Message, id string) bool {
	ours := m.User == string(s.opts.Self.User) && m.User != "" || m.BotID == s.opts.Self.Bot && m.BotID != ""
	return ours && m.Metadata.EventType == partEvent && m.Metadata.EventPayload["id"] == id
}

// dm is the channel of a person's DM.
func (s *Sender) dm(user chat.UserID) (chat.ChannelID, error) {
	s.mu.Lock()
	channel, ok := s.dms[user]
	s.mu.Unlock()
	if ok {
		return channel, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.LeaseTTL)
	defer cancel()
	c, _, _, err := s.opts.Client.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{string(user)}})
	if err != nil {
		return "", fmt.Errorf("open the dm of %s: %w", user, err)
	}
	if c == nil || c.ID == "" {
		return "", fmt.Errorf("open the dm of %s: slack named no channel", user)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.dms) >= 10_000 {
		clear(s.dms)
	}
	s.dms[user] = chat.ChannelID(c.ID)
	return chat.ChannelID(c.ID), nil
}
