package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"reeve/plugins"
)

// maxDescription and maxSchema bound what a tool costs in every prompt. A
// description is cut; a schema cannot be.
const (
	maxDescription = 4 << 10
	maxSchema      = 32 << 10
)

// build makes tools of those that may be offered. The others are logged, each
// trouble once.
func (s *server) build(listed []*sdk.Tool) []plugins.Tool {
	var built []plugins.Tool
	trouble := map[string]string{}
	for _, entry := range s.choose(listed, trouble) {
		names := []string{entry.name, s.config.id + "/" + entry.tool.Name} // no offered name has a "/"
		if !s.hub.seen.approves(names, entry.pin, s.config.tools[entry.tool.Name].Pin) {
			trouble[entry.tool.Name] = "it is not what it was: its description or schema has changed, to " + entry.pin
			continue
		}
		tool := s.tool(entry)
		if err := plugins.CheckTools([]plugins.Tool{tool}); err != nil {
			trouble[entry.tool.Name] = err.Error()
			continue
		}
		built = append(built, tool)
	}
	for _, name := range slices.Sorted(maps.Keys(trouble)) {
		if why := trouble[name]; s.told[name] != why {
			what := "a tool of the MCP server is not offered"
			if !has(listed, name) {
				what = "the file names a tool that the MCP server has not"
			}
			s.log.Error(what, "tool", line(name), "err", s.mask.text(why))
		}
	}
	s.told = trouble
	return built
}

func has(listed []*sdk.Tool, name string) bool {
	return slices.ContainsFunc(listed, func(tool *sdk.Tool) bool { return tool.Name == name })
}

// entry is a listed tool under the name by which it is offered.
type entry struct {
	tool *sdk.Tool
	name string
	pin  string
}

// choose takes what the operator lets be offered and what can be named.
func (s *server) choose(listed []*sdk.Tool, trouble map[string]string) []entry {
	all := make([]string, len(listed))
	for i, tool := range listed {
		all[i] = tool.Name
	}
	// The names do not depend on what the operator allows: allowing one tool
	// more does not rename another.
	names := toolNames(s.config.id, all)
	var chosen []entry
	for _, tool := range listed {
		name, named := names[tool.Name]
		switch {
		case !s.config.offers(tool.Name):
		case !named:
			trouble[tool.Name] = "two tools would have its name"
		case len(chosen) >= maxTools:
			trouble[tool.Name] = fmt.Sprintf(`only %d tools of a server are taken; name those that are needed in "allow"`, maxTools)
		default:
			chosen = append(chosen, entry{tool, name, pinOf(tool)})
		}
	}
	for name, why := range s.config.named() {
		if !slices.Contains(all, name) {
			trouble[name] = why + ": the server has no such tool"
		}
	}
	return chosen
}

// named are all tools that the file names, with what becomes of a name that the
// server has not.
func (c serverConfig) named() map[string]string {
	named := map[string]string{}
	for name := range c.tools {
		named[name] = `what "tools" says of it holds for nothing`
	}
	if c.Allow != nil {
		for _, name := range *c.Allow {
			named[name] = `"allow" names it, and allows nothing`
		}
	}
	for _, name := range c.Deny {
		named[name] = `"deny" names it, and denies nothing`
	}
	return named
}

// tool is what the gate is told: the most that a tool could do, unless the
// operator knows better.
func (s *server) tool(e entry) plugins.Tool {
	known := s.config.tools[e.tool.Name]
	tool := plugins.Tool{
		Name: e.name, Description: s.describe(e.tool), Parameters: schema(e.tool.InputSchema),
		Access: plugins.Write, Effect: plugins.Once, Sends: true, Timeout: time.Duration(s.config.Timeout),
	}
	if known.Access != "" {
		tool.Access = known.Access
	}
	if known.Effect != "" {
		tool.Effect = known.Effect
	}
	if known.Sends != nil {
		tool.Sends = *known.Sends
	}
	if known.Timeout != 0 {
		tool.Timeout = time.Duration(known.Timeout)
	}
	if tool.Sends {
		host := s.config.host()
		tool.Host = func(json.RawMessage) (string, error) { return host, nil }
	}
	if s.config.credentialed() {
		tool.Provider = s.config.provider()
	}
	if s.config.oauth != nil {
		tool.Account, tool.Scopes = true, slices.Concat(s.config.oauth.Scopes, known.Scopes)
		tool.MoreScopes = func(ctx context.Context, call plugins.Call) ([]string, error) {
			return s.moreScopes(ctx, call, e.tool.Name)
		}
		tool.Call = func(ctx context.Context, call plugins.Call, arguments json.RawMessage) (plugins.Result, error) {
			return s.callWithAccount(ctx, call, e.tool.Name, tool.Effect, arguments)
		}
		return tool
	}
	tool.Call = func(ctx context.Context, _ plugins.Call, arguments json.RawMessage) (plugins.Result, error) {
		return s.call(ctx, e.tool.Name, tool.Effect, arguments)
	}
	return tool
}

