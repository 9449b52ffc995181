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

// written is when a part cannot have been posted yet. One that does not say when
// it was written is of a turn whose id says when that began.
func written(p chat.Part) time.Time {
	if p.Written != "" {
		return p.Written.Time()
	}
	if id, err := ulid.ParseStrict(strings.ToUpper(strings.TrimPrefix(string(p.Turn), "t_"))); err == nil {
		return ulid.Time(id.Time())
	}
	return time.Now().Add(-25 * time.Hour) // no part gets as old
}

// found is what a look has found of a part: how often the whole of it stands
// there, and as which message; or a piece, when it was cut.
type found struct {
	whole int
	ts    chat.TS
	piece bool
}

func (f found) any() bool { return f.whole > 0 || f.piece }

// look finds a part in Slack: as a post of our own, with its id. Others could
// write the same metadata.
func (d *drain) look(a *attempt) (found, error) {
	oldest := strconv.FormatInt(a.began.Add(-skew).Unix(), 10) + ".000000"
	thread := a.part.To.Thread
	if thread != "" {
		f, err := d.pages(a, func(ctx context.Context, cursor string) ([]slack.Message, string, error) {
			m, _, next, err := d.s.opts.Client.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: string(a.channel), Timestamp: string(thread), Oldest: oldest, Inclusive: true,
				Limit: 200, Cursor: cursor, IncludeAllMetadata: true,
			})
			return m, next, err
		})
		if err == nil && (f.any() || a.thread != "") {
			return f, nil
		}
		if err != nil && judge(err).kind != failThread {
			return f, lookFailure(err)
		}
		// Where the thread is gone Slack posts beside it.
	}
	f, err := d.pages(a, func(ctx context.Context, cursor string) ([]slack.Message, string, error) {
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
		return f, lookFailure(err)
	}
	return f, nil
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
func (d *drain) pages(a *attempt, page func(context.Context, string) ([]slack.Message, string, error)) (f found, err error) {
	cursor := ""
	for {
		if err := d.take(); err != nil {
			return f, err
		}
		ctx, cancel := context.WithTimeout(d.over, d.s.opts.LeaseTTL)
		messages, next, err := page(ctx, cursor)
		cancel()
		d.s.release()
		if d.over.Err() != nil {
			return f, errOver
		}
		if err != nil {
			return f, fmt.Errorf("look for part %s: %w", a.part.ID, err)
		}
		for _, m := range messages {
			switch id := d.s.partOf(m); {
			case id == a.part.ID:
				f.whole++
				f.ts = chat.TS(m.Timestamp)
			case strings.HasPrefix(id, a.part.ID+"~") && !a.apart:
				f.piece = true
			}
		}
		if f.any() || next == "" || next == cursor {
			return f, nil
		}
		cursor = next
	}
}

// partOf is the id of the part that a message is; empty when it is none, or is
// somebody else's.
func (s *Sender) partOf(m slack.Message) string {
	ours := m.User == string(s.opts.Self.User) && m.User != "" || m.BotID == s.opts.Self.Bot && m.BotID != ""
	if !ours || m.Metadata.EventType != partEvent {
		return ""
	}
	id, _ := m.Metadata.EventPayload["id"].(string)
	return id
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
