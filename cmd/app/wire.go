package app

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"reeve/agent/openai"
	"reeve/plugins"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
)

// assembly is everything from which a running Reeve is put together.
type assembly struct {
	settings Settings
	options  Options
	plugins  []plugins.Plugin
	log      *slog.Logger
	// ready waits for "redis" (writable) and "slack" (a socket is connected).
	ready *readiness
}

// serve works for the workspace until ctx ends, and then hands over what it
// holds. A dependency that cannot be reached is waited for; credentials that
// are refused are a *ConfigError.
func (a assembly) serve(ctx context.Context) error {
	return errors.New("run: not wired yet")
}

// play serves the playground at addr until ctx ends, and prints its URL to out.
func (a assembly) play(ctx context.Context, addr string, out io.Writer) error {
	return errors.New("playground: not wired yet")
}

// shippedProbes are the tests that check makes.
func shippedProbes() probes {
	return probes{
		bot: slackapp.ProbeBot,
		app: slackapp.ProbeApp,
		redis: func(ctx context.Context, url string) (redisFacts, error) {
			told, err := mailbox.Probe(ctx, url)
			return redisFacts(told), err
		},
		model: openai.Probe,
	}
}
