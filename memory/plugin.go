package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reeve/plugins"
)

// Provider is whose rights recall and forget spend: only a person may be told
// what is remembered of him.
const Provider = "memory"

// Options are what the plugin is made of.
type Options struct {
	Store *Store
	Model Model
	// Extraction: memories are proposed after a turn. Otherwise only what
	// somebody asks to have remembered is.
	Extraction bool
	// Embedder lets memories be found by their meaning too; may be nil.
	Embedder Embedder
	// Count is told what happens, for metrics; may be nil.
	Count func(name, label string, n int)
}

// New is the plugin; Use gives it what it needs before it is opened.
func New() *Plugin { return &Plugin{} }

// Plugin is the plugin that remembers.
type Plugin struct {
	options  Options
	services plugins.Services
	ranker   ranker
}

// Use is called once, before Open.
func (p *Plugin) Use(o Options) {
	if o.Count == nil {
		o.Count = func(string, string, int) {}
	}
	p.options = o
}

func (*Plugin) Name() string { return "memory" }

func (p *Plugin) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	if p.options.Store == nil || p.options.Model == nil {
		return plugins.Extension{}, errors.New("it needs a store and a model")
	}
	p.services = services
	p.ranker.embedder, p.ranker.log = p.options.Embedder, services.Log
	x := plugins.Extension{Tools: p.tools(), Sections: p.sections(), Home: p.home(), Run: p.clean}
	if p.options.Extraction {
		x.Tasks = []plugins.Task{
			{Name: "personal", Wants: wants(personal), Run: p.extract(personal)},
			{Name: "shared", Wants: wants(shared), Run: p.extract(shared)},
		}
	}
	return x, nil
}

// wants: nothing is learnt from a turn that failed or was stopped.
func wants(from func(plugins.Run) (extraction, bool)) func(plugins.Ended) bool {
	return func(ended plugins.Ended) bool {
		_, ok := from(ended.Run)
		return ok && ended.Outcome == plugins.Done
	}
}

// extract learns from a turn that has ended. A second try of a task that has
// written already changes nothing.
func (p *Plugin) extract(from func(plugins.Run) (extraction, bool)) func(context.Context, plugins.Ended) error {
	return func(ctx context.Context, ended plugins.Ended) error {
		x, ok := from(ended.Run)
		if !ok || ended.Outcome != plugins.Done {
			return nil
		}
		x.by = ended.Key
		if written, err := p.options.Store.WrittenBy(ctx, x.owner, x.by); err != nil || len(written) > 0 {
			return err
		}
		found, err := x.propose(ctx, p.options.Model, ended.Turn, p.services)
		switch {
		case errors.Is(err, ErrSpent):
			p.options.Count(CountMemories, countedSpent, 1)
			return nil
		case errors.Is(err, errAnswer):
			p.options.Count(CountMemories, countedNoAnswer, 1)
			p.services.Log.Warn("no memories", "turn", ended.Turn, "owner", x.owner.Key(), "err", err)
			return nil
		}
		if err != nil || len(found.memories) == 0 {
			return err
		}
		outcomes, err := p.options.Store.Add(ctx, x.owner, p.services.Now(), found.memories...)
		for _, o := range outcomes {
			p.options.Count(CountMemories, string(o), 1)
			if o == full {
				p.services.Log.Warn("memories are full", "turn", ended.Turn, "owner", x.owner.Key())
			}
		}
		return err
	}
}

// clean takes out what has expired, as soon as it has.
func (p *Plugin) clean(ctx context.Context) error {
	for {
		now := p.services.Now()
		next, err := p.options.Store.Clean(ctx, now)
		if err != nil {
			return fmt.Errorf("clean memories: %w", err)
		}
		wait := time.Hour
		if !next.IsZero() {
			wait = min(wait, max(next.Sub(now), time.Second))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
