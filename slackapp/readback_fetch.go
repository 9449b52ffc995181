package slackapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// The methods that reading back calls, each with its own share of the rate.
const (
	callList    = "users.conversations"
	callHistory = "conversations.history"
	callReplies = "conversations.replies"
)

// readPage is how many messages or channels one call asks for.
const readPage = 200

// call makes a call when the share of its method's rate allows, and again after
// the wait that Slack asks for.
func (r *reading) call(ctx context.Context, method string, do func() error) error {
	for {
		if err := r.calls[method].Wait(ctx); err != nil {
			return err
		}
		err := do()
		if err == nil {
			return nil
		}
		f := judge(err)
		if f.kind != failLimited {
			return err
		}
		r.log.Info("reading back waits, slack limits the rate", "method", method, "wait", f.wait)
		if err := pause(ctx, f.wait); err != nil {
			return err
		}
	}
}

// kinds are the kinds of channels as lists name them.
var kinds = []string{"im", "public_channel", "private_channel", "mpim"}

// places lists where the bot is a member. With a token that lacks a scope, each
// kind is asked for alone, and what is refused is left out.
func (r *reading) places(ctx context.Context) ([]place, error) {
	all, err := r.list(ctx, kinds...)
	if !lacksScope(err) {
		return all, err
	}
	for _, kind := range kinds {
		some, err := r.list(ctx, kind)
		switch {
		case lacksScope(err):
			r.log.Warn("not read back, slack refuses it", "kind", kind, "err", scrubbed(err))
		case err != nil:
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (r *reading) list(ctx context.Context, kinds ...string) (all []place, err error) {
	for cursor := ""; ; {
		var page []slack.Channel
		var next string
		if err := r.call(ctx, callList, func() (err error) {
			page, next, err = r.opts.Reader.api.GetConversationsForUserContext(ctx, &slack.GetConversationsForUserParameters{
				Types: kinds, Cursor: cursor, Limit: readPage, ExcludeArchived: true,
			})
			return err
		}); err != nil {
			return nil, fmt.Errorf("list the bot's channels: %w", err)
		}
		for _, c := range page {
			if validID(c.ID) {
				all = append(all, place{id: chat.ChannelID(c.ID), kind: kindOf(c), shared: c.IsExtShared})
			}
		}
		if next == "" || next == cursor {
			return all, nil
		}
		cursor = next
	}
}

// kindOf names a channel's kind as events do.
func kindOf(c slack.Channel) string {
	switch {
	case c.IsIM:
		return "im"
	case c.IsMpIM:
		return "mpim"
	case c.IsPrivate || c.IsGroup:
		return "group"
	}
	return "channel"
}

// top reads what was said at the top of a channel, and names the threads in
// which there were replies since: in a DM all, in a channel those of messages
// that address the bot. What addresses nobody there concerns us not.
func (r *reading) top(ctx context.Context, in place) (said []chat.Message, threads []chat.TS, err error) {
	err = r.pages(ctx, callHistory, func(cursor string) ([]json.RawMessage, string, error) {
		return r.opts.Reader.history(ctx, in.id, r.oldest, cursor)
	}, func(raw json.RawMessage) {
		f := parseFields(raw)
		ts, root := f.text("ts"), f.text("thread_ts")
		if !isTS(ts) || root != "" && root != ts {
			return // a reply that is shown in the channel too
		}
		m, ok := r.admitRead(raw, in)
		ours := in.kind == "im" || ok && m.Addressed && m.Standing != chat.ContextOnly
		if !ours {
			return
		}
		if ok {
			said = append(said, m)
		}
		if f.text("latest_reply") >= string(r.oldest) {
			threads = append(threads, chat.TS(ts))
		}
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read back %s: %w", in.id, err)
	}
	return said, threads, nil
}

// thread reads the replies below a message.
func (r *reading) thread(ctx context.Context, in place, c chat.Conversation) (said []chat.Message, err error) {
	err = r.pages(ctx, callReplies, func(cursor string) ([]json.RawMessage, string, error) {
		return r.opts.Reader.replies(ctx, c, string(r.oldest), "", cursor)
	}, func(raw json.RawMessage) {
		if m, ok := r.admitRead(raw, in); ok && m.ID.TS != c.Root && m.ID.TS >= r.oldest {
			said = append(said, m)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read back thread %s: %w", c.Key(), err)
	}
	return said, nil
}

// pages reads page after page.
func (r *reading) pages(ctx context.Context, method string, read func(cursor string) ([]json.RawMessage, string, error), each func(json.RawMessage)) error {
	cursor := ""
	for {
		var page []json.RawMessage
		var next string
		if err := r.call(ctx, method, func() (err error) {
			page, next, err = read(cursor)
			return err
		}); err != nil {
			return err
		}
		for _, raw := range page {
			each(raw)
		}
		if next == "" || next == cursor {
			return nil
		}
		cursor = next
	}
}

// history reads one page of a channel's top level, newest first, in its raw
// form.
func (r *Reader) history(ctx context.Context, channel chat.ChannelID, oldest chat.TS, cursor string) (page []json.RawMessage, next string, err error) {
	var body bytes.Buffer
	_, err = r.api.GetConversationHistoryContext(context.WithValue(ctx, keepKey{}, &body), &slack.GetConversationHistoryParameters{
		ChannelID: string(channel), Oldest: string(oldest), Limit: readPage, Cursor: cursor,
	})
	return pageOf(body.Bytes(), err)
}

// lacksScope: the operator gave the token less than the manifest asks for.
func lacksScope(err error) bool {
	refused, ok := errors.AsType[slack.SlackErrorResponse](err)
	return ok && refused.Err == "missing_scope"
}