// host is the one host that a server is, whatever it does behind its door. That
// of a process is no name that anybody types.
func (c serverConfig) host() string {
	if u, err := url.Parse(c.URL); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "mcp_" + c.id
}

func (s *server) describe(tool *sdk.Tool) string {
	text := tool.Description
	if text == "" {
		text = tool.Title
	}
	if text == "" {
		text = "The server does not say what this tool does."
	}
	return plugins.CutMiddle(fmt.Sprintf("(The tool %s of the MCP server %s.) %s", line(tool.Name), s.config.name, s.mask.text(text)), maxDescription)
}

// schema is that of the arguments, with the words that every provider wants.
func schema(input any) json.RawMessage {
	fields, ok := input.(map[string]any)
	if !ok {
		return json.RawMessage(`null`)
	}
	fields = maps.Clone(fields)
	if _, found := fields["type"]; !found {
		fields["type"] = "object"
	}
	if _, found := fields["properties"]; !found {
		fields["properties"] = map[string]any{}
	}
	// It names the dialect, which no provider needs, and which a validator need
	// not know.
	delete(fields, "$schema")
	data, err := json.Marshal(fields)
	if err != nil || len(data) > maxSchema {
		return json.RawMessage(`null`)
	}
	return data
}

// ownErrors are the words in which the client itself says that it could not
// send, or that the connection was closing; in their type they are as a server's.
var ownErrors = []string{"rejected by transport", "client is closing", "server is closing"}

// call makes one call. What is given back has passed the mask.
func (s *server) call(ctx context.Context, tool string, effect plugins.Effect, arguments json.RawMessage) (plugins.Result, error) {
	l, done, connected := s.begin()
	if !connected {
		return s.notConnected(), nil
	}
	defer done()
	result, err := l.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	return s.answer(ctx, result, err, tool, effect)
}

// answer is what the model is told of a call.
func (s *server) answer(ctx context.Context, result *sdk.CallToolResult, err error, tool string, effect plugins.Effect) (plugins.Result, error) {
	if err == nil {
		rendered := render(result)
		rendered.Text = s.mask.text(rendered.Text)
		return rendered, nil
	}
	var refused *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return plugins.Result{}, ctx.Err()
	case errors.As(err, &refused) && !slices.Contains(ownErrors, refused.Message):
		return failed("The MCP server %s answers with an error: %s", s.config.name, plugins.CutMiddle(s.mask.text(refused.Message), maxText)), nil
	}
	wake(s.broken)
	s.log.Warn("a call of the MCP server failed", "tool", line(tool), "err", s.mask.err(err))
	if errors.Is(err, syscall.ECONNREFUSED) {
		return s.notConnected(), nil
	}
	doubt := " Whether it took effect is unknown; say so, and do not simply repeat it."
	if effect == plugins.Pure {
		doubt = ""
	}
	lost := failed("The MCP server %s did not answer: the connection failed.%s", s.config.name, doubt)
	lost.Unknown = true
	return lost, nil
}

func (s *server) notConnected() plugins.Result {
	return failed("The MCP server %s is not connected, so that the call was not made. It is tried again in the background.", s.config.name)
}

func failed(format string, values ...any) plugins.Result {
	return plugins.Result{Error: true, Text: fmt.Sprintf(format, values...)}
}
