package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/plugins/settings"
	"reeve/runtime"
	"reeve/runtime/chat"
)

// extensions are the plugins that are on, opened.
type extensions struct {
	gate     *gate.Gate
	opened   []opened
	sections []section
	store    func(plugin string, actor chat.Actor) plugins.Store // nil: there is none
	accounts *accounts                                           // nil: there are none
	log      *slog.Logger
	starter  starter
	pause    time.Duration // before a background function is called again
	grace    time.Duration // that it has to end
}

type opened struct {
	name string
	plugins.Extension
}

// extend opens the plugins and puts their tools behind the gate. Whatever is
// wrong with any of them is said at once.
func (a assembly) extend(ctx context.Context, options gate.Options, people *accounts) (*extensions, error) {
	if err := checkNames(a.plugins); err != nil {
		return nil, err
	}
	x := &extensions{gate: gate.New(options), store: options.Store, accounts: people, log: a.log, pause: a.options.RetryEvery, grace: a.settings.ShutdownGrace + runsGrace}
	var wrong []string
	for _, plugin := range a.plugins {
		err := x.open(ctx, plugin, a.options)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			wrong = append(wrong, strings.Split(err.Error(), "\n")...)
		}
	}
	if len(wrong) > 0 {
		return nil, &ConfigError{wrong}
	}
	return x, nil
}

// checkNames refuses plugins that cannot be told apart, as a wrong setting is
// refused: the start ends, and says why.
func checkNames(list []plugins.Plugin) error {
	if err := plugins.CheckNames(list); err != nil {
		return &ConfigError{strings.Split(err.Error(), "\n")}
	}
	return nil
}

// services are what a plugin of a name may use.
func services(name string, log *slog.Logger, options Options, offer func([]plugins.Tool) error) plugins.Services {
	return plugins.Services{
		Log:      log.With("plugin", name),
		Now:      time.Now,
		Settings: func(into any) error { return settings.Read(name, options.Environ, into) },
		HTTP:     options.Outbound.Client,
		Offer:    offer,
	}
}

// openTime is what a plugin has to open: it is to wait for nothing then.
const openTime = 30 * time.Second

// openPlugin opens a plugin within its time. One that hangs is left to itself, and
// the start ends: without a bound it would hang, and nobody would know on what.
func openPlugin(ctx context.Context, plugin plugins.Plugin, given plugins.Services) (plugins.Extension, error) {
	type outcome struct {
		extension plugins.Extension
		err       error
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			if fault := recover(); fault != nil {
				out.err = fmt.Errorf("it panicked when it was opened: %v", fault)
			}
			done <- out
		}()
		out.extension, out.err = plugin.Open(ctx, given)
	}()
	select {
	case out := <-done:
		return out.extension, out.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return plugins.Extension{}, fmt.Errorf("it did not open within %v", openTime)
		}
		return plugins.Extension{}, ctx.Err()
	}
}

func (x *extensions) open(ctx context.Context, plugin plugins.Plugin, options Options) error {
	name := plugin.Name()
	shared := false
	given := services(name, x.log, options, func(tools []plugins.Tool) error {
		return x.gate.Set(name, tools, shared)
	})
	x.serve(name, &given)
	given.Providers = x.providers(name)
	extension, err := openPlugin(ctx, plugin, given)
	if err != nil {
		return fmt.Errorf("plugin %s: %w", name, err)
	}
	shared = extension.SharedStore
	if err := extension.Check(name); err != nil {
		return err
	}
	if err := x.gate.Set(name, extension.Tools, shared); err != nil {
		return err
	}
	x.opened = append(x.opened, opened{name, extension})
	x.addSections(x.opened[len(x.opened)-1])
	return nil
}

// tasks are the completed-turn tasks of all plugins.
func (x *extensions) tasks() []runtime.Task {
	var all []runtime.Task
	for _, o := range x.opened {
		for _, t := range o.Tasks {
			all = append(all, runtime.Task{Plugin: o.name, Task: t, SharedStore: o.SharedStore})
		}
	}
	return all
}

// tools are the names of the tools that there are now for a turn of actor: for a
// system actor those that spend nobody's rights and send nothing.
func (x *extensions) tools(actor chat.Actor) []string {
	names := []string{}
	for _, spec := range x.gate.Offered(nil) {
		if actor.IsPerson() || spec.Provider == "" && !spec.Sends {
			names = append(names, spec.Name)
		}
	}
	return names
}

// all are the names of all tools that there are now.
func (x *extensions) all() []string { return x.tools(chat.Person("T", "U")) }

// runsGrace is what background work has to end, after the calls that may be
// under way.
const runsGrace = 10 * time.Second

// run keeps the plugins' background work going until ctx ends. What does not end
// then is left behind: it must not keep the process.
func (x *extensions) run(ctx context.Context) error {
	var group errgroup.Group
	for _, o := range x.opened {
		if o.Run == nil {
			continue
		}
		group.Go(func() error {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				x.keep(ctx, o)
			}()
			<-ctx.Done()
			select {
			case <-ended:
			case <-time.After(x.grace):
				x.log.Error("plugin's background work does not end", "plugin", o.name)
			}
			return nil
		})
	}
	return group.Wait()
}

// keep calls a background function again, with a growing pause, as often as it
// ends before its time.
func (x *extensions) keep(ctx context.Context, o opened) {
	for pause := x.pause; ctx.Err() == nil; pause = min(2*pause, 30*x.pause) {
		err := attempt(ctx, o.Run)
		if ctx.Err() != nil {
			return
		}
		x.log.Error("plugin's background work ended", "plugin", o.name, "retry", pause.String(), "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// attempt turns a panic into an error.
func attempt(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("it panicked with a %T", fault)
		}
	}()
	return work(ctx)
}
