//go:build unix

package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reeve/plugins/mcp"
)

func TestProcessIsConnectedListedAndCalled(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", nil)})
	h.start(mcp.Options{})
	h.until(has("mcp_kit__echo", "mcp_kit__show", "mcp_kit__poison")) // over several pages
	if got := h.says("mcp_kit__echo", map[string]any{"text": "hello"}, "hello"); got.Error || !got.Private {
		t.Errorf("got %+v", got)
	}
	got := h.says("mcp_kit__show", nil, "first\n\n[an image, image/png, 1.5 KiB, which cannot be shown here]")
	for _, want := range []string{
		"[a sound, audio/wav, 10 bytes,", "[the resource file:///notes.txt, text/plain, 9 bytes]\nthe notes",
		"[the resource file:///a.pdf, application/pdf, 4.0 KiB, which cannot be shown here]",
		"[a link to a resource: https://example.com/b, b, text/html, 2.0 MiB: a page of two lines]", `{"answer":42}`,
	} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q is not in the result:\n%s", want, got.Text)
		}
	}
	if got := h.says("mcp_kit__fail", nil, "no such file"); !got.Error {
		t.Errorf("an error of the tool: %+v", got)
	}
}

func TestProcessGetsNothingOfTheEnvironmentButWhatItNeeds(t *testing.T) {
	h := newHost(t)
	h.env["MCP_KEY"] = "filled-in-secret"
	h.write(map[string]any{"kit": kit("plain", map[string]any{"args": []string{"${MCP_KEY}"}})})
	h.start(mcp.Options{Environ: []string{"PATH=/usr/bin:/bin", "HOME=/nowhere", "SLACK_BOT_TOKEN=hidden", "MCP_KEY=filled-in-secret", "AWS_SECRET=hidden"}})
	h.until(has("mcp_kit__environment"))
	got := h.says("mcp_kit__environment", nil, "HOME=/nowhere")
	for _, secret := range []string{"hidden", "SLACK", "AWS", "filled-in"} {
		if strings.Contains(got.Text, secret) {
			t.Errorf("the process has %s", got.Text)
		}
	}
}

func TestCrashedProcessIsStartedAgain(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", nil)})
	h.start(mcp.Options{Retry: time.Millisecond})
	h.until(has("mcp_kit__pid"))
	first := h.call("mcp_kit__pid", nil).Text
	if got := h.says("mcp_kit__crash", nil, "Whether it took effect is unknown"); !got.Error {
		t.Errorf("got %+v", got)
	}
	h.log.Wait(t, "the MCP server is connected", 2)
	second := h.call("mcp_kit__pid", nil)
	if second.Error || second.Text == first {
		t.Errorf("after %s: %+v", first, second)
	}
	pid, err := strconv.Atoi(second.Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h.log.Wait(t, "the MCP server is connected", 3)
	h.says("mcp_kit__echo", map[string]any{"text": "again"}, "again")
}

func TestCallsOfALostServerSayThatItIsNotConnected(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", nil)})
	h.start(mcp.Options{Retry: time.Hour})
	h.until(has("mcp_kit__crash"))
	h.call("mcp_kit__crash", nil)
	h.log.Wait(t, "the MCP server is not connected", 1)
	if got := h.says("mcp_kit__echo", map[string]any{"text": "x"}, "The MCP server kit is not connected, so that the call was not made"); !got.Error {
		t.Errorf("got %+v", got)
	}
	h.reload <- syscall.SIGHUP // the operator does not wait for the hour
	h.log.Wait(t, "the MCP server is connected", 2)
	h.says("mcp_kit__echo", map[string]any{"text": "back"}, "back")
}

func TestNothingOfAProcessIsLeft(t *testing.T) {
	for _, how := range []string{"stop", "crash"} {
		lives, ends := sign(t)
		h := newHost(t)
		h.write(map[string]any{"kit": kit("plain", map[string]any{"args": []string{lives}})})
		h.start(mcp.Options{Retry: time.Hour})
		h.until(has("mcp_kit__start"))
		h.says("mcp_kit__start", nil, "started")
		if how == "crash" {
			h.call("mcp_kit__crash", nil)
			h.log.Wait(t, "the MCP server is not connected", 1)
		} else {
			h.stop()
		}
		if err := ends(); err != nil {
			t.Errorf("%s: what the process started runs on: %v", how, err)
		}
	}
}

// A process that never answers and ignores the end of its input is ended too.
func TestMuteProcessIsGivenUpAndEnded(t *testing.T) {
	lives, ends := sign(t)
	h := newHost(t)
	h.write(map[string]any{"kit": kit("mute", map[string]any{"args": []string{lives}}), "other": kit("plain", nil)})
	h.start(mcp.Options{Retry: time.Hour, ConnectTimeout: 5 * time.Second, Grace: 50 * time.Millisecond})
	h.until(has("mcp_other__echo")) // nobody waits for the mute one
	h.log.Wait(t, "connect: it did not answer within 5 s; it said: I say no more", 1)
	if err := ends(); err != nil {
		t.Errorf("the process runs on: %v", err)
	}
}

// sign is a named pipe that a process holds open for as long as it lives. ends
// waits until nobody does.
func sign(t *testing.T) (path string, ends func() error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lives")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	return path, func() error {
		if err := pipe.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, pipe)
		return err
	}
}

