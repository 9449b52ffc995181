package mcp

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"reeve/plugins"
)

// check refuses what could not be used as it stands.
func (c *serverConfig) check() error {
	switch c.Type {
	case "", "stdio", "http", "streamable-http", "streamableHttp":
	case "sse":
		return errors.New(`the field "type" is "sse": that transport is not spoken; most such servers have a streamable HTTP address too ("type": "http")`)
	default:
		return fmt.Errorf(`the field "type" is %q, and may be "stdio" or "http"`, c.Type)
	}
	var err error
	switch {
	case c.Command != "" && c.URL != "":
		return errors.New(`it has both "command" and "url"; take one out`)
	case c.Command != "":
		err = c.checkProcess()
	case c.URL != "":
		err = c.checkURL()
	default:
		return errors.New(`it has neither "command" nor "url"`)
	}
	if err != nil {
		return err
	}
	c.tools = map[string]toolConfig{}
	for _, name := range slices.Sorted(maps.Keys(c.RawTools)) {
		var tool toolConfig
		err := strict(c.RawTools[name], &tool)
		if err == nil {
			err = tool.check()
		}
		if err != nil {
			return fmt.Errorf("tool %q: %w", name, err)
		}
		c.tools[name] = tool
	}
	if c.Allow != nil {
		for _, tool := range *c.Allow {
			if slices.Contains(c.Deny, tool) {
				return fmt.Errorf(`"allow" and "deny" both name the tool %q`, tool)
			}
		}
	}
	return c.checkOAuth()
}

func (c *serverConfig) checkProcess() error {
	if c.Type != "" && c.Type != "stdio" {
		return fmt.Errorf(`the field "type" is %q, and a server with "command" speaks "stdio"`, c.Type)
	}
	if len(c.Headers) > 0 {
		return errors.New(`the field "headers" is for a server with "url"`)
	}
	for name, value := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fmt.Errorf(`the field "env" has the variable %q, which cannot be`, name)
		}
	}
	if c.Cwd != "" {
		if info, err := os.Stat(c.Cwd); err != nil || !info.IsDir() {
			return fmt.Errorf(`the field "cwd" is %q, which is no folder`, c.Cwd)
		}
	}
	return nil
}

func (c *serverConfig) checkURL() error {
	if c.Type == "stdio" {
		return errors.New(`the field "type" is "stdio", and a server with "url" speaks "http"`)
	}
	if len(c.Args) > 0 || len(c.Env) > 0 || c.Cwd != "" {
		return errors.New(`the fields "args", "env" and "cwd" are for a server with "command"`)
	}
	u, err := url.Parse(c.URL)
	// The address may hold a secret, so that it is not repeated.
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" {
		return errors.New(`the field "url" is not an http or https address`)
	}
	sent := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		value, lower := c.Headers[name], strings.ToLower(name)
		if sent[lower] != "" {
			return fmt.Errorf(`the field "headers" has %q and %q, which are one header`, sent[lower], name)
		}
		sent[lower] = name
		if !headerForm.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf(`the field "headers" has the header %q, which cannot be`, name)
		}
		if slices.Contains(protocolHeaders, lower) {
			return fmt.Errorf(`the field "headers" has the header %q, which belongs to the protocol`, name)
		}
	}
	return nil
}

var headerForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// protocolHeaders are set by the client, and by nobody else.
var protocolHeaders = []string{"accept", "content-type", "content-length", "host", "mcp-session-id", "mcp-protocol-version", "last-event-id"}

func (t toolConfig) check() error {
	switch {
	case t.Access != "" && t.Access != plugins.Read && t.Access != plugins.Write:
		return fmt.Errorf(`the field "access" is %q, and may be "read" or "write"`, t.Access)
	case t.Effect != "" && t.Effect != plugins.Pure && t.Effect != plugins.Idempotent && t.Effect != plugins.Once:
		return fmt.Errorf(`the field "effect" is %q, and may be "pure", "idempotent" or "once"`, t.Effect)
	case t.Effect == plugins.Pure && t.Access != plugins.Read:
		return errors.New(`the field "effect" is "pure", and so "access" must be "read"`)
	case t.Pin != "" && !pinForm.MatchString(t.Pin):
		return errors.New(`the field "pin" is not "sha256:" with 64 digits, as reeve check prints it`)
	}
	return nil
}

// offers says whether the operator lets a tool be offered at all.
func (c serverConfig) offers(tool string) bool {
	return !slices.Contains(c.Deny, tool) && (c.Allow == nil || slices.Contains(*c.Allow, tool))
}
