package app

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func get(t *testing.T, handler http.Handler, path string) (status int, body map[string]any) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest("GET", path, nil))
	if err := json.NewDecoder(recorder.Body).Decode(&body); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return recorder.Code, body
}

func TestReadyOnlyWhenNothingIsWaitedFor(t *testing.T) {
	ready := newReadiness("redis", "slack")
	handler := ready.handler()
	expect := func(status int, reasons map[string]any) {
		t.Helper()
		got, body := get(t, handler, "/readyz")
		want := map[string]any{"ready": status == 200, "reasons": reasons}
		if diff := cmp.Diff(want, body); got != status || diff != "" {
			t.Errorf("status %d, want %d; difference:\n%s", got, status, diff)
		}
		if got, _ := get(t, handler, "/healthz"); got != 200 {
			t.Errorf("healthz answers %d while the process lives", got)
		}
	}
	expect(503, map[string]any{"redis": "not tried yet", "slack": "not tried yet"})
	ready.Set("redis", "")
	ready.Set("slack", "no socket is connected")
	expect(503, map[string]any{"slack": "no socket is connected"})
	ready.Set("slack", "")
	expect(200, map[string]any{})
	ready.Set("redis", "does not take writes")
	expect(503, map[string]any{"redis": "does not take writes"})
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestRunServesHealthUntilItsWorkEnds(t *testing.T) {
	// Find a free port, to ask at it.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	ask := func(path string) (int, string) {
		answer, err := http.Get("http://" + addr + path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return 0, ""
		}
		defer func() { _ = answer.Body.Close() }()
		body, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(body)
	}
	a := assembly{settings: Settings{HTTPAddr: addr}, log: quiet(), ready: newReadiness()}
	ctx, cancel := context.WithCancel(t.Context())
	err = run(ctx, a, func(a assembly, ctx context.Context) error {
		if status, _ := ask("/readyz"); status != 200 {
			t.Errorf("ready answers %d", status)
		}
		cancel() // as SIGTERM does
		<-ctx.Done()
		// The drain: alive, and not to be given work.
		said := false
		for range 1000 {
			status, body := ask("/readyz")
			if said = status == 503 && strings.Contains(body, "shutting down"); said {
				break
			}
		}
		if !said {
			t.Error("never said that it shuts down")
		}
		if status, _ := ask("/healthz"); status != 200 {
			t.Errorf("health answers %d in the drain", status)
		}
		return nil
	})
	if err != nil {
		t.Errorf("run ends with %v", err)
	}
	if _, err := http.Get("http://" + addr + "/healthz"); err == nil {
		t.Error("health is served after the end")
	}
}

func TestRunEndsWhenItCannotListen(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	a := assembly{settings: Settings{HTTPAddr: listener.Addr().String()}, log: quiet(), ready: newReadiness()}
	err = run(t.Context(), a, func(assembly, context.Context) error {
		t.Error("work began")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "HTTP_ADDR") {
		t.Errorf("got %v", err)
	}
}

func TestRunReturnsWhyItsWorkEnded(t *testing.T) {
	want := &ConfigError{[]string{"SLACK_BOT_TOKEN: Slack says invalid_auth"}}
	a := assembly{settings: Settings{HTTPAddr: "127.0.0.1:0"}, log: quiet(), ready: newReadiness()}
	err := run(t.Context(), a, func(assembly, context.Context) error { return want })
	if err != want || exitCode(err) != ExitConfiguration {
		t.Errorf("got %v, exit code %d", err, exitCode(err))
	}
}
