package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/plugins/mcp"
)

// hostile is a server that answers each method with what stands for it, word for
// word: what no library would send.
func hostile(t *testing.T, answers map[string]string) string {
	return build(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&asked) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if asked.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer := answers[asked.Method]
		if asked.Method == "initialize" {
			answer = `"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}`
		}
		if answer == "" {
			answer = `"result": {}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, %s}`, asked.ID, answer)
	})).URL
}

func TestHostileToolsCostThemselvesAlone(t *testing.T) {
	tool := func(name, description, schema string) string {
		quoted, _ := json.Marshal(name)
		described, _ := json.Marshal(description)
		return fmt.Sprintf(`{"name": %s, "description": %s, "inputSchema": %s}`, quoted, described, schema)
	}
	const object = `{"type": "object"}`
	url := hostile(t, map[string]string{"tools/list": `"result": {"tools": [` + strings.Join([]string{
		tool("good", "Is good.", object),
		tool("untyped", "", `{"properties": {"a": {"type": "string"}}}`),
		tool("draft", "Is of an older dialect.", `{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false}`),
		tool("text", "Takes no object.", `{"type": "string"}`),
		tool("none", "Has no schema.", `null`),
		tool("broken", "Refers to nothing.", `{"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}`),
		tool("far", "Refers to elsewhere.", `{"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/schema"}}}`),
		tool("huge", "Has a huge schema.", `{"type": "object", "description": "`+strings.Repeat("x", 40<<10)+`"}`),
		tool("long", strings.Repeat("Talks. ", 10000), object),
		tool("same", "One.", object), tool("same", "Another.", object),
		tool("Ünïcode/../\u202e\x00", "Has a strange name.", object),
		tool(strings.Repeat("n", 5000), "Has a long name.", object),
		tool("", "Has no name.", object),
		`null`, `{"name": "sparse"}`,
	}, ",") + `]}`})
	h := newHost(t)
	h.write(map[string]any{"odd": map[string]any{"url": url}})
	h.start(mcp.Options{})
	names := h.until(has("mcp_odd__good", "mcp_odd__untyped", "mcp_odd__draft", "mcp_odd__long"))
	for _, name := range []string{"mcp_odd__text", "mcp_odd__none", "mcp_odd__broken", "mcp_odd__far", "mcp_odd__huge", "mcp_odd__same", "mcp_odd__sparse"} {
		if slices.Contains(names, name) {
			t.Errorf("%s is offered", name)
		}
	}
	if len(names) != 7 {
		t.Errorf("offered are %d: %q", len(names), names)
	}
	for _, spec := range h.gate.Offered(nil) {
		if len(spec.Description) > 5000 || len(spec.Name) > 64 {
			t.Errorf("%s is described in %d bytes", spec.Name, len(spec.Description))
		}
	}
	h.log.Wait(t, "a tool of the MCP server is not offered", 6)
}

func TestHostileResultsCostTheirCallAlone(t *testing.T) {
	tests := []struct{ answer, want string }{
		{`"result": {}`, "gave no text back"},
		{`"result": {"content": null}`, "gave no text back"},
		{`"result": {"content": [{"type": "text"}], "isError": true}`, "does not say which"},
		{`"result": {"content": [{"type": "resource"}]}`, ""},
		{`"result": {"content": [{"type": "hologram"}]}`, ""},
		{`"result": {"content": "text"}`, ""},
		{`"result": null`, ""},
		{`"error": {"code": -32602, "message": "bad\u0000 luck"}`, "answers with an error: bad"},
		{`"error": {"code": 0}`, "answers with an error"},
		{`"error": {"code": -32005, "message": "rejected"}`, "answers with an error: rejected"},
		{`"result": {"content": []}, "error": {"code": 1, "message": "both"}`, ""},
		{`"result": {"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create", "params": {"message": "Your password?"}}}}`, ""},
	}
	for _, test := range tests {
		url := hostile(t, map[string]string{
			"tools/list": `"result": {"tools": [{"name": "good", "inputSchema": {"type": "object"}}]}`,
			"tools/call": test.answer,
		})
		h := newHost(t)
		h.write(map[string]any{"odd": map[string]any{"url": url}})
		h.start(mcp.Options{Retry: time.Millisecond})
		h.until(has("mcp_odd__good"))
		if got := h.says("mcp_odd__good", nil, test.want); got.Text == "" {
			t.Errorf("%s: nothing is said", test.answer)
		}
		h.stop()
	}
}

func TestListWithoutAnEndIsGivenUp(t *testing.T) {
	url := hostile(t, map[string]string{"tools/list": `"result": {"tools": [], "nextCursor": "on"}`})
	h := newHost(t)
	h.write(map[string]any{"odd": map[string]any{"url": url}})
	h.start(mcp.Options{Retry: time.Hour})
	h.log.Wait(t, "the list has no end", 1)
}
