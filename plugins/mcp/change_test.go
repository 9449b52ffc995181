//go:build unix

package mcp_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/plugins/mcp"
)

func TestNewToolIsOfferedWhenItsServerSaysSo(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", nil)})
	h.start(mcp.Options{})
	before := h.until(has("mcp_kit__grow"))
	if slices.Contains(before, "mcp_kit__grown") {
		t.Fatal("it is there already")
	}
	h.says("mcp_kit__grow", nil, "done")
	h.until(has("mcp_kit__grown", "mcp_kit__echo"))
	h.says("mcp_kit__grown", nil, "it is there")
}

func TestToolThatChangesIsWithdrawnUntilTheOperatorReloads(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", nil)})
	h.start(mcp.Options{})
	h.until(has("mcp_kit__echo"))
	h.says("mcp_kit__poison", nil, "done")
	h.until(func(names []string) bool { return !slices.Contains(names, "mcp_kit__echo") && len(names) > 3 })
	h.log.Wait(t, "its description or schema has changed", 1)
	if got := h.call("mcp_kit__echo", map[string]any{"text": "x"}); !got.Error || strings.Contains(got.Text, "poisoned") {
		t.Errorf("got %+v", got)
	}
	h.reload <- syscall.SIGHUP
	h.until(has("mcp_kit__echo"))
	h.says("mcp_kit__echo", map[string]any{"text": "x"}, "poisoned x")
}

// A server that lists a second tool of almost the same name has the first
// offered under another one. It is the same tool, with what the operator allows
// it, and has changed.
func TestToolThatChangesUnderAnotherNameIsWithdrawn(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", map[string]any{"tools": map[string]any{"echo": map[string]any{"access": "read", "sends": false}}})})
	h.start(mcp.Options{})
	h.until(has("mcp_kit__echo"))
	h.says("mcp_kit__disguise", nil, "done")
	h.until(func(names []string) bool { return !slices.Contains(names, "mcp_kit__echo") && len(names) > 3 })
	h.log.Wait(t, "its description or schema has changed", 1)
	h.says("mcp_kit__grow", nil, "done")
	other := fmt.Sprintf("mcp_kit__echo_%x", sha256.Sum256([]byte("echo")))[:len("mcp_kit__echo_")+8]
	if names := h.until(has("mcp_kit__grown")); slices.Contains(names, other) {
		t.Errorf("changed, it is offered as %s", other)
	}
}

func TestPinDecidesAlone(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", nil)})
	pin := pinOf(t, h, "echo")
	pinned := func(pin string) map[string]any {
		return map[string]any{"kit": kit("plain", map[string]any{"tools": map[string]any{"echo": map[string]any{"pin": pin}}})}
	}
	h.write(pinned("sha256:" + strings.Repeat("0", 64)))
	h.start(mcp.Options{})
	names := h.until(has("mcp_kit__pid"))
	if slices.Contains(names, "mcp_kit__echo") {
		t.Error("a tool with another pin is offered")
	}
	h.write(pinned(pin))
	h.reload <- syscall.SIGHUP
	h.until(has("mcp_kit__echo"))
	h.says("mcp_kit__poison", nil, "done")
	h.until(func(names []string) bool { return !slices.Contains(names, "mcp_kit__echo") })
	h.reload <- syscall.SIGHUP // the pin has not changed, and the tool has
	h.log.Wait(t, "was read again", 2)
	h.says("mcp_kit__grow", nil, "done")
	if names := h.until(has("mcp_kit__grown")); slices.Contains(names, "mcp_kit__echo") {
		t.Error("a tool that changed against its pin is offered after a reload")
	}
}

// pinOf is what reeve check prints for a tool.
func pinOf(t *testing.T, h *host, tool string) string {
	t.Helper()
	lines, warnings, err := mcp.New(mcp.Options{Environ: os.Environ()}).Report(t.Context(), h.services())
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	for _, line := range lines {
		if found := regexp.MustCompile(`tool ` + tool + `,.*"pin": "(.*?)"`).FindStringSubmatch(line); found != nil {
			return found[1]
		}
	}
	t.Fatalf("no pin of %s in %q", tool, lines)
	return ""
}

