package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/plugins"
)

func TestSettingOfAPluginThatIsOffIsTold(t *testing.T) {
	all := []plugins.Plugin{named("mcp"), named("memory")}
	environ := []string{"MCP_CONFIG=mcp.json", "MEMORY_EXTRACTION=on", "EMBEDDING_MODEL=", "HTTP_ADDR=:1"}
	if found := checkIdle(environ, all); len(found) > 0 {
		t.Errorf("with the plugins on: %v", found)
	}
	if found := checkIdle([]string{"MEMORY_EXTRACTION=off"}, nil); len(found) > 0 {
		t.Errorf("off, of what is off: %v", found)
	}
	var got []string
	for _, f := range checkIdle(environ, []plugins.Plugin{named("clock")}) {
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
	warnIdle(slog.New(slog.NewTextHandler(&log, nil)), environ, all[1:])
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "MCP_CONFIG is set, and has no effect") || strings.Contains(text, "MEMORY") {
		t.Errorf("the log has %q", text)
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
