package mcp_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"reeve/plugins/mcp"
)

// house is a server at an address that can burn down and be built again.
type house struct {
	*httptest.Server
	address string
}

func build(t *testing.T, address string, handler http.Handler) *house {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{&httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}, listener.Addr().String()}
	h.Start()
	t.Cleanup(h.burn)
	return h
}

func (h *house) burn() {
	h.CloseClientConnections()
	h.Close()
}

func streamable(t *testing.T, options *sdk.StreamableHTTPOptions) http.Handler {
	server := kitServer()
	t.Cleanup(func() {
		for session := range server.Sessions() {
			_ = session.Close() // whose client did not say goodbye
		}
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, options)
}

func TestServerAtAnAddress(t *testing.T) {
	for name, options := range map[string]*sdk.StreamableHTTPOptions{
		"with sessions": nil, "without sessions": {Stateless: true}, "plain JSON": {JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			inner := streamable(t, options)
			server := build(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Api-Key") != "a-secret-4711" {
					http.Error(w, "who are you, "+r.Header.Get("X-Api-Key"), http.StatusUnauthorized)
					return
				}
				inner.ServeHTTP(w, r)
			}))
			h := newHost(t)
			h.env["MCP_KEY"] = "a-secret-4711"
			h.write(map[string]any{"far": map[string]any{
				"type": "http", "url": server.URL + "/mcp", "headers": map[string]string{"X-Api-Key": "${MCP_KEY}"},
			}})
			h.start(mcp.Options{MaxMessage: 64 << 10})
			h.until(has("mcp_far__echo", "mcp_far__poison"))
			if got := h.says("mcp_far__echo", map[string]any{"text": "hello"}, "hello"); got.Error || !got.Private {
				t.Errorf("got %+v", got)
			}
			if got := h.says("mcp_far__big", map[string]any{"n": 1 << 20}, "ask for less"); !got.Error {
				t.Errorf("got %+v", got)
			}
			h.says("mcp_far__echo", map[string]any{"text": "still here"}, "still here")
			if strings.Contains(h.log.String(), "not connected") {
				t.Errorf("the connection was lost over a huge result:\n%s", h.log)
			}
		})
	}
}

func TestServerAtAnAddressComesBack(t *testing.T) {
	first := build(t, "127.0.0.1:0", streamable(t, nil))
	h := newHost(t)
	h.write(map[string]any{"far": map[string]any{"url": first.URL}})
	h.start(mcp.Options{Retry: 10 * time.Millisecond})
	h.until(has("mcp_far__echo"))
	if got := h.says("mcp_far__echo", map[string]any{"text": "hello"}, "hello"); got.Private {
		t.Errorf("a server without a secret: %+v", got)
	}
	first.burn()
	if got := h.call("mcp_far__echo", map[string]any{"text": "hello"}); !got.Error {
		t.Errorf("a call of which nobody hears: %+v", got)
	}
	h.log.Wait(t, "the MCP server is not connected", 1)
	if got := h.says("mcp_far__echo", map[string]any{"text": "hello"}, "not connected"); !got.Error {
		t.Errorf("while it is away: %+v", got)
	}
	build(t, first.address, streamable(t, nil)) // which knows nothing of the session
	h.log.Wait(t, "the MCP server is connected", 2)
	h.says("mcp_far__echo", map[string]any{"text": "back"}, "back")
}

// Servers that forget their sessions say so in many ways, not all of which the
// protocol knows.
func TestForgottenSessionIsMadeAnew(t *testing.T) {
	var forget atomic.Bool
	inner := streamable(t, nil)
	server := build(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") != "" && r.Method == http.MethodPost && forget.Swap(false) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":99,"error":{"code":-32001,"message":"Session not found"}}`)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	h := newHost(t)
	h.write(map[string]any{"far": map[string]any{"url": server.URL}})
	h.start(mcp.Options{Retry: time.Millisecond})
	h.until(has("mcp_far__echo"))
	forget.Store(true)
	if got := h.call("mcp_far__echo", map[string]any{"text": "hello"}); !got.Error {
		t.Errorf("got %+v", got)
	}
	h.log.Wait(t, "the MCP server is connected", 2)
	h.says("mcp_far__echo", map[string]any{"text": "back"}, "back")
}

func TestRedirectToAnotherHostIsNotFollowed(t *testing.T) {
	var reached atomic.Bool
	elsewhere := build(t, "127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	server := build(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/mcp", http.StatusTemporaryRedirect)
	}))
	h := newHost(t)
	h.write(map[string]any{"far": map[string]any{"url": server.URL + "/?token=a-secret-4711", "headers": map[string]string{"Authorization": "Bearer another-4711"}}})
	h.start(mcp.Options{Retry: time.Hour})
	h.log.Wait(t, "it redirects to another host", 1)
	if reached.Load() {
		t.Error("the other host was asked")
	}
	if log := h.log.String(); strings.Contains(log, "4711") {
		t.Errorf("a secret is in the log:\n%s", log)
	}
}

func TestNonsenseCostsItsCallAlone(t *testing.T) {
	var nonsense atomic.Value
	nonsense.Store("")
	inner := streamable(t, &sdk.StreamableHTTPOptions{JSONResponse: true})
	server := build(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, _ := nonsense.Load().(string); text != "" && r.Method == http.MethodPost {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	h := newHost(t)
	h.write(map[string]any{"far": map[string]any{"url": server.URL}})
	h.start(mcp.Options{})
	h.until(has("mcp_far__echo"))
	for _, text := range []string{"<html>down for maintenance</html>", `{"jsonrpc":"2.0"`} {
		nonsense.Store(text)
		if got := h.says("mcp_far__echo", map[string]any{"text": "hello"}, "not valid JSON"); !got.Error {
			t.Errorf("got %+v", got)
		}
	}
	nonsense.Store("")
	h.says("mcp_far__echo", map[string]any{"text": "still here"}, "still here")
	if strings.Contains(h.log.String(), "not connected") {
		t.Errorf("the connection was lost over it:\n%s", h.log)
	}
}