func TestReportSaysWhatHoldsAndWhatIsSuggested(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{
		"kit": kit("plain", map[string]any{
			"deny": []string{"crash", "never"},
			"tools": map[string]any{
				"ever": map[string]any{"access": "read"},
				"pid":  map[string]any{"pin": "sha256:" + strings.Repeat("0", 64)},
			},
		}),
		"few":  kit("plain", map[string]any{"allow": []string{"echo", "Pid"}}),
		"gone": map[string]any{"url": "http://127.0.0.1:1/"},
	})
	lines, warnings, err := mcp.New(mcp.Options{Environ: os.Environ()}).Report(t.Context(), h.services())
	if err == nil || !strings.Contains(err.Error(), "server gone: ") {
		t.Errorf("the error is %v", err)
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"server kit: 12 of 14 tools; spends the rights of its configuration",
		`server kit: tool echo, offered as mcp_kit__echo: write, once, sends; its server suggests {"access":"read","effect":"pure","sends":false}; "pin": "sha256:`,
		"server few: 1 of 14 tools; spends the rights of its configuration",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "tool pid") {
		t.Errorf("a tool with another pin is among those that are offered:\n%s", text)
	}
	for i, want := range []string{
		`server few: tool Pid: "allow" names it, and allows nothing: the server has no such tool`,
		`server kit: tool pid: not offered: its pin in the file is not that of what the server says now, which is "pin": "sha256:`,
		`server kit: tool ever: what "tools" says of it holds for nothing: the server has no such tool`,
		`server kit: tool never: "deny" names it, and denies nothing: the server has no such tool`,
	} {
		if len(warnings) != 4 || !strings.HasPrefix(warnings[i], want) {
			t.Errorf("warning %d is not %q:\n%s", i, want, strings.Join(warnings, "\n"))
		}
	}
}

func TestReloadStartsStopsAndKeeps(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"one": kit("plain", nil), "two": kit("plain", nil)})
	h.start(mcp.Options{})
	h.until(has("mcp_one__pid", "mcp_two__pid"))
	one := h.call("mcp_one__pid", nil).Text

	if err := os.WriteFile(h.path, []byte(`{"mcpServers": {`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.reload <- syscall.SIGHUP
	h.log.Wait(t, "the file of MCP servers is wrong", 1)
	h.says("mcp_two__echo", map[string]any{"text": "as before"}, "as before")

	h.write(map[string]any{"one": kit("plain", nil), "three": kit("plain", map[string]any{"allow": []string{"echo"}})})
	h.reload <- syscall.SIGHUP
	names := h.until(func(names []string) bool {
		return slices.Contains(names, "mcp_three__echo") && !slices.Contains(names, "mcp_two__echo")
	})
	if slices.Contains(names, "mcp_three__pid") {
		t.Error("a tool that is not allowed is offered")
	}
	if now := h.call("mcp_one__pid", nil).Text; now != one {
		t.Errorf("a server that stayed the same was %s and is %s", one, now)
	}
}

// Without Options.Reload the plugin listens to the signal itself.
func TestSIGHUPReloads(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"one": kit("plain", nil)})
	h.reload = nil
	h.start(mcp.Options{})
	h.until(has("mcp_one__pid"))
	h.write(map[string]any{"two": kit("plain", nil)})
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	h.until(has("mcp_two__pid"))
}

func TestCallUnderWayIsWaitedForAtTheEnd(t *testing.T) {
	h := newHost(t)
	h.write(map[string]any{"kit": kit("plain", nil)})
	h.start(mcp.Options{Grace: 10 * time.Millisecond})
	h.until(has("mcp_kit__wait"))
	result := make(chan plugins.Result, 1)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { result <- h.call("mcp_kit__wait", map[string]any{"text": pipe}) }()
	h.log.Wait(t, "waiting for somebody", 1)
	stopped := make(chan struct{})
	go func() { h.stop(); close(stopped) }()
	for {
		if got := h.call("mcp_kit__echo", map[string]any{"text": "x"}); strings.Contains(got.Text, "not connected") {
			break
		}
	}
	select {
	case got := <-result:
		t.Fatalf("the call was cut: %+v", got)
	case <-stopped:
		t.Fatal("it ended over a call")
	case <-time.After(300 * time.Millisecond): // by then a process that is not waited for would be gone
	}
	if err := os.WriteFile(pipe, []byte("go on"), 0); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-result:
		if got.Error || got.Text != "go on" {
			t.Errorf("got %+v", got)
		}
	case <-time.After(patience):
		t.Fatal("the call did not come back")
	}
	<-stopped
}
