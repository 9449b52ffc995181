// Package slack is the plugin that reads in Slack beyond what a turn is given:
// a thread further back, a channel, a message by its link, a person. It has no
// token. What it may read is decided by the host, for the person for whom the
// call is made: only where he is a member himself.
package slack

import (
	"context"
	"errors"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// New is the plugin.
func New() plugins.Plugin { return slack{} }

type slack struct{}

func (slack) Name() string { return "slack" }

func (slack) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{Tools: []plugins.Tool{
		plugins.MustTool(reading("read_thread",
			"Reads messages of a Slack thread, the newest ones or those before a moment. Without link and channel it is the thread you are in: use it for what was said further back than you were shown."), thread),
		plugins.MustTool(reading("read_channel",
			"Reads the newest top-level messages of a Slack channel, or those before a moment. Threads below them are read with read_thread."), channel),
		plugins.MustTool(reading("read_message",
			"Reads one Slack message by its link."), message),
		plugins.MustTool(reading("find_person",
			"Tells what Slack says of a person of this workspace, by id or mention: name, title, time zone."), person),
	}}, nil
}

// reading is what all tools here have in common.
func reading(name, description string) plugins.Tool {
	return plugins.Tool{
		Name: name, Description: description + " It reads only where the person you act for is a member.",
		Effect: plugins.Pure, Access: plugins.Read, Provider: plugins.SlackProvider,
	}
}

type threadArguments struct {
	Link    string `json:"link,omitempty" jsonschema:"link to any message of the thread"`
	Channel string `json:"channel,omitempty" jsonschema:"the channel's id or name, instead of a link"`
	Thread  string `json:"thread,omitempty" jsonschema:"ts of the thread's first message, with channel"`
	Before  string `json:"before,omitempty" jsonschema:"only messages before this ts, such as 1700000000.000100"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many messages, 30 when left out, 100 at most"`
}

func thread(ctx context.Context, call plugins.Call, in threadArguments) (plugins.Result, error) {
	place := plugins.SlackPlace{
		Channel: string(call.Conversation.Channel), Thread: call.Conversation.Root,
		Before: chat.TS(in.Before), Limit: limit(in.Limit),
	}
	switch {
	case in.Link != "":
		at, ok := parseLink(in.Link)
		if !ok {
			return refuse(noLink), nil
		}
		place.Channel, place.Thread = at.channel, at.ts
		if at.thread != "" {
			place.Thread = at.thread
		}
	case in.Channel != "" && in.Thread != "":
		place.Channel, place.Thread = channelOf(in.Channel), chat.TS(in.Thread)
	case in.Channel != "" || in.Thread != "":
		return refuse("To read another thread give its link, or both channel and thread."), nil
	}
	return list(ctx, call, place)
}

type channelArguments struct {
	Channel string `json:"channel,omitempty" jsonschema:"the channel's id, name or link; left out: the channel you are in"`
	Before  string `json:"before,omitempty" jsonschema:"only messages before this ts, such as 1700000000.000100"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many messages, 30 when left out, 100 at most"`
}

func channel(ctx context.Context, call plugins.Call, in channelArguments) (plugins.Result, error) {
	place := plugins.SlackPlace{Channel: string(call.Conversation.Channel), Before: chat.TS(in.Before), Limit: limit(in.Limit)}
	if in.Channel != "" {
		place.Channel = channelOf(in.Channel)
	}
	return list(ctx, call, place)
}

type messageArguments struct {
	Link string `json:"link" jsonschema:"the message's link, as Slack's Copy link gives it"`
}

func message(ctx context.Context, call plugins.Call, in messageArguments) (plugins.Result, error) {
	at, ok := parseLink(in.Link)
	switch {
	case !ok:
		return refuse(noLink), nil
	case call.Slack == nil:
		return refuse(noSlack), nil
	}
	found, err := call.Slack.Message(ctx, at.channel, at.thread, at.ts)
	if err != nil {
		return failed(err)
	}
	s := sheet{call: call}
	s.place(found.Conversation.Channel, found.Visibility)
	s.message(found)
	return plugins.Result{Text: s.String()}, nil
}

type personArguments struct {
	Person string `json:"person" jsonschema:"the person's id, such as U0123ABCD, or a mention of him"`
}

func person(ctx context.Context, call plugins.Call, in personArguments) (plugins.Result, error) {
	user, ok := userOf(in.Person)
	switch {
	case !ok:
		return refuse("That is no person's id or mention. An id begins with U or W, as in <@U0123ABCD>; names are not looked up."), nil
	case call.Slack == nil:
		return refuse(noSlack), nil
	}
	found, err := call.Slack.Person(ctx, user)
	if err != nil {
		return failed(err)
	}
	return plugins.Result{Text: describe(found)}, nil
}

const (
	noLink  = "That is no link to a Slack message. One looks like https://WORKSPACE.slack.com/archives/C0123ABCD/p1700000000000100."
	noSlack = "Slack cannot be read here."
	noTS    = "before and thread take a ts such as 1700000000.000100, as the results show them."
)

// list reads the messages of a place.
func list(ctx context.Context, call plugins.Call, in plugins.SlackPlace) (plugins.Result, error) {
	switch {
	case in.Before != "" && !isTS(in.Before), in.Thread != "" && !isTS(in.Thread):
		return refuse(noTS), nil
	case call.Slack == nil:
		return refuse(noSlack), nil
	}
	messages, more, err := call.Slack.Messages(ctx, in)
	if err != nil {
		return failed(err)
	}
	return plugins.Result{Text: write(call, in, messages, more)}, nil
}

const (
	usual = 30
	most  = 100
)

func limit(asked int) int {
	if asked <= 0 {
		return usual
	}
	return min(asked, most)
}

// failed hands a refusal to the model as the sentence that it is.
func failed(err error) (plugins.Result, error) {
	if refusal, ok := errors.AsType[plugins.Refusal](err); ok {
		return refuse(string(refusal)), nil
	}
	return plugins.Result{}, err
}

func refuse(why string) plugins.Result { return plugins.Result{Error: true, Text: why} }
