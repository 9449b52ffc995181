package slackapp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	// readMost is how many messages one reading gives.
	readMost = 100
	// historyPages and threadPages bound the calls of one reading.
	historyPages = 3
	threadPages  = 10
	// nameTime and nameMost bound the look-ups of authors that are not known.
	nameTime = 3 * time.Second
	nameMost = 10
)

// Messages implements plugins.Slack.
func (r reader) Messages(ctx context.Context, in plugins.SlackPlace) ([]plugins.SlackMessage, bool, error) {
	channel, visibility, err := r.enter(ctx, in.Channel)
	if err != nil {
		return nil, false, err
	}
	if in.Thread != "" && !isTS(string(in.Thread)) || in.Before != "" && !isTS(string(in.Before)) {
		return nil, false, refusedMessage
	}
	if in.Limit <= 0 || in.Limit > readMost {
		in.Limit = readMost
	}
	raw, more := []json.RawMessage(nil), false
	if in.Thread == "" {
		raw, more, err = r.top(ctx, channel, in)
	} else {
		raw, more, err = r.thread(ctx, channel, in)
	}
	if err != nil {
		return nil, false, err
	}
	var found []plugins.SlackMessage
	for _, m := range raw {
		if read, ok := r.read(m, channel, visibility); ok {
			found = append(found, read)
		}
	}
	if len(found) > in.Limit {
		found, more = found[len(found)-in.Limit:], true
	}
	r.name(ctx, found)
	return found, more, nil
}

// Message implements plugins.Slack.
func (r reader) Message(ctx context.Context, channel string, thread, ts chat.TS) (plugins.SlackMessage, error) {
	id, visibility, err := r.enter(ctx, channel)
	if err != nil {
		return plugins.SlackMessage{}, err
	}
	if !isTS(string(ts)) || thread != "" && !isTS(string(thread)) {
		return plugins.SlackMessage{}, refusedMessage
	}
	var raw json.RawMessage
	if err = r.call(ctx, callHistory, func() (err error) {
		raw, err = r.opts.Reader.Fetch(ctx, id, thread, ts)
		return err
	}); err != nil {
		return plugins.SlackMessage{}, r.denied(ctx, callHistory, err, refusedMessage)
	}
	if raw == nil && thread == "" {
		// A reply is in no channel's history, and is found by its own ts.
		page, _, err := r.replies(ctx, id, plugins.SlackPlace{Thread: ts}, "", "")
		if err != nil {
			return plugins.SlackMessage{}, err
		}
		for _, m := range page {
			if parseFields(m).text("ts") == string(ts) {
				raw = m
			}
		}
	}
	found, ok := r.read(raw, id, visibility)
	if !ok {
		return plugins.SlackMessage{}, refusedMessage
	}
	list := []plugins.SlackMessage{found}
	r.name(ctx, list)
	return list[0], nil
}

// top reads a channel's top level, oldest first.
func (r reader) top(ctx context.Context, channel chat.ChannelID, in plugins.SlackPlace) (raw []json.RawMessage, more bool, err error) {
	cursor := ""
	for range historyPages {
		var page []json.RawMessage
		if err := r.call(ctx, callHistory, func() error {
			var body bytes.Buffer
			_, err := r.opts.Reader.api.GetConversationHistoryContext(context.WithValue(ctx, keepKey{}, &body), &slack.GetConversationHistoryParameters{
				ChannelID: string(channel), Latest: string(in.Before), Limit: in.Limit, Cursor: cursor,
			})
			page, cursor, err = pageOf(body.Bytes(), err)
			return err
		}); err != nil {
			return nil, false, r.denied(ctx, callHistory, err, refusedChannel)
		}
		raw = append(raw, page...)
		if len(raw) >= in.Limit || cursor == "" {
			break
		}
	}
	slices.Reverse(raw)
	return raw, cursor != "", nil
}

