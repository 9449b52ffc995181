package slackapp

import (
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// ClientOptions say how to reach Slack's Web API.
type ClientOptions struct {
	BotToken string
	AppToken string // for opening sockets; may be empty
	// APIURL is another Slack's address; empty means Slack's own.
	APIURL string
	// Timeout bounds each call that has no earlier deadline; zero means 30 s.
	Timeout time.Duration
}

// NewClient makes a client that repeats nothing by itself: a write that may
// have been carried out must not be sent again without a look. It logs nothing,
// follows no redirects (a token goes to one host only), and keeps enough
// connections open for the sender's concurrent calls. It completes no request
// after the deadline of its context, also where the process was frozen before.
func NewClient(o ClientOptions) *slack.Client {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxCalls
	transport.ResponseHeaderTimeout = o.Timeout
	options := []slack.Option{
		slack.OptionHTTPClient(&http.Client{
			Transport:     punctual{transport},
			Timeout:       o.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		slack.OptionDebug(false),
	}
	if o.APIURL != "" {
		options = append(options, slack.OptionAPIURL(strings.TrimRight(o.APIURL, "/")+"/"))
	}
	if o.AppToken != "" {
		options = append(options, slack.OptionAppLevelToken(o.AppToken))
	}
	return slack.New(o.BotToken, options...)
}
