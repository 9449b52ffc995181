package openai

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"reeve/agent"
	"reeve/plugins"
)

// failed is an attempt that gave no answer, as go-openai told it.
type failed struct {
	err       error
	after     time.Duration // what the server said in Retry-After
	streaming bool          // the server had begun to answer
}

// problem is a failed attempt, judged.
type problem struct {
	kind    agent.FailureKind // when it is not passing
	passing bool              // worth another attempt
	after   time.Duration
	cause   error // for the log: without the key, without our request
}

var (
	errCut      = errors.New("the answer was cut off")
	errEmpty    = errors.New("the answer is empty")
	errFiltered = errors.New("the answer was withheld by the provider's content filter")
)

// tooLong are the ways in which servers say that a request exceeds the model's
// context.
var tooLong = regexp.MustCompile(`(?i)context[ _-]?(length|window|size)|maximum context|too many tokens|prompt is too long|input is too long|reduce the length|exceeds? the (available )?context`)

// judge decides what a failed attempt means.
func (c *Client) judge(f *failed) *problem {
	status, code, message := details(f.err)
	p := &problem{kind: agent.ModelRefused, after: f.after, cause: c.describe(f, status, code, message)}
	switch {
	case errors.Is(f.err, errFiltered), code == "insufficient_quota":
		// A quota that is spent answers 429 and does not come back in seconds.
	case code == "context_length_exceeded", status == http.StatusRequestEntityTooLarge,
		status < 500 && status != http.StatusTooManyRequests && tooLong.MatchString(message):
		p.kind = agent.TooLong
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests, status >= 500:
		p.passing = true
	case status == 0 && f.streaming:
		p.passing = !strings.Contains(code, "invalid") // an error told within the stream
	case status == 0:
		p.passing = network(f.err)
	}
	return p
}

// details are what an error says of the server's answer. status is 0 where
// there was none, or where it had been 200 before the error came.
func details(err error) (status int, code, message string) {
	var api *goopenai.APIError
	var other *goopenai.RequestError
	switch {
	case errors.As(err, &api):
		code = api.Type
		if api.Code != nil {
			code = fmt.Sprint(api.Code)
		}
		status = api.HTTPStatusCode
		if n, ok := api.Code.(int); ok && status == 0 && n >= 400 && n < 600 {
			status = n // some servers send a status within the stream
		}
		return status, code, api.Message
	case errors.As(err, &other):
		return other.HTTPStatusCode, "", string(other.Body)
	}
	return 0, "", ""
}

// network: the request did not get through, or its answer did not. What is
// left is go-openai's own refusal to send it.
func network(err error) bool {
	var net net.Error
	return errors.As(err, &net) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, errIdle) || errors.Is(err, errAttemptTooLong) || errors.Is(err, errTooMuch)
}

// describe is an error for the log. It is made anew, since the error of an
// HTTP client may hold the URL, and a server's words the key that was sent or
// what people said: these are logged at debug alone.
func (c *Client) describe(f *failed, status int, code, message string) error {
	var sending *url.Error
	text := f.err.Error()
	switch {
	case status != 0:
		text = fmt.Sprintf("status %d", status)
	case message != "":
		text = "an error told within the answer"
	case errors.As(f.err, &sending):
		text = sending.Err.Error()
	}
	if code != "" {
		text += " (" + code + ")"
	}
	if message != "" {
		c.options.Logger.Debug("the provider's words", "text", c.masked(message))
	}
	return errors.New(c.masked(text))
}

// masked is one line of a server's words, without keys.
func (c *Client) masked(text string) string {
	if c.options.APIKey != "" {
		text = strings.ReplaceAll(text, c.options.APIKey, "[key]")
	}
	text = keys.ReplaceAllString(text, "[key]")
	return plugins.CutMiddle(strings.Join(strings.Fields(text), " "), 400)
}

// keys are what looks like a key, or the rest of one, in a server's words.
var keys = regexp.MustCompile(`\b(?:sk-|Bearer\s+)[^\s"'.,;]+`)

// adapt changes what is asked of a server that refused an option, and reports
// whether that is worth another try.
func (c *Client) adapt(sent goopenai.ChatCompletionRequest, f *failed) bool {
	status, _, message := details(f.err)
	refused := status >= 400 && status < 500
	//lint:ignore SA1019 see request
	oldLimit := sent.MaxTokens != 0
	switch {
	case errors.Is(f.err, goopenai.ErrReasoningToolsRequireResponses) && sent.ReasoningEffort == "":
		c.noReasoning.Store(true)
	case oldLimit && (errors.Is(f.err, goopenai.ErrReasoningModelMaxTokensDeprecated) || refused && strings.Contains(message, "max_completion_tokens")):
		c.newLimit.Store(true)
	case sent.StreamOptions != nil && refused && (strings.Contains(message, "stream_options") || strings.Contains(message, "include_usage")):
		c.noUsage.Store(true)
	case sent.ResponseFormat != nil && refused && (strings.Contains(message, "response_format") || strings.Contains(message, "json_schema")):
		c.noSchema.Store(true)
	default:
		return false
	}
	return true
}
