// Package web is the plugin that reads pages of the web: one tool, which takes
// a URL that the model wrote and gives back what is readable there.
//
// What may be asked at all is decided by package outbound: public addresses
// alone, looked at after DNS and on each connection. A redirect to another host
// is not followed but told, so that the gate judges that host like any other.
package web

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"reeve/plugins"
	"reeve/plugins/outbound"
)

// New is the plugin.
func New() plugins.Plugin { return With(Options{}) }

// Options are bounds of the plugin; zero values mean the defaults.
type Options struct {
	// Outbound says what may be reached; tests allow themselves more.
	Outbound outbound.Options
	// Timeout bounds one call with its redirects: 20 s.
	Timeout time.Duration
	// MaxBody is how much of a page is read, in bytes, unpacked: 2 MiB.
	MaxBody int
	// MaxText is how much text the model is given, in bytes: 48 KiB.
	MaxText int
}

// With is the plugin with other bounds.
func With(o Options) plugins.Plugin {
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	if o.MaxBody == 0 {
		o.MaxBody = 2 << 20
	}
	if o.MaxText == 0 {
		o.MaxText = 48 << 10
	}
	return web{o}
}

type web struct{ options Options }

func (web) Name() string { return "web" }

type arguments struct {
	URL string `json:"url" jsonschema:"the page's whole address, which begins with https:// or http://"`
}

func (w web) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	f := fetcher{options: w.options, client: w.options.Outbound.Any()}
	return plugins.Extension{Tools: []plugins.Tool{plugins.MustTool(plugins.Tool{
		Name: "fetch_page",
		Description: "Reads one public page of the web and gives its text back: HTML as text, also plain text, JSON and XML. " +
			"It logs in nowhere, runs no scripts and searches nothing. " +
			"A page that redirects to another host is not read: the result names the new address, for another call.",
		Effect: plugins.Pure,
		Access: plugins.Read,
		// A URL can carry out whatever the model has read.
		Sends:   true,
		Host:    host,
		Timeout: w.options.Timeout + 10*time.Second,
	}, f.fetch)}}, nil
}

// host is where a call would send to.
func host(raw json.RawMessage) (string, error) {
	var in arguments
	if err := json.Unmarshal(raw, &in); err != nil {
		return "", err
	}
	_, host, err := parse(in.URL)
	return host, err
}

type fetcher struct {
	options Options
	client  *http.Client
}

// fetch implements the tool.
func (f fetcher) fetch(ctx context.Context, _ plugins.Call, in arguments) (plugins.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, f.options.Timeout)
	defer cancel()
	text, err := f.read(ctx, in.URL)
	if err != nil {
		return plugins.Result{Error: true, Text: sentence(err)}, nil
	}
	return plugins.Result{Text: text}, nil
}
