package mcp_test

import (
	"encoding/json"
	"os"
	"testing"

	"reeve/plugins"
	"reeve/plugins/mcp"
	"reeve/plugins/plugintest"
)

func TestSuite(t *testing.T) {
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"kit": kit("plain", map[string]any{
		"allow": []string{"echo", "show", "fail"},
	})}})
	if err != nil {
		t.Fatal(err)
	}
	plugintest.Suite(t, func() plugins.Plugin { return mcp.New(mcp.Options{Environ: os.Environ()}) },
		file(t, string(servers)),
		plugintest.Until(func(x plugins.Extension) bool { return len(x.Tools) > 0 }),
		plugintest.Example("mcp_kit__echo", `{"text":"hello"}`),
		plugintest.Calls(30),
	)
}
