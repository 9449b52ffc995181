package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caarlos0/env/v11"
	"go.uber.org/goleak"

	"reeve/cmd/app/apptest/nodetest"
	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/plugins/mcp"
	"reeve/runtime/chat"
)

// patience is how long anything is waited for.
const patience = time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is the plugin at work, with these servers, behind a gate.
type host struct {
	t      *testing.T
	gate   *gate.Gate
	offers chan struct{}
	stop   func()
}

func start(t *testing.T, servers map[string]any) *host {
	t.Helper()
	nodetest.Install(t, filepath.Join("testdata", "node"))
	file := filepath.Join(t.TempDir(), "mcp.json")
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, gate: gate.New(gate.Options{Logger: slog.New(slog.DiscardHandler)}), offers: make(chan struct{}, 1)}
	plugin := mcp.New(mcp.Options{Environ: os.Environ(), Retry: 10 * time.Millisecond, Settle: time.Millisecond})
	extension, err := plugin.Open(t.Context(), plugins.Services{
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now,
		Settings: func(into any) error {
			return env.ParseWithOptions(into, env.Options{Prefix: "MCP_", Environment: map[string]string{"MCP_CONFIG": file}})
		},
		Offer: func(tools []plugins.Tool) error {
			defer func() {
				select {
				case h.offers <- struct{}{}:
				default:
				}
			}()
			return h.gate.Set("mcp", tools, false)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- extension.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the plugin ended with %v", err)
		}
	})
	t.Cleanup(h.stop)
	return h
}

// needs waits until a tool is offered.
func (h *host) needs(name string) {
	h.t.Helper()
	for late := time.After(patience); len(h.gate.Offered([]string{name})) == 0; {
		select {
		case <-h.offers:
		case <-late:
			h.t.Fatalf("%s is not offered; there are %v", name, h.gate.Offered(nil))
		}
	}
}

// call asks for a tool as the model of Alice's turn does.
func (h *host) call(name, arguments string) plugins.Result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	return h.gate.Call(ctx, plugins.Asked{
		Run:  plugins.Run{Turn: "t_1", Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1.0"}, Actor: chat.Person("T1", "U1")},
		Call: chat.ToolCall{ID: "c1", Tool: name, Arguments: arguments},
	})
}

// says fails unless a call gives back a text that holds each of want.
func (h *host) says(name, arguments string, want ...string) plugins.Result {
	h.t.Helper()
	got := h.call(name, arguments)
	for _, part := range want {
		if !strings.Contains(got.Text, part) {
			h.t.Errorf("%s%s says %+v, want %q in it", name, arguments, got, part)
		}
	}
	return got
}

// server is the file that node runs for one of the packages.
func server(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "node", "node_modules", "@modelcontextprotocol", name, "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// everythingOverHTTP starts the server of that name, and is its address.
func everythingOverHTTP(t *testing.T) string {
	t.Helper()
	nodetest.Install(t, filepath.Join("testdata", "node"))
	loopback, err := filepath.Abs(filepath.Join("testdata", "node", "loopback.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "--require", loopback, server(t, "server-everything"), "streamableHttp")
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if port, found := strings.CutPrefix(lines.Text(), "LISTENING "); found {
				address <- fmt.Sprintf("http://127.0.0.1:%s/mcp", port)
			}
		}
	}()
	select {
	case found := <-address:
		return found
	case <-time.After(patience):
		t.Fatal("the server does not listen")
		return ""
	}
}
