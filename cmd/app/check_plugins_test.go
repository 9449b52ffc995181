package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/plugins"
	"reeve/plugins/gate"
)

// talker is a plugin that reports.
type talker struct {
	open     error
	lines    []string
	warnings []string
	err      error
}

func (talker) Name() string { return "talker" }

func (t talker) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{}, t.open
}

func (t talker) Report(_ context.Context, services plugins.Services) (lines, warnings []string, err error) {
	var set struct {
		Tone string `env:"TONE"`
	}
	if err := services.Settings(&set); err != nil {
		return nil, nil, err
	}
	return append(t.lines, "tone "+set.Tone), t.warnings, t.err
}

// silent is one that does not.
type silent struct{}

func (silent) Name() string { return "silent" }

func (silent) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{}, nil
}

func TestCheckHasPluginsReport(t *testing.T) {
	tests := []struct {
		plugin plugins.Plugin
		want   []string
	}{
		{silent{}, nil},
		{talker{lines: []string{"one tool"}}, []string{"plugin talker: ok: one tool", "plugin talker: ok: tone loud"}},
		{talker{warnings: []string{"no such tool"}}, []string{"plugin talker: ok: tone loud", "plugin talker: warning: no such tool; fix: correct that in the plugin's settings, unless it is what you want"}},
		{talker{err: errors.New("a: away\nb: away")}, []string{
			"plugin talker: ok: tone loud",
			"plugin talker: cannot be reached: a: away; fix: see that it runs and can be reached from this machine",
			"plugin talker: cannot be reached: b: away; fix: see that it runs and can be reached from this machine",
		}},
		{talker{open: errors.New("its file is wrong\nvery wrong")}, []string{
			"plugin talker: wrong: its file is wrong; fix: correct that, or have PLUGINS name all that are to be on but talker",
			"plugin talker: wrong: very wrong; fix: correct that, or have PLUGINS name all that are to be on but talker",
		}},
	}
	for _, test := range tests {
		var got []string
		for _, f := range checkPlugins(t.Context(), []plugins.Plugin{test.plugin}, Settings{}, Options{Environ: []string{"TALKER_TONE=loud", "TONE=soft"}}) {
			got = append(got, f.String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v:\n%s", test.plugin, diff)
		}
	}
}

// spender is a plugin whose tools need accounts.
type spender struct{}

func (spender) Name() string { return "spender" }

func (spender) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{Tools: []plugins.Tool{
		{Name: "a", Provider: "bank", Account: true}, {Name: "b", Provider: "spender_own", Account: true}, {Name: "c", Provider: "bank"}, {Name: "d"},
	}}, nil
}

func TestCheckSaysWhichToolsNobodyIsOffered(t *testing.T) {
	const lacks = "plugin spender: %s: 1 of its 4 tools are offered to nobody: they need accounts at bank, which OAUTH_PROVIDERS does not name"
	for _, test := range []struct {
		settings Settings
		want     string
	}{
		{Settings{}, fmt.Sprintf(lacks, "ok")},
		{Settings{Plugins: []string{"spender"}}, fmt.Sprintf(lacks, "warning") + "; fix: name bank in OAUTH_PROVIDERS, with its settings and CREDENTIAL_KEYS (docs/credentials.md), or take spender out of PLUGINS"},
		{Settings{OAuthProviders: []string{"bank"}}, ""},
	} {
		got := ""
		for _, f := range checkPlugins(t.Context(), []plugins.Plugin{spender{}}, test.settings, Options{}) {
			got += f.String()
		}
		if got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// What is wrong with any plugin is said at once, as a wrong setting is.
func TestPluginThatDoesNotOpenIsAWrongSetting(t *testing.T) {
	a := assembly{options: Options{}.withDefaults(), plugins: []plugins.Plugin{talker{open: errors.New("no file\nno field")}, silent{}}, log: slog.New(slog.DiscardHandler)}
	_, err := a.extend(t.Context(), gate.Options{}, nil)
	var config *ConfigError
	if !errors.As(err, &config) || len(config.Problems) != 2 || !strings.Contains(fmt.Sprint(config.Problems), "plugin talker: no file") {
		t.Errorf("got %v", err)
	}
}
