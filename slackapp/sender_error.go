package slackapp

import (
	"errors"
	"net"
	"time"

	"github.com/slack-go/slack"
)

// failKind says what a failed call to Slack asks for.
type failKind int

const (
	// failOpen: it may have been carried out all the same.
	failOpen failKind = iota
	// failPassing: it was not carried out, and may be later.
	failPassing
	// failLimited: it was not carried out, and may be after a wait.
	failLimited
	// failForm: its form was refused.
	failForm
	// failThread: the message under which it should stand is not there.
	failThread
	// failForGood: it never will be carried out.
	failForGood
)

// failure is a failed call and what it asks for.
type failure struct {
	kind failKind
	wait time.Duration // of failLimited
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// text is the error for a log, with Slack's own explanations.
func (f *failure) text() string {
	text := scrubbed(f.err)
	if r, ok := errors.AsType[slack.SlackErrorResponse](f.err); ok {
		for _, m := range r.ResponseMetadata.Messages {
			text += "; " + m
		}
		if r.Needed != "" {
			text += "; needs " + r.Needed
		}
	}
	return text
}

// code is Slack's own word for the failure; empty when it gave none.
func (f *failure) code() string {
	r, _ := errors.AsType[slack.SlackErrorResponse](f.err)
	return r.Err
}

// codes are Slack's answers by what they ask for.
var codes = map[string]failKind{
	"ratelimited": failLimited, "rate_limited": failLimited, "message_limit_exceeded": failPassing,

	"internal_error": failOpen, "fatal_error": failOpen, "service_unavailable": failOpen, "request_timeout": failOpen,
	"messaging_processing_failed": failOpen,
	"team_added_to_org":           failPassing, "external_channel_migrating": failPassing, "accesslimited": failPassing,

	// The operator has to do something; until then everything waits.
	"invalid_auth": failPassing, "not_authed": failPassing, "token_revoked": failPassing, "token_expired": failPassing,
	"account_inactive": failPassing, "missing_scope": failPassing, "not_allowed_token_type": failPassing,
	"org_login_required": failPassing, "ekm_access_denied": failPassing, "access_denied": failPassing, "two_factor_setup_required": failPassing,

	"thread_not_found": failThread, "message_not_found": failThread, "cannot_reply_to_message": failThread,
	"invalid_thread_ts": failThread,

	"channel_not_found": failForGood, "is_archived": failForGood, "not_in_channel": failForGood, "messages_tab_disabled": failForGood,
	"restricted_action": failForGood, "restricted_action_read_only_channel": failForGood,
	"restricted_action_thread_only_channel": failForGood, "restricted_action_non_threadable_channel": failForGood,
	"restricted_action_thread_locked": failForGood, "thread_locked": failForGood, "user_not_in_channel": failForGood, "team_not_found": failForGood,
	"channel_type_not_supported": failForGood, "user_disabled": failForGood, "user_not_found": failForGood, "user_not_visible": failForGood,
	"users_not_found": failForGood, "cannot_dm_bot": failForGood, "slack_connect_canvas_sharing_blocked": failForGood,
	"slack_connect_file_link_sharing_blocked": failForGood, "slack_connect_lists_sharing_blocked": failForGood,
	"slack_connect_blocked_file_type": failForGood, "as_user_not_supported": failForGood, "method_not_supported_for_channel_type": failForGood,
}

// judge says what an error of a call to Slack asks for. What is not known for
// sure counts as possibly carried out; an answer that is not known is about
// the form, so that the plainest form is tried before anything is given up.
func judge(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if l, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		// An hour bounds a wait that no Slack ever asked for.
		return &failure{kind: failLimited, wait: min(max(l.RetryAfter, time.Second), time.Hour), err: err}
	}
	if r, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		kind, known := codes[r.Err]
		if !known {
			kind = failForm
		}
		return &failure{kind: kind, wait: 5 * time.Second, err: err}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return &failure{kind: failPassing, err: err}
	}
	return &failure{kind: failOpen, err: err}
}
