package slackapp

import (
	"github.com/slack-go/slack"

	"reeve/slackapp/render"
)

// form is the part on its rung, as the call's options.
func (s *Sender) form(a *attempt) []slack.MsgOption {
	options := append(s.content(a), slack.MsgOptionMetadata(slack.SlackMetadata{
		EventType: partEvent, EventPayload: map[string]any{"id": a.part.ID},
	}))
	if a.thread != "" {
		options = append(options, slack.MsgOptionTS(string(a.thread)))
	}
	return options
}

// content is what the part says, without where it stands.
func (s *Sender) content(a *attempt) []slack.MsgOption {
	if a.forms != nil {
		return cardOptions(a.forms[a.rung], a.text)
	}
	post := render.Render(a.part.Markdown, a.rung, render.Options{Mentions: a.part.Mentions, Name: s.opts.Name})
	if post.Text == "" && post.Markdown == "" {
		post = render.Render(TextNoAnswer(), render.Plain, render.Options{})
	}
	return postOptions(post)
}

// postOptions are the same for all that we post: nothing is unfurled, since
// Slack would fetch what a model wrote, and no names are linked.
func postOptions(post render.Post) []slack.MsgOption {
	options := []slack.MsgOption{
		slack.MsgOptionText(post.Text, false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
	if post.Markdown != "" {
		return append(options, slack.MsgOptionBlocks(slack.NewMarkdownBlock("", post.Markdown)))
	}
	if !post.Mrkdwn {
		options = append(options, slack.MsgOptionDisableMarkdown())
	}
	return options
}
