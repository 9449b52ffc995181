package mcp_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caarlos0/env/v11"
	"go.uber.org/goleak"

	"reeve/cmd/app/apptest/testlog"
	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/plugins/mcp"
	"reeve/runtime/chat"
)

// TestMain is, in a process that a test's file of servers names, that server.
func TestMain(m *testing.M) {
	if kind := os.Getenv(kindVariable); kind != "" {
		os.Exit(serveKit(kind))
	}
	goleak.VerifyTestMain(m)
}

// patience is how long anything is waited for.
const patience = 30 * time.Second

// host is what Reeve is to the plugin: a gate, settings, and a log.
type host struct {
	t      *testing.T
	gate   *gate.Gate
	offers chan []string
	log    *testlog.Journal
	path   string
	env    map[string]string
	reload chan os.Signal
	// stop ends the plugin, and waits until it has ended.
	stop func()
}

func newHost(t *testing.T) *host {
	t.Helper()
	log := &testlog.Journal{}
	path := filepath.Join(t.TempDir(), "mcp.json")
	return &host{
		t: t, gate: gate.New(gate.Options{Logger: slog.New(slog.DiscardHandler)}), offers: make(chan []string, 1000),
		log: log, path: path, env: map[string]string{"MCP_CONFIG": path}, reload: make(chan os.Signal),
	}
}

func (h *host) services() plugins.Services {
	return plugins.Services{
		Log: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: time.Now,
		Settings: func(into any) error {
			return env.ParseWithOptions(into, env.Options{Prefix: "MCP_", Environment: h.env})
		},
		Offer: func(tools []plugins.Tool) error {
			if err := h.gate.Set("mcp", tools, false); err != nil {
				return err
			}
			names := []string{}
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			h.offers <- names
			return nil
		},
	}
}

// write makes the file of servers.
func (h *host) write(servers map[string]any) {
	h.t.Helper()
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err == nil {
		err = os.WriteFile(h.path, data, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// start opens the plugin and runs it until the test ends.
func (h *host) start(options mcp.Options) {
	h.t.Helper()
	options.Reload = h.reload
	if options.Environ == nil {
		options.Environ = os.Environ()
	}
	if options.Settle == 0 {
		options.Settle = time.Millisecond
	}
	h.stop = runPlugin(h.t, h.services(), options)
}

// runPlugin opens the plugin and runs it until the test ends.
func runPlugin(t *testing.T, services plugins.Services, options mcp.Options) (stop func()) {
	t.Helper()
	extension, err := mcp.New(options).Open(t.Context(), services)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- extension.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("it did not end")
		}
	})
	t.Cleanup(stop)
	return stop
}

// until waits for an offer of which ok is true.
func (h *host) until(ok func(names []string) bool) []string {
	h.t.Helper()
	for late := time.After(patience); ; {
		select {
		case names := <-h.offers:
			if ok(names) {
				return names
			}
		case <-late:
			h.t.Fatalf("nothing of the kind was offered; the log:\n%s", h.log)
		}
	}
}

func has(names ...string) func([]string) bool {
	return func(offered []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(offered, name) })
	}
}

// call asks for a tool as the model of Alice's turn does.
func (h *host) call(name string, arguments map[string]any) plugins.Result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	return h.callIn(ctx, name, arguments)
}

func (h *host) callIn(ctx context.Context, name string, arguments map[string]any) plugins.Result {
	h.t.Helper()
	if arguments == nil {
		arguments = map[string]any{}
	}
	data, err := json.Marshal(arguments)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.gate.Call(ctx, plugins.Asked{
		Run:  plugins.Run{Turn: "t_1", Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1.0"}, Actor: chat.Person("T1", "U1")},
		Call: chat.ToolCall{ID: "c1", Tool: name, Arguments: string(data)},
	})
}

// says fails unless a call gives back a text with want in it.
func (h *host) says(name string, arguments map[string]any, want string) plugins.Result {
	h.t.Helper()
	got := h.call(name, arguments)
	if !strings.Contains(got.Text, want) {
		h.t.Errorf("%s says %+v, want %q in it; the log:\n%s", name, got, want, h.log)
	}
	return got
}

// kit is this test binary as a server that is a process.
func kit(kind string, more map[string]any) map[string]any {
	server := map[string]any{"command": os.Args[0], "env": map[string]any{kindVariable: kind}}
	maps.Copy(server, more)
	return server
}
