package slackapp

import (
	"errors"
	"net/http"
	"regexp"

	"github.com/slack-go/slack"
)

// The tokens, by the settings that hold them.
const (
	appToken = "SLACK_APP_TOKEN"
	botToken = "SLACK_BOT_TOKEN"
)

// AuthError says that Slack will not have a token, whatever is tried.
type AuthError struct {
	Token  string // the setting that holds it
	Reason string // as Slack put it
	Fix    string
}

func (e *AuthError) Error() string {
	return "slack refuses " + e.Token + " (" + e.Reason + "): " + e.Fix
}

var authFixes = map[string]string{
	"invalid_auth":           "copy the token again from the app's settings at api.slack.com/apps",
	"not_authed":             "set it",
	"account_inactive":       "the app was removed from the workspace: install it again",
	"token_revoked":          "make a new token, or install the app again",
	"token_expired":          "switch token rotation off and install the app again",
	"not_allowed_token_type": "the app-level token begins with xapp-, the bot token with xoxb-",
	"missing_scope":          "give the token its scopes: connections:write for the app-level one, those of the manifest for the bot's",
}

// asAuthError is nil for an error that may pass.
func asAuthError(err error, token string) *AuthError {
	if refused, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		if fix, known := authFixes[refused.Err]; known {
			return &AuthError{Token: token, Reason: refused.Err, Fix: fix}
		}
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok && status.Code == http.StatusNotFound {
		return &AuthError{Token: token, Reason: "HTTP 404", Fix: "there is no Slack at this address: check SLACK_API_URL"}
	}
	return nil
}

// secrets finds what must not stand in a log: tokens, and the ticket of a
// socket's address.
var secrets = regexp.MustCompile(`xox[a-z.-]+[\w.-]+|xapp-[\w.-]+|ticket=[^&\s"]+`)

// scrubbed is an error's text without secrets.
func scrubbed(err error) string {
	if err == nil {
		return ""
	}
	return secrets.ReplaceAllString(err.Error(), "***")
}
