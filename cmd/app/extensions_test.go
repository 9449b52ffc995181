package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/plugins"
	"reeve/plugins/gate"
)

// tooled is a plugin with the tools and the sections that a test gives it.
type tooled struct {
	name      string
	extension plugins.Extension
	err       error
	panics    bool
	hangs     chan struct{} // until it is closed, whatever its context says
}

func (p tooled) Name() string { return p.name }

func (p tooled) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	if p.panics {
		panic("broken")
	}
	if p.hangs != nil {
		<-p.hangs
	}
	return p.extension, p.err
}

func toolOf(name string, change ...func(*plugins.Tool)) plugins.Extension {
	tool := plugins.MustTool(plugins.Tool{Name: name, Description: "d", Effect: plugins.Pure, Access: plugins.Read},
		func(context.Context, plugins.Call, struct{}) (plugins.Result, error) { return plugins.Result{}, nil })
	for _, c := range change {
		c(&tool)
	}
	return plugins.Extension{Tools: []plugins.Tool{tool}}
}

// A bad plugin ends the start as a wrong setting does, with a sentence that
// names it.
func TestABadPluginEndsTheStart(t *testing.T) {
	var none *tooled
	for name, c := range map[string]struct {
		list []plugins.Plugin
		want string
	}{
		"nil":                         {[]plugins.Plugin{nil}, "plugin 1 is nil"},
		"a nil pointer":               {[]plugins.Plugin{(plugins.Plugin)(none)}, "plugin 1 is nil"},
		"a reserved name":             {[]plugins.Plugin{tooled{name: "reeve"}}, "reserved"},
		"a bad name":                  {[]plugins.Plugin{tooled{name: "A B"}}, `"A B"`},
		"twice":                       {[]plugins.Plugin{tooled{name: "a"}, tooled{name: "a"}}, `two plugins are named "a"`},
		"a tool of two plugins":       {[]plugins.Plugin{tooled{name: "a", extension: toolOf("look")}, tooled{name: "b", extension: toolOf("look")}}, `plugin b: tool "look" is a tool of plugin a already`},
		"a reserved tool":             {[]plugins.Plugin{tooled{name: "a", extension: toolOf(plugins.HandBackTool)}}, "reserved"},
		"a bad schema":                {[]plugins.Plugin{tooled{name: "a", extension: toolOf("look", func(t *plugins.Tool) { t.Parameters = []byte(`{"type":"array"}`) })}}, "bad schema"},
		"a section without a name":    {[]plugins.Plugin{tooled{name: "a", extension: plugins.Extension{Sections: []plugins.Section{{}}}}}, `section ""`},
		"it cannot be opened":         {[]plugins.Plugin{tooled{name: "a", err: errors.New("A_KEY is not set")}}, "plugin a: A_KEY is not set"},
		"it panics when it is opened": {[]plugins.Plugin{tooled{name: "a", panics: true}}, "plugin a: it panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := assembly{plugins: c.list, log: slog.New(slog.DiscardHandler)}.extend(t.Context(), gate.Options{}, nil)
			var config *ConfigError
			if !errors.As(err, &config) || exitCode(err) != ExitConfiguration {
				t.Fatalf("got %v, want a wrong setting", err)
			}
			if !strings.Contains(strings.Join(config.Problems, "\n"), c.want) {
				t.Errorf("it says %q, want something with %q", config.Problems, c.want)
			}
		})
	}
}

// Without a bound the start would hang, and nobody would know on what.
func TestAPluginThatHangsWhenItIsOpenedEndsTheStart(t *testing.T) {
	for name, start := range map[string]func(ctx context.Context, list []plugins.Plugin) string{
		"run": func(ctx context.Context, list []plugins.Plugin) string {
			_, err := assembly{plugins: list, log: slog.New(slog.DiscardHandler)}.extend(ctx, gate.Options{}, nil)
			if config := (*ConfigError)(nil); errors.As(err, &config) {
				return strings.Join(config.Problems, "\n")
			}
			return fmt.Sprint(err)
		},
		"check": func(ctx context.Context, list []plugins.Plugin) string {
			f := checkPlugins(ctx, list, Settings{}, Options{})
			return f[0].test + ": " + f[0].detail
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hangs := make(chan struct{})
				defer close(hangs)
				begun := time.Now()
				said := start(t.Context(), []plugins.Plugin{tooled{name: "slow", hangs: hangs}})
				if said != "plugin slow: it did not open within 30s" || time.Since(begun) != openTime {
					t.Errorf("after %v it says %q", time.Since(begun), said)
				}
			})
		})
	}
}

// Who tells a process to end while a plugin hangs has stopped nothing wrong.
func TestTheStartEndsWhileAPluginHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		defer close(hangs)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := assembly{plugins: []plugins.Plugin{tooled{name: "slow", hangs: hangs}}, log: slog.New(slog.DiscardHandler)}.extend(ctx, gate.Options{}, nil)
		if err != ctx.Err() {
			t.Errorf("got %v", err)
		}
	})
}
