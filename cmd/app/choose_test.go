package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"reeve/plugins"
)

type named string

func (n named) Name() string { return string(n) }
func (named) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{}, nil
}

func TestChoosePlugins(t *testing.T) {
	compiled := []plugins.Plugin{named("clock"), Off(named("echo")), named("web")}
	tests := []struct {
		on   []string
		want []string
	}{
		{nil, []string{"clock", "web"}},
		{[]string{"clock"}, []string{"clock"}},
		{[]string{"web", "echo"}, []string{"web", "echo"}},
	}
	for _, test := range tests {
		got, err := choose(compiled, test.on)
		if err != nil || !slices.Equal(names(got), test.want) {
			t.Errorf("PLUGINS=%s: %v, %v; want %v", strings.Join(test.on, ","), names(got), err, test.want)
		}
		for _, p := range got {
			if _, bare := p.(named); !bare {
				t.Errorf("PLUGINS=%s: %s came as a %T", strings.Join(test.on, ","), p.Name(), p)
			}
		}
	}
	var config *ConfigError
	if _, err := choose(compiled, []string{"teleport"}); !errors.As(err, &config) || !strings.Contains(err.Error(), "clock, echo, web") {
		t.Errorf("a plugin that there is not: %v", err)
	}
	for _, on := range [][]string{nil, {"clock"}} {
		for _, bad := range []plugins.Plugin{nil, Off(nil)} {
			if _, err := choose([]plugins.Plugin{named("clock"), bad}, on); err == nil || !strings.Contains(err.Error(), "plugin 2 is nil") {
				t.Errorf("a nil plugin, PLUGINS=%s: %v", strings.Join(on, ","), err)
			}
		}
	}
}
