package main

import (
	"os"
	"time"

	"reeve/cmd/app"
	"reeve/memory"
	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/plugins/echo"
	"reeve/plugins/github"
	"reeve/plugins/mcp"
	"reeve/plugins/schedule"
	"reeve/plugins/slack"
	"reeve/plugins/web"
)

// compiled are the plugins of this distribution. Another one is another main
// with its own list.
func compiled() []plugins.Plugin {
	return []plugins.Plugin{
		clock.New(time.Now),
		slack.New(),
		web.New(),
		schedule.New(),
		github.New(), // offers nothing where people cannot connect accounts there
		mcp.New(mcp.Options{Environ: os.Environ()}), // offers nothing without MCP_CONFIG
		// What is remembered is private, and with something private in the prompt
		// more is asked about; and it costs model calls after each turn.
		app.Off(memory.New()),
		app.Off(echo.New()), // the example for authors: nobody's thread needs it
	}
}
