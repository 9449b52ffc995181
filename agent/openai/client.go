// Package openai asks any OpenAI-compatible server for chat completions. It
// streams, so that a dead server is noticed, and hands on whole answers alone.
//
// Every wait is bounded: five attempts, their waits 60 s in all, each attempt
// cut when no byte comes for 60 s, or after 5 min.
package openai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"reeve/agent"
)

// Options describe the server; zero bounds mean the defaults.
type Options struct {
	BaseURL string // https://api.openai.com/v1 when empty
	APIKey  string
	Model   string
	// Waits are the pauses between attempts; there is one attempt more than
	// pauses. 0.5, 1, 2 and 4 s, each with a jitter of 20%.
	Waits []time.Duration
	// MaxWait is how long one answer may be waited for between attempts, all
	// taken together: 60 s.
	MaxWait time.Duration
	// Idle cuts an attempt in which no byte comes: 60 s.
	Idle time.Duration
	// Attempt cuts every attempt: 5 min.
	Attempt time.Duration
	// Transport carries the requests; a transport of our own when nil.
	Transport http.RoundTripper
	Logger    *slog.Logger
}

// Client is an agent.Model. It is safe for concurrent use.
type Client struct {
	options Options
	client  *goopenai.Client

	// What a server has refused once is not asked of it again.
	noUsage, noReasoning, newLimit, noSchema atomic.Bool
}

var _ agent.Model = (*Client)(nil)

// New is a client for one model. It does not call the server.
func New(o Options) (*Client, error) {
	if o.Model == "" {
		return nil, errors.New("make model client: no model is named")
	}
	o = o.withDefaults()
	if u, err := url.Parse(o.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// The URL may hold a password, so that the error does not repeat it.
		return nil, errors.New("make model client: the base URL is not an http or https URL")
	}
	config := goopenai.DefaultConfig(o.APIKey)
	config.BaseURL = strings.TrimRight(o.BaseURL, "/")
	config.HTTPClient = &http.Client{Transport: watched{o.Transport}}
	// Comment lines that keep a stream alive count as empty messages; how
	// long they may do so is what Attempt says.
	config.EmptyMessagesLimit = 1 << 20
	return &Client{options: o, client: goopenai.NewClientWithConfig(config)}, nil
}

func (o Options) withDefaults() Options {
	if o.BaseURL == "" {
		o.BaseURL = "https://api.openai.com/v1"
	}
	if o.Waits == nil {
		o.Waits = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}
	}
	if o.MaxWait == 0 {
		o.MaxWait = time.Minute
	}
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	if o.Attempt == 0 {
		o.Attempt = 5 * time.Minute
	}
	if o.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
		transport.MaxIdleConnsPerHost = 64
		o.Transport = transport
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Complete implements agent.Model.
func (c *Client) Complete(ctx context.Context, req agent.Request) (agent.Reply, error) {
	left := c.options.MaxWait
	for attempt := 0; ; attempt++ {
		reply, err := c.once(ctx, req)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return agent.Reply{}, fmt.Errorf("ask model: %w", ctx.Err())
		}
		if !err.passing {
			return agent.Reply{}, &agent.Failure{Kind: err.kind, Cause: err.cause}
		}
		if attempt == len(c.options.Waits) {
			return agent.Reply{}, &agent.Failure{Kind: agent.ModelUnreachable, Cause: fmt.Errorf("after %d attempts: %w", attempt+1, err.cause)}
		}
		wait := max(jittered(c.options.Waits[attempt]), err.after)
		if wait > left {
			kind := agent.ModelUnreachable
			if err.after > left {
				kind = agent.RetryTooLong
			}
			return agent.Reply{}, &agent.Failure{Kind: kind, Cause: fmt.Errorf("a wait of %v is more than the %v that are left: %w", wait, left, err.cause)}
		}
		left -= wait
		c.options.Logger.Warn("model call failed, trying again", "attempt", attempt+1, "wait", wait, "err", err.cause)
		if sleep(ctx, wait) != nil {
			return agent.Reply{}, fmt.Errorf("ask model: %w", ctx.Err())
		}
	}
}

// once makes one attempt. When the server refuses a request for an option of
// ours that it does not know, the attempt is made again without it.
func (c *Client) once(ctx context.Context, req agent.Request) (agent.Reply, *problem) {
	for {
		sent := c.request(req)
		reply, err := c.attempt(ctx, sent)
		if err == nil {
			return reply, nil
		}
		if !c.adapt(sent, err) {
			return agent.Reply{}, c.judge(err)
		}
	}
}

func (c *Client) attempt(ctx context.Context, sent goopenai.ChatCompletionRequest) (agent.Reply, *failed) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Attempt, errAttemptTooLong)
	defer cancel()
	ctx, w := watch(ctx, c.options.Idle)
	defer w.stop()
	stream, err := c.client.CreateChatCompletionStream(ctx, sent)
	if err != nil {
		return agent.Reply{}, &failed{err: because(ctx, err), after: w.retryAfter()}
	}
	defer stream.Close()
	reply, err := read(stream, w.finished)
	if err != nil {
		return agent.Reply{}, &failed{err: because(ctx, err), streaming: true}
	}
	return reply, nil
}

// because names what cut an attempt, instead of "context canceled".
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// jittered spreads a pause by 20% either way, so that many clients do not come
// back at once.
func jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
