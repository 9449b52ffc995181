package conformance

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"reeve/plugins"
)

func TestConformanceEverything(t *testing.T) {
	t.Setenv("SLACK_BOT_TOKEN", "not-for-servers")
	for name, config := range map[string]map[string]any{
		"process": {"command": "node", "args": []string{server(t, "server-everything")}},
		"address": {"type": "http", "url": everythingOverHTTP(t)},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, map[string]any{"everything": config})
			h.needs("mcp_everything__echo")
			h.says("mcp_everything__echo", `{"message":"hello"}`, "Echo: hello")
			h.says("mcp_everything__get_sum", `{"a":2,"b":3.5}`, "The sum of 2 and 3.5 is 5.5.")
			h.says("mcp_everything__get_tiny_image", `{}`, "[an image, image/png, ", "which cannot be shown here]")
			h.says("mcp_everything__get_resource_links", `{"count":2}`, "[a link to a resource: demo://resource/")
			h.says("mcp_everything__get_resource_reference", `{"resourceType":"Text","resourceId":1}`, "[the resource demo://resource/", "text/plain")
			h.says("mcp_everything__get_resource_reference", `{"resourceType":"Blob","resourceId":1}`, "which cannot be shown here]")
			h.says("mcp_everything__trigger_long_running_operation", `{"duration":0.1,"steps":2}`, "Long running operation completed")
			weather := h.says("mcp_everything__get_structured_content", `{"location":"Chicago"}`, `"temperature"`)
			if strings.Count(weather.Text, `"temperature"`) != 1 {
				t.Errorf("structured content that the text holds too is shown twice: %s", weather.Text)
			}
			if got := h.says("mcp_everything__get_sum", `{"a":"two","b":3}`, `field "a"`); !got.Error {
				t.Errorf("arguments that do not fit: %+v", got)
			}
			if name == "process" {
				if got := h.says("mcp_everything__get_env", `{}`, `"PATH"`); strings.Contains(got.Text, "not-for-servers") {
					t.Errorf("a server has the environment of the bot: %s", got.Text)
				}
			}
			for _, tool := range h.gate.Offered(nil) {
				if strings.Contains(tool.Name, "elicitation") || strings.Contains(tool.Name, "sampling") || strings.Contains(tool.Name, "roots") {
					t.Errorf("%s is offered: the server takes the client for one that it may ask", tool.Name)
				}
			}
		})
	}
}

func TestConformanceFilesystem(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(home, "notes.txt"): "the notes", filepath.Join(outside, "secret.txt"): "hidden"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := start(t, map[string]any{"files": map[string]any{
		"command": "node", "args": []string{server(t, "server-filesystem"), home}, "deny": []string{"move_file"},
		"tools": map[string]any{"read_text_file": map[string]any{"access": "read", "effect": "pure", "sends": false}},
	}})
	h.needs("mcp_files__read_text_file")
	for name, effect := range map[string]plugins.Effect{"mcp_files__read_text_file": plugins.Pure, "mcp_files__write_file": plugins.Once} {
		if got := h.gate.Offered([]string{name}); len(got) != 1 || got[0].Effect != effect {
			t.Errorf("%s is offered as %+v", name, got)
		}
	}
	if got := h.gate.Offered([]string{"mcp_files__move_file"}); len(got) > 0 {
		t.Error("a tool that is denied is offered")
	}
	h.says("mcp_files__read_text_file", `{"path":`+strconv.Quote(filepath.Join(home, "notes.txt"))+`}`, "the notes")
	h.says("mcp_files__write_file", `{"path":`+strconv.Quote(filepath.Join(home, "new.txt"))+`,"content":"written"}`, "new.txt")
	if text, err := os.ReadFile(filepath.Join(home, "new.txt")); err != nil || string(text) != "written" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	got := h.says("mcp_files__read_text_file", `{"path":`+strconv.Quote(filepath.Join(outside, "secret.txt"))+`}`, "outside allowed directories")
	if !got.Error || strings.Contains(got.Text, "hidden") {
		t.Errorf("a file outside: %+v", got)
	}
}

func TestConformanceMemoryServerIsKilledAndComesBack(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept.jsonl")
	h := start(t, map[string]any{"memory": map[string]any{
		"command": "sh", "args": []string{"-c", `echo $$ >"$1.pid"; exec node "$0"`, server(t, "server-memory"), kept},
		"env": map[string]string{"MEMORY_FILE_PATH": kept},
	}})
	h.needs("mcp_memory__create_entities")
	created := h.says("mcp_memory__create_entities", `{"entities":[{"name":"Alice","entityType":"person","observations":["likes tea"]}]}`, "likes tea")
	if !created.Private {
		t.Error("the result of a server with a secret is not private")
	}
	first := pid(t, kept)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// A call meets the old process, none, or the new one.
	got := h.call("mcp_memory__read_graph", `{}`)
	for got.Error {
		if !strings.Contains(got.Text, "not connected") && !strings.Contains(got.Text, "did not answer") {
			t.Fatalf("got %+v", got)
		}
		select {
		case <-h.offers: // each connection offers
		case <-t.Context().Done():
			t.Fatal("it did not come back")
		}
		got = h.call("mcp_memory__read_graph", `{}`)
	}
	if !strings.Contains(got.Text, "likes tea") || pid(t, kept) == first {
		t.Errorf("after the kill: %+v, process %d", got, pid(t, kept))
	}
	last := pid(t, kept)
	h.stop()
	if err := syscall.Kill(last, 0); err == nil {
		t.Errorf("process %d runs on", last)
	}
}

func pid(t *testing.T, kept string) int {
	t.Helper()
	text, err := os.ReadFile(kept + ".pid")
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return number
}
