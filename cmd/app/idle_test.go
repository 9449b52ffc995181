package app

import (
	"bytes"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/plugins"
)

func TestSettingOfAPluginThatIsOffIsTold(t *testing.T) {
	all := []plugins.Plugin{named("mcp"), named("memory")}
	environ := []string{"MCP_CONFIG=mcp.json", "MEMORY_EXTRACTION=on", "EMBEDDING_MODEL=", "HTTP_ADDR=:1"}
	if found := checkIdle(environ, nil, all); len(found) > 0 {
		t.Errorf("with the plugins on: %v", found)
	}
	if found := checkIdle([]string{"MEMORY_EXTRACTION=off"}, nil, nil); len(found) > 0 {
		t.Errorf("off, of what is off: %v", found)
	}
	var got []string
	for _, f := range checkIdle(environ, nil, []plugins.Plugin{named("clock")}) {
		got = append(got, f.String())
	}
	want := []string{
		"settings: warning: MCP_CONFIG is set, and has no effect: the plugin mcp is off; fix: name mcp in PLUGINS, beside the others that are to be on, or unset MCP_CONFIG",
		"settings: warning: MEMORY_EXTRACTION is set, and has no effect: the plugin memory is off; fix: name memory in PLUGINS, beside the others that are to be on, or unset MEMORY_EXTRACTION",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var log bytes.Buffer
	warnIdle(slog.New(slog.NewTextHandler(&log, nil)), environ, nil, all[1:])
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "MCP_CONFIG is set, and has no effect") || strings.Contains(text, "MEMORY") {
		t.Errorf("the log has %q", text)
	}
}

func TestSettingWithoutItsPluginOrProviderIsTold(t *testing.T) {
	github := []plugins.Plugin{named("github")}
	for _, c := range []struct {
		set       string
		providers []string
		on        []plugins.Plugin
		want      string
	}{
		{"ECHO_KEEP=3", nil, github, "ECHO_KEEP is set, and has no effect: the plugin echo is off; fix: name echo in PLUGINS"},
		{"ECHO_KEEP=3", nil, []plugins.Plugin{named("echo")}, ""},
		{"GITHUB_ACCESS=app", []string{"github"}, nil, "GITHUB_ACCESS is set, and has no effect: the plugin github is off"},
		{"GITHUB_ACCESS=app", nil, github, "GITHUB_ACCESS is set, and has no effect: OAUTH_PROVIDERS does not name github; fix: name github in OAUTH_PROVIDERS"},
		{"GITHUB_APP_ID=1", nil, nil, "GITHUB_APP_ID is set, and has no effect: the plugin github is off"},
		{"GITHUB_ACCESS=app", []string{"github"}, github, ""},
		{"LINEAR_CLIENT_ID=x", nil, github, "LINEAR_CLIENT_ID is set, and has no effect: OAUTH_PROVIDERS does not name linear"},
		{"LINEAR_CLIENT_ID=x", []string{"linear"}, github, ""},
		{"GITHUB_TOKEN=somebody-elses", nil, nil, ""},
	} {
		var got []string
		for _, f := range checkIdle([]string{c.set}, c.providers, c.on) {
			got = append(got, f.String())
		}
		if all := strings.Join(got, "\n"); (all == "") != (c.want == "") || !strings.Contains(all, c.want) || len(got) > 1 {
			t.Errorf("%s with %v and %v: %q", c.set, c.providers, names(c.on), got)
		}
	}
}

// What a plugin of ours or GitHub's App reads stands in the table.
func TestEverySettingOfAPluginCanBeToldToBeIdle(t *testing.T) {
	tag := regexp.MustCompile("`env:\"([A-Z_]+)[\",]")
	for file, prefix := range map[string]string{
		"plugins/echo/": "ECHO_", "plugins/github/": "GITHUB_", "plugins/mcp/": "MCP_", "plugins/clock/": "CLOCK_", "plugins/web/": "WEB_",
		"plugins/schedule/": "SCHEDULE_", "plugins/slack/": "SLACK_", "memory/": "MEMORY_", "credentials/oauth/githubapp.go": "GITHUB_",
	} {
		for name, text := range sources(t) {
			if !strings.HasPrefix(name, file) || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, found := range tag.FindAllStringSubmatch(string(text), -1) {
				if !slices.ContainsFunc(pluginSettings, func(s optionalSetting) bool { return s.name == prefix+found[1] }) {
					t.Errorf("%s reads %s, which the table lacks", name, prefix+found[1])
				}
			}
		}
	}
}

// The command itself says so, by what .env and the environment hold.
func TestCheckTellsOfASettingOfAPluginThatIsOff(t *testing.T) {
	var out bytes.Buffer
	Main([]string{"check"}, []plugins.Plugin{named("clock"), named("mcp")}, Options{
		Stdout: &out, Stderr: &out, Dotenv: t.TempDir() + "/none",
		Environ: []string{"PLUGINS=clock", "MCP_CONFIG=idle_test.go", "SLACK_API_URL=http://127.0.0.1:1/api/"},
	})
	if !strings.Contains(out.String(), "settings: warning: MCP_CONFIG is set, and has no effect") {
		t.Errorf("it says:\n%s", &out)
	}
}
