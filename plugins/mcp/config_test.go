package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/plugins/mcp"
	"reeve/plugins/plugintest"
)

// file writes a file of servers and is the setting that names it.
func file(t *testing.T, text string) plugintest.Option {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// What the page's example of a server with people's accounts names.
	tools := `{"tools": [{"name": "search", "inputSchema": {"type": "object"}}]}`
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "tracker-tools.json"), []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	return plugintest.Env("MCP_CONFIG=" + path)
}

func TestWrongFileStopsTheStartWithASentence(t *testing.T) {
	one := func(fields string) string { return `{"mcpServers": {"git": {` + fields + `}}}` }
	tests := []struct{ text, want string }{
		{`{`, "it is not valid JSON: it ends too early"},
		{"{\n\"mcpServers\": {\"a\": {\"command\": \"x\",}}}", "it is not valid JSON (line 2"},
		{`{}`, `it has no field "mcpServers"`},
		{`{"servers": {}, "inputs": []}`, `it has no field "mcpServers"; it has "inputs", "servers"`},
		{`{"mcpServers": null}`, `"mcpServers" must be an object`},
		// Of two keys a decoder would take the last, and one in other letters.
		{`{"mcpServers": {}, "mcpServers": {}}`, `"mcpServers" stands twice in the file`},
		{`{"mcpservers": {}}`, `it has no field "mcpServers"; it has "mcpservers"`},
		{`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`, `"a" stands twice in "mcpServers"`},
		{one(`"command": "x", "deny": ["a"], "deny": []`), `"deny" stands twice in "mcpServers.git"`},
		{one(`"command": "x", "deny": ["a"], "Deny": []`), `server "git": the field "Deny" is unknown; it is written "deny"`},
		{one(`"Command": "x"`), `server "git": the field "Command" is unknown; it is written "command"`},
		{one(`"command": "x", "env": {"A": "b", "A": "c"}`), `"A" stands twice in "mcpServers.git.env"`},
		{one(`"command": "x", "tools": {"b": {"sends": true}, "b": {"sends": false}}`), `"b" stands twice in "mcpServers.git.tools"`},
		{one(`"command": "x", "tools": {"b": {"sends": true, "\u0073ends": false}}`), `"sends" stands twice in "mcpServers.git.tools.b"`},
		{one(`"command": "x", "tools": {"b": {"Sends": false}}`), `tool "b": the field "Sends" is unknown; it is written "sends"`},
		{one(`"url": "http://a", "headers": {"X-Key": "a", "x-key": "b"}`), `the field "headers" has "X-Key" and "x-key", which are one header`},
		{`{"mcpServers": {}, "inputs": []}`, `the field "inputs" is unknown`},
		{`{"mcpServers": []}`, `"mcpServers" must be an object`},
		{`{"mcpServers": {}} {}`, "something behind the end"},
		{one(``), `server "git": it has neither "command" nor "url"`},
		{one(`"command": "x", "url": "http://a"`), `server "git": it has both "command" and "url"`},
		{one(`"command": "x", "denied": ["a"]`), `server "git": the field "denied" is unknown`},
		{one(`"command": ["x"]`), `server "git": the field "command" is an array, and must be a text`},
		{one(`"command": "x", "args": "y"`), `the field "args" is a string, and must be a list of texts`},
		{one(`"command": "x", "env": {"A": 5}`), `the field "env.A" is a number, and must be a text`},
		{one(`"command": "x", "env": {"A": "b", "PORT": true}`), `the field "env.PORT" is a bool, and must be a text`},
		{one(`"command": "x", "args": ["--key=${MCP_KEY"]`), `the field "args" has "${" without its "}"`},
		{one(`"url": "http://a/${"`), `the field "url" has "${" without its "}"`},
		{one(`"command": "x", "env": {"A=B": "c"}`), `the field "env" has the variable "A=B"`},
		{one(`"command": "x", "type": "http"`), `the field "type" is "http", and a server with "command" speaks "stdio"`},
		{one(`"command": "x", "type": "pigeon"`), `the field "type" is "pigeon", and may be "stdio" or "http"`},
		{one(`"command": "x", "headers": {"a": "b"}`), `the field "headers" is for a server with "url"`},
		{one(`"command": "x", "cwd": "/nowhere/at/all"`), `the field "cwd" is "/nowhere/at/all", which is no folder`},
		{one(`"url": "ftp://a"`), `the field "url" is not an http or https address`},
		{one(`"url": "http://a", "type": "sse"`), `the field "type" is "sse": that transport is not spoken`},
		{one(`"url": "http://a", "args": ["b"]`), `the fields "args", "env" and "cwd" are for a server with "command"`},
		{one(`"url": "http://a", "headers": {"Mcp-Session-Id": "b"}`), `the header "Mcp-Session-Id", which belongs to the protocol`},
		{one(`"url": "http://a", "headers": {"X": "a\nb"}`), `the header "X", which cannot be`},
		{one(`"url": "http://a", "timeout": 60`), `server "git": the field "timeout" is 60, and must be a text such as "90s"`},
		{one(`"url": "http://a", "timeout": "1h"`), `the field "timeout" is "1h", and must be a duration such as "90s", of at most 5m0s`},
		{one(`"url": "http://a", "tools": {"b": {"access": "all"}}`), `server "git": tool "b": the field "access" is "all", and may be "read" or "write"`},
		{one(`"url": "http://a", "tools": {"b": {"effect": "none"}}`), `tool "b": the field "effect" is "none"`},
		{one(`"url": "http://a", "tools": {"b": {"effect": "pure"}}`), `tool "b": the field "effect" is "pure", and so "access" must be "read"`},
		{one(`"url": "http://a", "tools": {"b": {"sends": "no"}}`), `tool "b": the field "sends" is a string, and must be true or false`},
		{one(`"url": "http://a", "tools": {"b": {"pin": "abc"}}`), `tool "b": the field "pin" is not "sha256:" with 64 digits`},
		{one(`"url": "http://a", "tools": {"b": {"read": true}}`), `tool "b": the field "read" is unknown`},
		{one(`"url": "http://a", "allow": ["b"], "deny": ["b"]`), `"allow" and "deny" both name the tool "b"`},
		{one(`"command": "x", "oauth": true`), `the field "oauth" is for a server with "url"`},
		{one(`"url": "https://a", "oauth": "yes"`), `the field "oauth" may be true, false or an object`},
		{one(`"url": "https://a", "oauth": {"scope": "b"}`), `the field "oauth": the field "scope" is unknown`},
		{one(`"url": "https://a", "oauth": true`), `"catalog" must name a file with the server's list of tools`},
		{one(`"url": "https://a", "oauth": true, "catalog": "gone.json"`), `the field "catalog": stat`},
		{one(`"url": "https://a", "oauth": true, "catalog": "mcp.json"`), `the field "catalog", mcp.json: it has no list "tools"`},
		{one(`"url": "https://a", "catalog": "b.json"`), `the field "catalog" is for a server with "oauth"`},
		{one(`"url": "http://a", "oauth": true, "catalog": "b.json"`), `the field "url" must be an https address, since people's tokens go there`},
		{one(`"url": "https://a?b=c", "oauth": true, "catalog": "b.json"`), `the field "url" may have no user and no query`},
		{one(`"url": "https://a", "oauth": true, "catalog": "b.json", "headers": {"authorization": "b"}`), `the header "authorization", in whose place each person's own token goes`},
		{one(`"url": "https://a", "oauth": {"client_secret": "b"}, "catalog": "b.json"`), `the field "oauth.client_secret" is nothing without "client_id"`},
		{one(`"url": "https://a", "oauth": {"scopes": ["b c"]}, "catalog": "b.json"`), `the field "oauth.scopes" has "b c", which is no scope`},
		{one(`"url": "https://a", "oauth": {"client_id": "${SLACK_BOT_TOKEN}"}, "catalog": "b.json"`), `the field "oauth.client_id": ${SLACK_BOT_TOKEN} cannot be filled in`},
		{one(`"url": "https://a", "tools": {"b": {"scopes": ["c"]}}`), `tool "b": the field "scopes" is for a server with "oauth"`},
		{`{"mcpServers": {"` + strings.Repeat("a", 29) + `": {"url": "https://a", "oauth": true, "catalog": "b.json"}}}`, "28 characters at most"},
		{one(`"url": "http://a?k=${SLACK_BOT_TOKEN}"`), `the field "url": ${SLACK_BOT_TOKEN} cannot be filled in; only variables whose names begin with MCP_ can`},
		{one(`"command": "x", "env": {"K": "${MCP_MISSING}"}`), `the field "env.K": ${MCP_MISSING} cannot be filled in: the variable is not set`},
		{`{"mcpServers": {"a b": {"command": "x"}}}`, `server "a b": a server's name is letters, digits`},
		{`{"mcpServers": {"My-Git": {"command": "x"}, "my_git": {"command": "y"}}}`, `server "my_git": its name and that of "My-Git" are one name`},
		{`{"mcpServers": {"` + strings.Repeat("a", 33) + `": {"command": "x"}}}`, "at most 32 characters"},
		{`{"mcpServers": {"a": {}, "b": {"url": "x"}}}`, `server "b": the field "url"`}, // all that is wrong is said
	}
	for _, test := range tests {
		err := plugintest.Refused(t, mcp.New(mcp.Options{}), file(t, test.text))
		if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
	if err := plugintest.Refused(t, mcp.New(mcp.Options{}), plugintest.Env("MCP_CONFIG=/nowhere/mcp.json")); !strings.Contains(err.Error(), "read MCP_CONFIG: open /nowhere/mcp.json") {
		t.Errorf("a missing file: %v", err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := plugintest.Refused(t, mcp.New(mcp.Options{}), plugintest.Env("MCP_CONFIG=mcp.json")); !strings.Contains(err.Error(), filepath.Join(here, "mcp.json")) {
		t.Errorf("a missing file, seen from here: %v", err)
	}
}

func TestWithoutAFileNothingIsOffered(t *testing.T) {
	got := plugintest.New(t, mcp.New(mcp.Options{})).Extension()
	if got.Run != nil || len(got.Tools)+len(got.Sections)+len(got.Tasks) > 0 {
		t.Errorf("it adds %+v", got)
	}
}

// The most that a tool could do holds, unless the operator's file says otherwise.
func TestWhatTheGateIsTold(t *testing.T) {
	h := newHost(t)
	offers := make(chan []plugins.Tool, 100)
	services := h.services()
	services.Offer = func(tools []plugins.Tool) error {
		offers <- tools
		return nil
	}
	plain := build(t, "127.0.0.1:0", streamable(t, nil))
	h.write(map[string]any{
		"near": kit("plain", map[string]any{
			"allow": []string{"echo", "pid"}, "timeout": "90s",
			"tools": map[string]any{"echo": map[string]any{"access": "read", "effect": "pure", "sends": false, "timeout": "5s"}},
		}),
		"far":   map[string]any{"url": plain.URL, "allow": []string{"echo"}},
		"query": map[string]any{"url": plain.URL + "?token=4711", "allow": []string{"echo"}},
		"said":  map[string]any{"url": plain.URL, "allow": []string{"echo"}, "credentialed": true},
		"off":   map[string]any{"url": plain.URL, "disabled": true},
	})
	runPlugin(t, services, mcp.Options{})
	var offered []plugins.Tool
	for late := time.After(patience); len(offered) < 5; {
		select {
		case offered = <-offers:
		case <-late:
			t.Fatal(h.log)
		}
	}
	told := map[string]string{}
	for _, tool := range offered {
		host := "-"
		if tool.Host != nil {
			host, _ = tool.Host(json.RawMessage(`{}`))
		}
		told[tool.Name] = strings.Join([]string{string(tool.Access), string(tool.Effect), host, tool.Provider, tool.Timeout.String()}, " ")
	}
	for name, want := range map[string]string{
		"mcp_near__echo":  "read pure - mcp_near 5s",
		"mcp_near__pid":   "write once mcp_near mcp_near 1m30s",
		"mcp_far__echo":   "write once 127.0.0.1  0s",
		"mcp_query__echo": "write once 127.0.0.1 mcp_query 0s",
		"mcp_said__echo":  "write once 127.0.0.1 mcp_said 0s",
	} {
		if told[name] != want {
			t.Errorf("%s is %q, want %q", name, told[name], want)
		}
		delete(told, name)
	}
	if len(told) > 0 {
		t.Errorf("offered besides: %v", told)
	}
}

var example = regexp.MustCompile("(?s)```json\n(.*?)```")

// Every example of the page is a file that may be.
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllStringSubmatch(string(page), -1)
	if len(examples) < 2 {
		t.Fatalf("the page has %d examples", len(examples))
	}
	for _, found := range examples {
		text := strings.ReplaceAll(found[1], "sha256:…", "sha256:"+strings.Repeat("a", 64))
		variables := []string{}
		for _, name := range regexp.MustCompile(`\$\{(MCP_[A-Z_]+)\}`).FindAllStringSubmatch(text, -1) {
			variables = append(variables, name[1]+"=value")
		}
		if got := plugintest.New(t, mcp.New(mcp.Options{}), file(t, text), plugintest.Env(variables...)).Extension(); got.Run == nil {
			t.Errorf("nothing is run for:\n%s", text)
		}
	}
}
