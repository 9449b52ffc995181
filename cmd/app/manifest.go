package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

type manifestCommand struct{}

func (manifestCommand) Run(p *process) error {
	_, err := io.WriteString(p.options.Stdout, manifest())
	return err
}

// reason is one scope or event of the manifest, and what it is for. A test
// holds both lists equal to the methods called and the events handled in
// slackapp.
type reason struct{ name, why string }

var scopes = []reason{
	{"app_mentions:read", "be told of mentions"},
	{"channels:history", "be told of messages, and read threads, in public channels"},
	{"channels:read", "know its channels, whether each is public, private or shared, and who is a member"},
	{"chat:write", "answer"},
	{"groups:history", "the same as channels:history, in private channels"},
	{"groups:read", "the same as channels:read"},
	{"im:history", "the same, in direct messages"},
	{"im:read", "the same as channels:read"},
	{"im:write", "open a direct message to tell somebody something privately"},
	{"mpim:history", "the same, in group direct messages"},
	{"mpim:read", "the same as channels:read"},
	{"reactions:read", "be told of the reaction that stops"},
	{"reactions:write", "mark messages as seen, waiting and done"},
	{"users:read", "tell members from guests, bots and strangers; names and time zones"},
	{"users:read.email", "compare a person's address with that of an account which is connected by a code"},
}

var events = []reason{
	{"agent_session_stopped", "somebody presses Slack's own Stop button, where Slack shows one"},
	{"app_home_opened", "somebody opens the bot's home tab"},
	{"app_mention", "somebody mentions the bot"},
	{"message.channels", "messages in its public channels"},
	{"message.groups", "in its private channels"},
	{"message.im", "in its direct messages"},
	{"message.mpim", "in its group direct messages"},
	{"reaction_added", "the reaction that stops"},
}

// manifest is what Slack makes the app from.
func manifest() string {
	var b strings.Builder
	b.WriteString(`# Paste this at https://api.slack.com/apps > Create New App > From a manifest.
_metadata:
  major_version: 2
  minor_version: 1
display_information:
  name: Reeve
  description: Works for one person at a time, and answers in threads.
  background_color: "#1f3a2d"
features:
  app_home:
    home_tab_enabled: true
    messages_tab_enabled: true
    messages_tab_read_only_enabled: false
  bot_user:
    display_name: reeve
    always_online: true
oauth_config:
  scopes:
    bot:
`)
	list(&b, scopes)
	b.WriteString("settings:\n  event_subscriptions:\n    bot_events:\n")
	list(&b, events)
	b.WriteString(`  interactivity:
    is_enabled: true
  org_deploy_enabled: false
  socket_mode_enabled: true
  token_rotation_enabled: false
`)
	return b.String()
}

func list(b *strings.Builder, reasons []reason) {
	for _, r := range reasons {
		fmt.Fprintf(b, "      - %-21s # %s\n", r.name, r.why)
	}
}

// compareScopes tells which scopes a token lacks, and which it has beyond need.
func compareScopes(has []string) (missing, more []string) {
	for _, s := range scopes {
		if !slices.Contains(has, s.name) {
			missing = append(missing, s.name)
		}
	}
	for _, name := range has {
		if !slices.ContainsFunc(scopes, func(s reason) bool { return s.name == name }) {
			more = append(more, name)
		}
	}
	return missing, more
}
