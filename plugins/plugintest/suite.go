package plugintest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/plugins"
)

// Suite holds a plugin to what every plugin must keep. What it makes is opened
// anew for each check, as at a start of the bot. It leaves what a plugin is for
// to the plugin's own tests.
//
// The checks count goroutines: the test that calls Suite is not parallel.
func Suite(t *testing.T, plugin func() plugins.Plugin, change ...Option) {
	known := &panics{at: map[string]bool{}}
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			for _, problem := range inspect(t, check, plugin, change, known) {
				t.Error(problem)
			}
		})
	}
}

// Example names arguments of a tool with which a call of it goes well. The suite
// makes that call beside those that it draws, and it must go well.
func Example(tool, arguments string) Option {
	return func(o *options) { o.examples = append(o.examples, example{tool, arguments}) }
}

// Until says when a plugin that offers its tools later has done so. The suite
// waits for it, for twice its patience, before a check that needs tools.
func Until(ready func(plugins.Extension) bool) Option {
	return func(o *options) { o.until = ready }
}

// Calls is how many calls of each tool the suite draws; 200.
func Calls(n int) Option { return func(o *options) { o.calls = n } }

// Patience is how long one drawn call may take before its context is ended; 5 s.
func Patience(d time.Duration) Option { return func(o *options) { o.patience = d } }

type example struct{ tool, arguments string }

// check is one rule.
type check struct {
	name string
	rule func(*inspection)
}

var checks = []check{
	{"opens", opens},
	{"arguments", takesAnyArguments},
	{"examples", doesItsExamples},
	{"log", keepsTextOutOfItsLog},
	{"ended context", comesBack},
	{"same key", changesThingsOnce},
	{"store away", livesWithoutItsStore},
	{"people", keepsPeopleApart},
	{"sections", keepsItsBudget},
	{"tasks", repeatsItsTasks},
	{"home", homeBears},
	{"at once", worksAtOnce},
	{"end", leavesNothingRunning},
}

// inspection is a check of one plugin. What it finds wrong is collected, so that
// the suite can be tested.
type inspection struct {
	t       testing.TB
	make    func() plugins.Plugin
	change  []Option
	found   []string
	closing []func()
	panics  *panics
}

// panics are the lines of code that are known to panic. Each is told of once in
// a suite: what panics does so in most checks.
type panics struct {
	mu sync.Mutex
	at map[string]bool
}

// again reports whether an error is a panic that was told of.
func (p *panics) again(err error) bool {
	var fault Fault
	if !errors.As(err, &fault) || fault.at == "" {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.at[fault.at]
	p.at[fault.at] = true
	return known
}

// found bounds what one check says: a plugin that panics does so often.
const mostFound = 5

func inspect(t testing.TB, c check, plugin func() plugins.Plugin, change []Option, known *panics) (found []string) {
	i := &inspection{t: t, make: plugin, change: change, panics: known}
	defer func() {
		if fault := recover(); fault != nil && fault != errGivenUp {
			panic(fault)
		}
		i.close()
		found = i.found
	}()
	c.rule(i)
	return nil
}

var errGivenUp = errors.New("given up")

func (i *inspection) wrong(format string, args ...any) {
	for _, arg := range args {
		if err, ok := arg.(error); ok && i.panics.again(err) {
			return
		}
	}
	if len(i.found) < mostFound {
		i.found = append(i.found, fmt.Sprintf(format, args...))
	}
}

func (i *inspection) close() {
	for _, f := range i.closing {
		f()
	}
	i.closing = nil
}

// host is the plugin, open and at work, with the tools that it needs.
func (i *inspection) host() *Host {
	h := newHost(i.t, i.make(), i.change)
	if err := h.open(i.t.Context()); err != nil {
		i.wrong("%v", err)
		panic(errGivenUp)
	}
	i.background(h)
	if err := h.wait(i.t.Context()); err != nil {
		i.wrong("%v", err)
		panic(errGivenUp)
	}
	return h
}

// background lets the plugin's own work run until the check is over.
func (i *inspection) background(h *Host) {
	ctx, cancel := context.WithCancel(i.t.Context())
	done := make(chan error, 1)
	run := h.Extension().Run
	if run == nil {
		run = func(ctx context.Context) error { <-ctx.Done(); return nil }
	}
	go func() {
		// Run's time is over when the check is; within adds what it may be late.
		done <- within(ctx, 24*time.Hour, run)
	}()
	i.closing = append(i.closing, func() {
		cancel()
		var fault Fault
		if err := <-done; errors.As(err, &fault) {
			i.wrong("Extension.Run: %v", fault)
		}
		h.web.close()
	})
}

// wait is for the tools of a plugin that offers them later.
func (h *Host) wait(ctx context.Context) error {
	if h.options.until == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*h.options.patience)
	defer cancel()
	for !h.options.until(h.Extension()) {
		select {
		case <-h.offered:
		case <-ctx.Done():
			return fmt.Errorf("plugin %s: its tools were not offered in time", h.plugin.Name())
		}
	}
	return nil
}

// isFault reports whether an error is what no plugin may do, and nothing else.
func isFault(err error) bool {
	var fault Fault
	return errors.As(err, &fault)
}

// firstLine keeps a list of problems readable.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return plugins.CutMiddle(line, 300)
}
