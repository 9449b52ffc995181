package slackapp

import (
	"context"
	"fmt"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// Identity is who the bot is. Without it nothing can be admitted: neither its
// mentions nor its own posts would be known.
type Identity struct {
	Team chat.TeamID
	// TeamName is what people call its workspace; for showing only.
	TeamName string
	User     chat.UserID // its bot user
	Bot      string      // the id under which it posts
	// App is its app's id when it is known; envelopes name it too.
	App string
	// Enterprise is the organisation of its workspace, if it has one: its
	// people may be stamped with that instead.
	Enterprise string
}

// WhoAmI asks Slack who holds the bot token. It fails rather than to give half
// an identity; a refused token is an *AuthError.
func WhoAmI(ctx context.Context, api *slack.Client) (Identity, error) {
	r, err := api.AuthTestContext(ctx)
	if err != nil {
		if e := asAuthError(err, botToken); e != nil {
			return Identity{}, e
		}
		return Identity{}, fmt.Errorf("ask slack for the bot's identity: %w", err)
	}
	self := Identity{
		Team: chat.TeamID(r.TeamID), TeamName: r.Team, User: chat.UserID(r.UserID), Bot: r.BotID, Enterprise: r.EnterpriseID,
	}
	switch {
	case r.BotID == "":
		return Identity{}, &AuthError{Token: botToken, Reason: "it is no bot's token", Fix: "use the Bot User OAuth Token, which begins with xoxb-"}
	case !self.whole():
		return Identity{}, fmt.Errorf("ask slack for the bot's identity: the answer names no team and user")
	}
	return self, nil
}

// whole reports whether everything is there that admission needs.
func (id Identity) whole() bool {
	return validID(string(id.Team)) && isUserID(string(id.User)) && id.Bot != ""
}

// home reports whether a stamped team is the bot's own.
func (id Identity) home(team string) bool {
	return team == string(id.Team) || id.Enterprise != "" && team == id.Enterprise
}

// posted reports whether the bot, or its app under whosever token, wrote it.
func (id Identity) posted(raw Raw, ev rawEvent) bool {
	if ev.User == string(id.User) || ev.BotID.value == id.Bot {
		return true
	}
	for _, app := range [...]string{ev.AppID.value, ev.ProfileApp} {
		if app != "" && (app == id.App || app == raw.App) {
			return true
		}
	}
	return false
}
