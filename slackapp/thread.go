package slackapp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// What a thread is read for at most.
const (
	threadMost = 200
	threadTime = 2 * time.Second
)

// threadPage is how many messages one call asks for.
const threadPage = 200

// ThreadReader reads what was said in a thread before somebody mentioned the
// bot in it.
type ThreadReader struct {
	Reader *Reader
	Self   Identity
	Policy Admission
}

// Thread reads the newest messages of a conversation before one, oldest first,
// as context. Slack gives a thread oldest first only, so it is asked from one
// day before the message, then from a week, then from the start, until there is
// enough or no more time. missing: older ones were left out, or may have been.
func (t *ThreadReader) Thread(ctx context.Context, in chat.Conversation, visibility chat.Visibility, before chat.TS) (messages []chat.Message, missing bool, err error) {
	if in.Root == before {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, threadTime)
	defer cancel()
	var got []chat.Message
	whole := false
	for _, back := range []time.Duration{24 * time.Hour, 7 * 24 * time.Hour, 0} {
		oldest := ""
		if start := before.Time().Add(-back); back > 0 && start.After(in.Root.Time()) {
			oldest = strconv.FormatInt(start.Unix(), 10) + ".000000"
		}
		window, complete, readErr := t.window(ctx, in, visibility, oldest, before)
		if readErr != nil {
			// What was read before is worth having. An older window that was
			// cut short is not: its newest messages are the ones that lack.
			if len(got) == 0 {
				got = window
			}
			if len(got) > 0 {
				return newest(got), true, nil
			}
			return nil, true, fmt.Errorf("read thread %s: %w", in.Key(), readErr)
		}
		got = window
		whole = oldest == "" && complete
		if whole || len(got) >= threadMost {
			break
		}
	}
	return newest(got), !whole || len(got) > threadMost, nil
}

func newest(messages []chat.Message) []chat.Message {
	return messages[max(0, len(messages)-threadMost):]
}

// window reads the messages between two times, page after page. Of a long one
// the newest are kept. Slack puts a thread's first message in front of every
// answer.
func (t *ThreadReader) window(ctx context.Context, in chat.Conversation, visibility chat.Visibility, oldest string, before chat.TS) (got []chat.Message, complete bool, err error) {
	complete, cursor := true, ""
	for {
		page, next, err := t.Reader.replies(ctx, in, oldest, before, cursor)
		if err != nil {
			return got, false, err
		}
		for _, raw := range page {
			m, ok := t.read(raw, in, visibility)
			switch {
			case !ok || m.ID.TS >= before:
			case slices.ContainsFunc(got, func(g chat.Message) bool { return g.ID == m.ID }):
			default:
				got = append(got, m)
			}
		}
		if len(got) > 2*threadMost {
			got, complete = slices.Clone(newest(got)), false
		}
		if next == "" || next == cursor {
			return got, complete, nil
		}
		cursor = next
	}
}

// read understands one message by the rules of admission; nobody instructs with
// it. The bot's own posts are its answers of earlier.
func (t *ThreadReader) read(raw json.RawMessage, in chat.Conversation, visibility chat.Visibility) (chat.Message, bool) {
	m, ok := ReadMessage(raw, in, visibility, t.Self, t.Policy)
	if !ok {
		ev := newRawEvent(parseFields(raw))
		ev.Channel = string(in.Channel)
		if !isTS(ev.TS) || !t.Self.posted(Raw{Team: in.Team}, ev) {
			return chat.Message{}, false
		}
		m = newMessage(ev, t.Self)
		m.Conversation, m.Visibility = in, visibility
		m.Author = chat.Person(t.Self.Team, t.Self.User)
	}
	m.Standing = chat.ContextOnly
	m.Addressed, m.Forced, m.Stop = false, false, false
	return m, true
}

// replies reads one page of a thread in its raw form.
func (r *Reader) replies(ctx context.Context, in chat.Conversation, oldest string, before chat.TS, cursor string) (page []json.RawMessage, next string, err error) {
	var body bytes.Buffer
	ctx = context.WithValue(ctx, keepKey{}, &body)
	_, _, _, err = r.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
		ChannelID: string(in.Channel), Timestamp: string(in.Root), Oldest: oldest, Latest: string(before),
		Limit: threadPage, Cursor: cursor,
	})
	return pageOf(body.Bytes(), err)
}

// pageOf reads one page of messages in their raw form, and where the next one
// begins. What slack-go could not decode may do for us all the same.
func pageOf(body []byte, err error) (page []json.RawMessage, next string, _ error) {
	answer := parseFields(body)
	if !answer.stamp("ok").set {
		if err == nil {
			err = errNoObject
		}
		return nil, "", err
	}
	return answer.list("messages"), parseFields(answer["response_metadata"]).text("next_cursor"), nil
}
