package slackapp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// BotFacts are what Slack says of a bot token.
type BotFacts struct {
	Team     chat.TeamID
	TeamName string
	User     chat.UserID
	Name     string
	Bot      string // bot id; empty when the token is not a bot's
	// Scopes the token has; empty when Slack did not say.
	Scopes []string
}

// ProbeRefused is Slack's answer that a token will not do, by its code.
type ProbeRefused struct{ Code string }

func (e *ProbeRefused) Error() string { return "slack refuses: " + e.Code }

// ProbeBot asks Slack whose a bot token is. A *ProbeRefused says that the
// token will not do; any other error, that Slack could not be asked.
func ProbeBot(ctx context.Context, apiURL, token string) (BotFacts, error) {
	answer, err := probeClient(apiURL, token).AuthTestContext(ctx)
	if err != nil {
		return BotFacts{}, probeError("auth.test", err)
	}
	facts := BotFacts{
		Team: chat.TeamID(answer.TeamID), TeamName: answer.Team,
		User: chat.UserID(answer.UserID), Name: answer.User, Bot: answer.BotID,
	}
	for scope := range strings.SplitSeq(answer.Header.Get("X-OAuth-Scopes"), ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			facts.Scopes = append(facts.Scopes, scope)
		}
	}
	return facts, nil
}

// ProbeApp asks Slack for a socket with an app-level token, and opens none. Its
// errors are those of ProbeBot.
func ProbeApp(ctx context.Context, apiURL, token string) error {
	client := probeClient(apiURL, "", slack.OptionAppLevelToken(token))
	if _, _, err := client.StartSocketModeContext(ctx); err != nil {
		return probeError("apps.connections.open", err)
	}
	return nil
}

func probeClient(apiURL, token string, options ...slack.Option) *slack.Client {
	options = append(options,
		slack.OptionAPIURL(apiURL),
		slack.OptionHTTPClient(&http.Client{Timeout: 10 * time.Second}))
	return slack.New(token, options...)
}

// transient are Slack's codes that say nothing of the token.
var transient = map[string]bool{
	"ratelimited": true, "rate_limited": true, "internal_error": true, "fatal_error": true,
	"service_unavailable": true, "request_timeout": true, "team_added_to_org": true,
}

func probeError(method string, err error) error {
	var refused slack.SlackErrorResponse
	if errors.As(err, &refused) && !transient[refused.Err] {
		return &ProbeRefused{refused.Err}
	}
	return fmt.Errorf("call %s: %w", method, err)
}
