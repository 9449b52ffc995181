package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"reeve/agent"
	"reeve/agent/openai"
	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime"
	"reeve/runtime/chat"
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
	// model answers in place of the configured one; nil: that one.
	model agent.Model
	// metrics counts; nil: nobody asks.
	metrics *metrics
	// opened is told when everything is open, and works from here on; nil: the
	// log is.
	opened func(plugins, tools []string)
}

// serve works for the workspace until ctx ends, and then hands over what it
// holds. A dependency that cannot be reached is waited for; credentials that
// are refused are a *ConfigError. Whoever is told to end while he still waits
// has nothing to hand over, and has ended well.
func (a assembly) serve(ctx context.Context) (err error) {
	defer func() {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil
		}
	}()
	box, err := a.openBox(ctx)
	if err != nil {
		return err
	}
	defer box.Shutdown()
	client := slackapp.NewClient(slackapp.ClientOptions{
		BotToken: a.settings.SlackBotToken.Reveal(), APIURL: a.settings.SlackAPIURL,
	})
	self, err := waitFor(ctx, a, "slack", "its Web API cannot be reached", func(ctx context.Context) (slackapp.Identity, error) {
		return slackapp.WhoAmI(ctx, client)
	})
	if err != nil {
		return err
	}
	var rt *runtime.Runtime // which posts, and so is there before anything is
	policy, at := a.admission(), pointed{a.options.At}
	reader := slackapp.NewReader(a.settings.SlackAPIURL, a.settings.SlackBotToken.Reveal())
	edge := slackapp.New(slackapp.Options{
		Client: client, Reader: reader, Self: self, Store: at.store(box), Admission: policy,
		AllowGuests: a.settings.AllowGuests, Log: a.log,
		Sender: slackapp.SenderOptions{
			LeaseTTL: a.options.LeaseTTL, LeaseMargin: a.options.LeaseMargin, RenewEvery: a.options.RenewEvery,
			Rate: a.options.PostRate, Burst: a.options.PostBurst, Count: a.metrics.Count,
			Over: func(ctx context.Context, card chat.Card) error { return rt.Record(ctx, card) },
		},
	})
	policy.Known = edge.Known
	readings := slackapp.NewReadings(slackapp.ReadingOptions{
		Client: client, Reader: reader, Self: self, Admission: policy, People: edge.People, Channels: edge.Channels, Log: a.log,
	})
	model, err := a.answering()
	if err != nil {
		return err
	}
	if err := a.furnish(box, model); err != nil {
		return err
	}
	audit := auditOf(box, a.settings)
	people, err := a.openAccounts(ctx, box, edge, self)
	if err != nil {
		return err
	}
	extended, err := a.extend(ctx, gate.Options{
		Slack: readings.For, Policy: a.consent(), Store: pluginStore(box), Accounts: people.gate(), Audit: audit.Append, Logger: a.log,
	}, people)
	if err != nil {
		return err
	}
	options := a.runtime(box, edge, a.agent(box, model, extended.gate), self.User, extended)
	options.Place, options.Links, options.Decided = readings.Place, people.links(), extended.gate.Decided
	if options.Router, err = a.router(); err != nil {
		return err
	}
	if rt, err = runtime.New(options); err != nil {
		return err
	}
	people.waits.runtime = rt
	extended.begin(rt.StartDue)
	if err := extended.gate.SetOwn([]plugins.Tool{rt.HandBackTool()}); err != nil {
		return err
	}
	if a.opened == nil {
		a.opened = func(plugins, tools []string) { a.log.Info("plugins are open", "plugins", plugins, "tools", tools) }
	}
	sockets := slackapp.NewSockets(slackapp.SocketOptions{
		AppToken: a.settings.SlackAppToken.Reveal(), APIURL: a.settings.SlackAPIURL,
		Sockets: a.settings.SlackSockets, Log: a.log,
	})
	home := &slackapp.Home{Client: client, Lists: append(people.lists(extended), extended.lists()...), Log: a.log}
	cards := &slackapp.Cards{Client: client, Decider: rt, Connections: people.connections(), Log: a.log}
	inbound := slackapp.NewEdge(slackapp.EdgeOptions{
		Self: self, Admission: policy, Inbox: at.inbox(rt), Keys: box, Fetcher: reader, Notices: at.notices(edge),
		Clicks: slackapp.Buttons{Home: home, Cards: cards}, Forms: cards, Home: home.Opened, Log: a.log,
	})
	readBack := slackapp.NewReadBack(slackapp.ReadBackOptions{
		Gaps: box, Line: sockets, Reader: reader, Self: self, Admission: policy, Inbox: rt, Notices: edge,
		Edits:      slackapp.EditsInto{Inbox: rt, Notices: edge},
		StampEvery: a.options.StampEvery, GapAfter: a.options.GapAfter, Lease: a.options.LeaseTTL, Margin: a.options.LeaseMargin,
		Rate: a.options.ReadRate, Burst: a.options.ReadBurst, Log: a.log,
	})
	a.metrics.watch(watched{box: box, edge: inbound, runtime: rt, lag: func() float64 {
		if from := readBack.Stats().From; !from.IsZero() {
			return time.Since(from).Seconds()
		}
		return 0
	}})
	a.ready.probe("slack", func(context.Context) string {
		if sockets.Ready() {
			return ""
		}
		return "no socket is connected"
	})
	a.opened(names(a.plugins), extended.all())
	return refused(a.work(ctx, rt, edge, sockets, inbound, readBack, extended, people.run, audit.Run))
}

