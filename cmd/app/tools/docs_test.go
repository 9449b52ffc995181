package tools

import (
	"os"
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/plugins/echo"
	"reeve/plugins/github"
	"reeve/plugins/plugintest"
	"reeve/plugins/slack"
	"reeve/plugins/web"
)

// The page says of every tool what it is.
func TestEveryToolIsInTheDocuments(t *testing.T) {
	page, err := os.ReadFile("../../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []plugins.Plugin{clock.New(nil), echo.New(), github.New(), slack.New(), web.New()} {
		tools := plugintest.New(t, plugin).Extension().Tools
		if len(tools) == 0 {
			t.Errorf("%s has no tools", plugin.Name())
		}
		for _, tool := range tools {
			if !strings.Contains(string(page), "| "+plugin.Name()+" | `"+tool.Name+"` |") {
				t.Errorf("%s of %s is not in docs/tools.md", tool.Name, plugin.Name())
			}
		}
	}
}
