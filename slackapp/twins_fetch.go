package slackapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// maxBody bounds one answer of the Web API, in bytes.
const maxBody = 4 << 20

// Reader reads messages from Slack in their raw form, with all that Slack
// stamps on them.
type Reader struct{ api *slack.Client }

// NewReader reads with the bot token. apiURL ends in a slash; empty means
// Slack's own.
func NewReader(apiURL, token string) *Reader {
	options := []slack.Option{slack.OptionHTTPClient(keepingClient{&http.Client{Timeout: 15 * time.Second}})}
	if apiURL != "" {
		options = append(options, slack.OptionAPIURL(apiURL))
	}
	return &Reader{api: slack.New(token, options...)}
}

// Fetch implements Fetcher.
func (r *Reader) Fetch(ctx context.Context, channel chat.ChannelID, thread, ts chat.TS) (json.RawMessage, error) {
	var body bytes.Buffer
	ctx = context.WithValue(ctx, keepKey{}, &body)
	var err error
	if thread != "" && thread != ts {
		_, _, _, err = r.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: string(channel), Timestamp: string(thread),
			Oldest: string(ts), Latest: string(ts), Inclusive: true, Limit: 2,
		})
	} else {
		_, err = r.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
			ChannelID: string(channel), Oldest: string(ts), Latest: string(ts), Inclusive: true, Limit: 1,
		})
	}
	answer := parseFields(body.Bytes())
	if !answer.stamp("ok").set {
		if err == nil {
			err = errNoObject
		}
		if refusedForGood(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("fetch message %s of %s: %w", ts, channel, err)
	}
	// An answer that slack-go could not decode may do for us all the same.
	for _, m := range answer.list("messages") {
		if parseFields(m).text("ts") == string(ts) {
			return m, nil
		}
	}
	return nil, nil
}

// mayPass are answers of the Web API after which the same call may go well.
var mayPass = []string{
	"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout",
	"team_added_to_org", "external_channel_migrating",
}

// refusedForGood reports whether Slack understood the call and will not have
// it. A refused token is none of these: it says nothing about the message.
func refusedForGood(err error) bool {
	refused, ok := errors.AsType[slack.SlackErrorResponse](err)
	return ok && !slices.Contains(mayPass, refused.Err) && asAuthError(err, botToken) == nil
}

type keepKey struct{}

// keepingClient copies an answer's body for a caller that left a buffer in the
// context: slack-go hands out decoded messages only.
type keepingClient struct{ *http.Client }

func (c keepingClient) Do(req *http.Request) (*http.Response, error) {
	resp, err := c.Client.Do(req)
	if err != nil {
		return resp, err
	}
	if buffer, ok := req.Context().Value(keepKey{}).(*bytes.Buffer); ok {
		resp.Body = keptBody{Reader: io.TeeReader(io.LimitReader(resp.Body, maxBody), buffer), Closer: resp.Body}
	}
	return resp, nil
}

type keptBody struct {
	io.Reader
	io.Closer
}
