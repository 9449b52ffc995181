package slackapp

import (
	"context"
	"errors"

	"github.com/slack-go/slack"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// Why something that was asked for is not said any more where it was asked. Each
// goes to the person who asked, who was in that place.
const (
	goneArchived = plugins.Refusal("the channel is archived.")
	goneChannel  = plugins.Refusal("I am not in that channel any more.")
	gonePerson   = plugins.Refusal("you are not in that channel any more.")
	goneAllowed  = plugins.Refusal("I may not work in that channel any more.")
	goneShared   = plugins.Refusal("the channel is shared with another organisation now, and I may not work in such channels.")
)

// Place is who can read a conversation, if a person and the bot are in it at this
// moment and the bot may work there. A plugins.Refusal says why not; any other
// error, that Slack could not be asked.
func (r *Readings) Place(ctx context.Context, who chat.Actor, in chat.Conversation) (chat.Visibility, error) {
	info, err := r.opts.Client.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: string(in.Channel)})
	if err != nil {
		if f := judge(err); f.code() == "channel_not_found" { // also of a private one that the bot has left
			return "", goneChannel
		}
		return "", err
	}
	visibility := readersOf(info)
	allowed := r.opts.Admission.Channels
	switch {
	case info.IsArchived:
		return "", goneArchived
	case visibility == chat.DM && info.User != "" && info.User != string(who.User):
		return "", gonePerson
	case visibility == chat.DM:
		return visibility, nil
	case len(allowed) > 0 && !allowed[in.Channel]:
		return "", goneAllowed
	case visibility == chat.Shared && !r.opts.Admission.AllowExternal:
		return "", goneShared
	}
	switch err := (reader{r, who}).member(ctx, in.Channel); {
	case err == nil:
		return visibility, nil
	case errors.Is(err, refusedChannel) && !info.IsMember:
		return "", goneChannel
	case errors.Is(err, refusedChannel):
		return "", gonePerson
	default: // a limit of Slack's, or an outage: no reason to end anything
		return "", errors.New(err.Error())
	}
}