func TestSlowCallCostsItselfAlone(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", map[string]any{"tools": map[string]any{"slow": map[string]any{"timeout": "50ms"}}})})
	h.start(mcp.Options{})
	h.until(has("mcp_kit__slow"))
	if got := h.says("mcp_kit__slow", nil, "mcp_kit__slow"); !got.Error {
		t.Errorf("got %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := h.callIn(ctx, "mcp_kit__slow", nil); !got.Error {
		t.Errorf("a call of a run that is over: %+v", got)
	}
	h.says("mcp_kit__echo", map[string]any{"text": "still here"}, "still here")
	if strings.Contains(h.log.String(), "not connected") {
		t.Errorf("the connection was lost over a slow call:\n%s", h.log)
	}
}

func TestHugeAndBrokenMessagesCostTheirCallAlone(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("noisy", nil)})
	h.start(mcp.Options{MaxMessage: 64 << 10})
	h.until(has("mcp_kit__big"))
	h.says("mcp_kit__big", map[string]any{"n": 30000}, `ab\"}{ab`)
	if got := h.says("mcp_kit__big", map[string]any{"n": 3 << 20}, "at most 65536 are taken, so ask for less"); !got.Error {
		t.Errorf("got %+v", got)
	}
	for _, noise := range []string{"DEBUG loading", `{"jsonrpc":"2.0","id":`, `[1,2]`, "\x00\xff", strings.Repeat("x", 70<<10)} {
		h.says("mcp_kit__noise", map[string]any{"text": noise}, "made some")
	}
	h.says("mcp_kit__echo", map[string]any{"text": "still here"}, "still here")
	if strings.Contains(h.log.String(), "not connected") {
		t.Errorf("the connection was lost over it:\n%s", h.log)
	}
}

func TestSecretsAreInNoLogErrorOrResult(t *testing.T) {
	secret := "not-for-" + "anybody-4711"
	h := newHost(t)
	h.env["MCP_KEY"] = secret
	h.write(map[string]any{
		"broken": map[string]any{"command": kit("", nil)["command"], "env": map[string]any{kindVariable: "deaf", "KEY": "${MCP_KEY}"}},
		"kit":    map[string]any{"command": kit("", nil)["command"], "env": map[string]any{kindVariable: "plain", "KEY": secret}},
	})
	h.start(mcp.Options{Retry: time.Hour})
	h.until(has("mcp_kit__environment"))
	h.log.Wait(t, "the key is [masked]", 1)
	h.says("mcp_kit__environment", nil, "KEY=[masked]")
	h.says("mcp_kit__echo", map[string]any{"text": "it is " + secret}, "it is [masked]")
	h.says("mcp_kit__echo", map[string]any{"text": "in hex " + hex.EncodeToString([]byte(secret))}, "in hex [masked]")
	h.says("mcp_kit__echo", map[string]any{"text": base64.StdEncoding.EncodeToString([]byte(secret + "\n\n"))}, "[masked]EKCg==")
	if strings.Contains(h.log.String(), secret) {
		t.Errorf("the log has it:\n%s", h.log)
	}
}