// work runs the parts until ctx ends or one of them fails. What comes in ends
// first, then the turns, and last what goes out, so that nothing accepted is
// cut from its way.
func (a assembly) work(ctx context.Context, rt *runtime.Runtime, edge *slackapp.Slack, sockets *slackapp.Sockets, inbound *slackapp.Edge, readBack *slackapp.ReadBack, extended *extensions, others ...func(context.Context) error) error {
	outCtx, endOut := context.WithCancel(context.WithoutCancel(ctx))
	defer endOut()
	group, ctx := errgroup.WithContext(ctx)
	var out errgroup.Group
	out.Go(func() error { return edge.Run(outCtx) })
	group.Go(func() error { return slackapp.Serve(ctx, sockets, inbound) })
	group.Go(func() error { return readBack.Run(ctx) })
	group.Go(func() error { return rt.Run(ctx) })
	group.Go(func() error { return a.watchDurability(ctx) })
	group.Go(func() error { return extended.run(ctx) })
	for _, other := range others {
		group.Go(func() error { return other(ctx) })
	}
	err := group.Wait()
	endOut()
	_ = out.Wait()
	return err
}

func (a assembly) runtime(box *mailbox.Box, edge *slackapp.Slack, loop *agent.Loop, bot chat.UserID, extended *extensions) runtime.Options {
	s := a.settings
	at := pointed{a.options.At}
	return runtime.Options{
		Box: box, Slack: at.slack(edge), Agent: at.agent(loop), Bot: bot, Tools: extended.tools, Sections: extended.render,
		Tasks: extended.tasks(), Store: extended.store, TaskPause: a.options.TaskPause,
		Policy: runtime.Policy{
			SameActor: runtime.MidRunMode(s.SameActorMidRunMode), CrossActor: runtime.MidRunMode(s.CrossActorMidRunMode),
			Stop: runtime.StopPolicy(s.StopPolicy),
		},
		ConsentTimeout: s.ConsentTimeout, MaxRunning: s.MaxRunningTurns, MaxAttempts: s.MaxAttempts, TurnTimeout: s.TurnTimeout,
		HistoryTokens: s.ContextTokens * 3 / 4, RenewEvery: a.options.RenewEvery, ShutdownGrace: s.ShutdownGrace,
		SweepEvery: a.options.SweepEvery, Count: a.metrics.Count, Logger: a.log,
	}
}

// pluginStore is where plugins keep their own data.
func pluginStore(box *mailbox.Box) func(string, chat.Actor) plugins.Store {
	return func(plugin string, owner chat.Actor) plugins.Store { return box.PluginStore(plugin, owner) }
}

// storeOptions are those that every process of a deployment shares.
func storeOptions(s Settings) mailbox.Options {
	return mailbox.Options{
		URL: s.RedisURL, Prefix: s.RedisPrefix, MaxWaiting: s.MaxWaitingMessages,
		Retention: time.Duration(s.RetentionDays) * 24 * time.Hour,
	}
}

