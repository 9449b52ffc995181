package app

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"reeve/plugins"
)

type runCommand struct{}

func (runCommand) Run(p *process) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	if err := settings.ForRun(); err != nil {
		return err
	}
	chosen, err := choose(p.plugins, settings.Plugins)
	if err != nil {
		return err
	}
	log := p.logger(settings)
	log.Info("starting", "version", p.options.version(), "plugins", names(chosen), "mcp_config", settings.MCPConfig)
	logPolicies(log, settings)
	warnIdle(log, p.options.Environ, settings.OAuthProviders, chosen)
	if settings.RedisURL == "" {
		warnEmbedded(log)
	}
	return run(p.ctx, assembly{
		settings: settings, options: p.options, plugins: chosen, log: log,
		ready: newReadiness("redis", "slack"), metrics: newMetrics(p.options.version()),
	}, assembly.serve)
}

// run serves health beside the work, and ends when either ends.
func run(ctx context.Context, a assembly, serve func(assembly, context.Context) error) error {
	// Health is served until the work has ended, so that a drain is seen.
	healthCtx, stopHealth := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHealth()
	wait, err := serveHTTP(healthCtx, a.settings.HTTPAddr, a.http(), a.log)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		a.log.Info("shutting down")
		a.ready.Set("process", "shutting down")
	})()
	var group errgroup.Group
	group.Go(wait)
	group.Go(func() error {
		defer stopHealth()
		return serve(a, ctx)
	})
	return group.Wait()
}

// http is what HTTP_ADDR serves: health and metrics.
func (a assembly) http() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", a.ready.handler())
	if a.metrics != nil {
		mux.Handle("GET /metrics", a.metrics.handler())
	}
	return mux
}

// logger writes to stderr, masks the configured secrets, and is made the
// default, so that what libraries log passes through the mask too.
func (p *process) logger(settings Settings) *slog.Logger {
	out := redactedWriter{p.options.Stderr, newRedactor(append(settings.secrets(), p.secrets...)...)}
	log := newLogger(out, settings.LogLevel, logFormat(settings.LogFormat, p.options.Stderr))
	slog.SetDefault(log)
	return log
}

// logPolicies says at start which rules hold for this deployment.
func logPolicies(log *slog.Logger, s Settings) {
	log.Info("policies",
		"cross_actor_mid_run_mode", s.CrossActorMidRunMode,
		"same_actor_mid_run_mode", s.SameActorMidRunMode,
		"stop_policy", s.StopPolicy,
		"stop_reaction", s.StopReaction,
		"multi_actor_writes", s.MultiActorWrites,
		"write_consent", s.WriteConsent,
		"allow_external", s.AllowExternal,
		"allow_guests", s.AllowGuests,
		"allowed_channels", allowed(s.AllowedChannels),
		"allowed_users", allowed(s.AllowedUsers),
		"max_waiting_messages", s.MaxWaitingMessages,
		"max_steps", s.MaxSteps,
		"turn_timeout", s.TurnTimeout.String(),
		"max_turn_tokens", s.MaxTurnTokens,
		"daily_tokens_per_person", s.DailyTokensPerPerson,
		"max_attempts", s.MaxAttempts,
		"retention_days", s.RetentionDays,
		"redis_durability", s.RedisDurability,
	)
}

func allowed[ID ~string](ids []ID) string {
	if len(ids) == 0 {
		return "all"
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = string(id)
	}
	return strings.Join(words, ",")
}

// warnEmbedded says what is at stake without a Redis, in a way that is not
// overlooked between two lines of a log.
func warnEmbedded(log *slog.Logger) {
	for _, line := range []string{
		"########################################################################",
		"REDIS_URL is not set: everything is kept in the memory of this process.",
		"When it ends, waiting messages, running turns and history are LOST.",
		"Do not run it like this for others. Set REDIS_URL; see docs/configuration.md.",
		"########################################################################",
	} {
		log.Warn(line)
	}
}

// Off holds a plugin of a main's list back: it is on where PLUGINS names it, and
// off where PLUGINS is empty.
func Off(plugin plugins.Plugin) plugins.Plugin {
	if plugin == nil {
		return nil
	}
	return off{plugin}
}

type off struct{ plugins.Plugin }

// choose keeps the plugins that are on. A name that is not compiled in is a
// wrong setting.
func choose(compiled []plugins.Plugin, on []string) ([]plugins.Plugin, error) {
	var all, shipped []plugins.Plugin
	for _, p := range compiled {
		held, isHeld := p.(off)
		if isHeld {
			p = held.Plugin
		} else {
			shipped = append(shipped, p)
		}
		all = append(all, p)
	}
	if err := checkNames(all); err != nil {
		return nil, err
	}
	if len(on) == 0 {
		return shipped, nil
	}
	byName := map[string]plugins.Plugin{}
	for _, p := range all {
		byName[p.Name()] = p
	}
	var chosen []plugins.Plugin
	for _, name := range on {
		p, ok := byName[name]
		if !ok {
			return nil, &ConfigError{[]string{"PLUGINS names " + name + ", which is not compiled in; it may hold " +
				strings.Join(slices.Sorted(maps.Keys(byName)), ", ")}}
		}
		chosen = append(chosen, p)
	}
	return chosen, nil
}

func names(list []plugins.Plugin) []string {
	var names []string
	for _, p := range list {
		names = append(names, p.Name())
	}
	return names
}
