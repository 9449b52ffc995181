package plugintest

import (
	"context"
	"fmt"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Slack is what tools with the provider plugins.SlackProvider read. Without it
// they find a workspace in which people have written whatever text they could.
func Slack(slack plugins.Slack) Option { return func(o *options) { o.slack = slack } }

// noisy is that workspace. It refuses what has no name.
type noisy struct{}

var _ plugins.Slack = noisy{}

func (noisy) Messages(ctx context.Context, in plugins.SlackPlace) (messages []plugins.SlackMessage, more bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if in.Channel == "" {
		return nil, false, plugins.Refusal("There is no such channel that you can both read.")
	}
	for n := range min(max(in.Limit, 0), 100) {
		messages = append(messages, noise(chat.ChannelID(in.Channel), in.Thread, n))
	}
	return messages, true, nil
}

func (noisy) Message(ctx context.Context, channel string, thread, ts chat.TS) (plugins.SlackMessage, error) {
	if err := ctx.Err(); err != nil {
		return plugins.SlackMessage{}, err
	}
	if channel == "" || ts == "" {
		return plugins.SlackMessage{}, plugins.Refusal("There is no such message that you can both read.")
	}
	return noise(chat.ChannelID(channel), thread, len(channel)+len(ts)), nil
}

func (noisy) Person(ctx context.Context, user chat.UserID) (plugins.SlackPerson, error) {
	if err := ctx.Err(); err != nil {
		return plugins.SlackPerson{}, err
	}
	if user == "" {
		return plugins.SlackPerson{}, plugins.Refusal("There is no such person in this workspace.")
	}
	n := len(user)
	return plugins.SlackPerson{
		ID: user, Name: hostile[n%len(hostile)], RealName: hostile[(n+1)%len(hostile)], Title: hostile[(n+2)%len(hostile)],
		Zone: hostile[(n+3)%len(hostile)], Bot: n%2 == 0, Guest: n%3 == 0, Deactivated: n%5 == 0,
	}, nil
}

// noise is a message that nobody would want to read.
func noise(channel chat.ChannelID, thread chat.TS, n int) plugins.SlackMessage {
	text := hostile[n%len(hostile)]
	author := []chat.Actor{Bob, AwayAlice, {}}[n%3]
	m := chat.Message{
		ID:     chat.MessageID{Team: Alice.Team, Channel: channel, TS: chat.TSOf(Start.Add(time.Duration(n) * time.Second))},
		Author: author, Name: text, Text: text, Attached: []chat.Attached{
			{Origin: chat.Quoted, Author: &author, Text: text},
			{Origin: chat.FileOrigin, File: &chat.File{ID: fmt.Sprintf("F%d", n), Name: text, Mime: text, Size: -1}},
		},
	}
	m.Conversation = chat.Conversation{Team: m.ID.Team, Channel: channel, Root: thread}
	return plugins.SlackMessage{Message: m, Replies: n - 1}
}