// openBox opens the store and waits until it can be written and has said what it
// promises to keep.
func (a assembly) openBox(ctx context.Context) (*mailbox.Box, error) {
	opts := storeOptions(a.settings)
	opts.LeaseTTL, opts.LeaseMargin, opts.Untouched, opts.Count = a.options.LeaseTTL, a.options.LeaseMargin, a.options.Untouched, a.metrics.Count
	box, err := mailbox.Open(opts)
	if err != nil {
		return nil, &ConfigError{[]string{"REDIS_URL: " + err.Error()}}
	}
	_, err = waitFor(ctx, a, "redis", "it cannot be written", func(ctx context.Context) (bool, error) {
		err := box.Ready(ctx)
		if err == nil {
			err = a.askDurability(ctx)
		}
		return true, redisRefused(err)
	})
	if err != nil {
		_ = box.Shutdown()
		return nil, err
	}
	a.log.Info("store opened", "owner", box.Owner())
	a.ready.probe("redis", func(ctx context.Context) string {
		if box.Ready(ctx) == nil {
			return ""
		}
		return "it cannot be written"
	})
	return box, nil
}

// answering is the model that answers turns.
func (a assembly) answering() (agent.Model, error) {
	if a.model != nil {
		return a.model, nil
	}
	return openai.New(openai.Options{
		BaseURL: a.settings.OpenAIBaseURL, APIKey: a.settings.OpenAIAPIKey.Reveal(), Model: a.settings.OpenAIModel, Logger: a.log,
		Waits: a.options.ModelWaits, MaxWait: a.options.ModelMaxWait, Idle: a.options.ModelIdle, Attempt: a.options.ModelAttempt,
	})
}

// agent is the loop with its model and the gate.
func (a assembly) agent(box *mailbox.Box, model agent.Model, tools *gate.Gate) *agent.Loop {
	return agent.NewLoop(agent.Options{
		Model: model, Tools: tools, MaxSteps: a.settings.MaxSteps, MaxTurnTokens: a.settings.MaxTurnTokens,
		ContextTokens: a.settings.ContextTokens, DailyTokens: a.settings.DailyTokensPerPerson, Meter: meter{box},
		Count: a.metrics.Count, Logger: a.log,
	})
}

// consent is when the gate has a person asked.
func (a assembly) consent() gate.Policy {
	return gate.Policy{
		MultiActorWrites: gate.MultiActorWrites(a.settings.MultiActorWrites), WriteConsent: gate.WriteConsent(a.settings.WriteConsent),
	}
}

// admission is who may instruct, and where.
func (a assembly) admission() slackapp.Admission {
	policy := slackapp.Admission{AllowExternal: a.settings.AllowExternal, StopReaction: a.settings.StopReaction}
	for _, c := range a.settings.AllowedChannels {
		if policy.Channels == nil {
			policy.Channels = map[chat.ChannelID]bool{}
		}
		policy.Channels[c] = true
	}
	for _, u := range a.settings.AllowedUsers {
		if policy.Users == nil {
			policy.Users = map[chat.UserID]bool{}
		}
		policy.Users[u] = true
	}
	return policy
}

// waitFor tries until it succeeds, is refused or ctx ends, with a growing
// pause. Meanwhile the process is not ready, and says for what it waits.
func waitFor[T any](ctx context.Context, a assembly, name, reason string, try func(context.Context) (T, error)) (T, error) {
	for pause := a.options.RetryEvery; ; pause = min(2*pause, 30*a.options.RetryEvery) {
		got, err := try(ctx)
		err = refused(err)
		var config *ConfigError
		if err == nil || errors.As(err, &config) {
			return got, err
		}
		a.ready.Set(name, reason)
		a.log.Warn("waiting", "for", name, "retry", pause.String(), "err", err)
		select {
		case <-ctx.Done():
			return got, fmt.Errorf("wait for %s: %w", name, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// refused makes a refused token a wrong setting.
func refused(err error) error {
	var auth *slackapp.AuthError
	if errors.As(err, &auth) {
		return &ConfigError{[]string{auth.Error()}}
	}
	return err
}

// shippedProbes are the tests that check makes.
func shippedProbes() probes {
	return probes{
		bot: slackapp.ProbeBot,
		app: slackapp.ProbeApp,
		redis: func(ctx context.Context, url string) (redisFacts, error) {
			r, err := mailbox.Probe(ctx, url)
			return redisFacts(r), err
		},
		model: openai.Probe,
	}
}
