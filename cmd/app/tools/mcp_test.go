package tools

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"reeve/slackapp/simulator"
)

// A server that the operator's file names is called in Alice's turn; its key is
// seen by nobody, and what it gives back is for her turns alone.
func TestS4_AServerIsCalledAndItsKeyIsSeenByNobody(t *testing.T) {
	t.Parallel()
	key := "weather-" + "key-4711"
	p := newPlace(t, nil)
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := fmt.Sprintf(`{"mcpServers": {"weather": {"url": %q, "headers": {"X-Api-Key": "${MCP_WEATHER_KEY}"}}}}`, weather(t, key))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := p.Start(t, "MCP_CONFIG="+file, "MCP_WEATHER_KEY="+key)
	p.Until(t, "the server is connected", func() bool { return p.Journal.Holding("the MCP server is connected") > 0 })

	got := p.asks(simulator.Alice, simulator.AliceDM, "", "how is the weather in Bern?", "mcp_weather__forecast", map[string]string{"place": "Bern"}, "It rains.")
	if !strings.Contains(got.Content, "Rain in Bern, said by [masked]") {
		t.Errorf("the model was given %q", got.Content)
	}
	for _, request := range p.Model.Requests() {
		if request.Count(key) > 0 {
			t.Error("the model was shown the key")
		}
	}
	r.Term(t)
	if p.Journal.Holding(key) > 0 {
		t.Error("the log tells the key")
	}
}

// weather is a server that knows its clients by a key, and is its address.
func weather(t *testing.T, key string) string {
	server := sdk.NewServer(&sdk.Implementation{Name: "weather", Version: "1"}, nil)
	type in struct {
		Place string `json:"place"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "forecast", Description: "Says how the weather will be."},
		func(_ context.Context, _ *sdk.CallToolRequest, in in) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Rain in " + in.Place + ", said by " + key}}}, nil, nil
		})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != key {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		for session := range server.Sessions() {
			_ = session.Close()
		}
		outer.CloseClientConnections()
		outer.Close()
	})
	return outer.URL
}