// thread reads the newest messages of a thread, which Slack gives oldest first.
// Nearly every thread is one page. Of a longer one the end is asked for, back
// from its last message by spans that grow until they hold enough.
func (r reader) thread(ctx context.Context, channel chat.ChannelID, in plugins.SlackPlace) (raw []json.RawMessage, more bool, err error) {
	raw, next, err := r.replies(ctx, channel, in, "", "")
	if err != nil || next == "" || len(raw) == 0 {
		return raw, false, err
	}
	more = true
	end := time.Now()
	if in.Before != "" {
		end = in.Before.Time()
	}
	if last := chat.TS(parseFields(raw[0]).text("latest_reply")); isTS(string(last)) && last.Time().Before(end) {
		end = last.Time()
	}
	for _, span := range []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 60 * 24 * time.Hour, 0} {
		oldest := ""
		if span > 0 {
			oldest = strconv.FormatInt(end.Add(-span).Unix(), 10) + ".000000"
		}
		got, whole, err := r.span(ctx, channel, in, oldest)
		if err != nil {
			return nil, false, err
		}
		if !whole {
			break // its newest messages are the ones that lack
		}
		raw, more = got, oldest != ""
		if len(raw) > in.Limit {
			break
		}
	}
	return raw, more, nil
}

// span reads a part of a thread to its end.
func (r reader) span(ctx context.Context, channel chat.ChannelID, in plugins.SlackPlace, oldest string) (raw []json.RawMessage, whole bool, err error) {
	cursor := ""
	for range threadPages {
		page, next, err := r.replies(ctx, channel, in, oldest, cursor)
		if err != nil {
			return nil, false, err
		}
		if cursor != "" && len(page) > 0 && parseFields(page[0]).text("ts") == string(in.Thread) {
			page = page[1:] // each page begins with the thread's first message
		}
		raw = append(raw, page...)
		if next == "" || next == cursor {
			return raw, true, nil
		}
		cursor = next
	}
	return raw, false, nil
}

// replies reads one page of a thread.
func (r reader) replies(ctx context.Context, channel chat.ChannelID, in plugins.SlackPlace, oldest, cursor string) (page []json.RawMessage, next string, err error) {
	at := chat.Conversation{Team: r.opts.Self.Team, Channel: channel, Root: in.Thread}
	if err := r.call(ctx, callReplies, func() (err error) {
		page, next, err = r.opts.Reader.replies(ctx, at, oldest, in.Before, cursor)
		return err
	}); err != nil {
		return nil, "", r.denied(ctx, callReplies, err, refusedMessage)
	}
	// Slack puts the thread's first message into every answer.
	page = slices.DeleteFunc(page, func(m json.RawMessage) bool {
		return in.Before != "" && parseFields(m).text("ts") >= string(in.Before)
	})
	return page, next, nil
}

// read understands one message by the rules of admission. Nobody instructs with
// it, and nobody addresses the bot.
func (r reader) read(raw json.RawMessage, channel chat.ChannelID, visibility chat.Visibility) (plugins.SlackMessage, bool) {
	f := parseFields(raw)
	root := f.text("thread_ts")
	if root == "" {
		root = f.text("ts")
	}
	in := chat.Conversation{Team: r.opts.Self.Team, Channel: channel, Root: chat.TS(root)}
	threads := ThreadReader{Self: r.opts.Self, Policy: r.opts.Admission}
	m, ok := threads.read(raw, in, visibility)
	return plugins.SlackMessage{Message: m, Replies: int(max(f.number("reply_count"), 0))}, ok
}

// name fills in the authors' display names, as far as they are known or soon
// found.
func (r reader) name(ctx context.Context, messages []plugins.SlackMessage) {
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	asked := 0
	for i, m := range messages {
		switch {
		case m.Name != "" || !m.Author.IsPerson():
			continue
		case m.Author == chat.Person(r.opts.Self.Team, r.opts.Self.User):
			messages[i].Name = "this bot"
			continue
		}
		if facts, ok := r.opts.People.Known(m.Author); ok {
			messages[i].Name = facts.Name
			continue
		}
		if asked++; asked > nameMost || ctx.Err() != nil {
			continue
		}
		if facts, err := r.opts.People.Facts(ctx, m.Author); err == nil {
			messages[i].Name = facts.Name
		}
	}
}
