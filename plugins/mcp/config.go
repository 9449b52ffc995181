package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"reeve/plugins"
)

// serverConfig is one server, as the operator's file has it. The first fields
// are what other programs' files have too.
type serverConfig struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Cwd     string            `json:"cwd"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`

	Disabled bool     `json:"disabled"`
	Timeout  duration `json:"timeout"`
	// Credentialed says that the server spends somebody's rights though no
	// secret of it stands in the file.
	Credentialed bool                       `json:"credentialed"`
	Allow        *[]string                  `json:"allow"`
	Deny         []string                   `json:"deny"`
	RawTools     map[string]json.RawMessage `json:"tools"`

	name  string // as in the file
	id    string // as in the names of tools
	tools map[string]toolConfig
	// filled are the values that were put in place of variables.
	filled []string
}

// toolConfig is what the operator knows of a tool better than the defaults.
type toolConfig struct {
	Access  plugins.Access `json:"access"`
	Effect  plugins.Effect `json:"effect"`
	Sends   *bool          `json:"sends"`
	Timeout duration       `json:"timeout"`
	Pin     string         `json:"pin"`
}

// duration is "90s" or "2m" in JSON.
type duration time.Duration

func (d *duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf(`the field "timeout" is %s, and must be a text such as "90s"`, data)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed <= 0 || parsed > plugins.MaxTimeout {
		return fmt.Errorf(`the field "timeout" is %q, and must be a duration such as "90s", of at most %v`, text, plugins.MaxTimeout)
	}
	*d = duration(parsed)
	return nil
}

// maxServerName leaves most of a tool's name to the tool.
const maxServerName = 32

var (
	serverForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	pinForm    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// readConfig reads the file and checks all of it. fill fills a struct from the
// variables that begin with MCP_. The error has a sentence for each thing that
// is wrong, which names the server and the field.
func readConfig(path string, fill func(into any) error) ([]serverConfig, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read MCP_CONFIG: %w", err)
	}
	servers, err := split(data)
	if err != nil {
		return nil, fmt.Errorf("read MCP_CONFIG, %s: %w", path, err)
	}
	var list []serverConfig
	var wrong []error
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		config, err := readServer(name, servers[name], fill)
		if err == nil && taken[config.id] != "" {
			err = fmt.Errorf("its name and that of %q are one name in the names of tools, %q; rename one of them", taken[config.id], config.id)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: server %q: %w", path, name, err))
			continue
		}
		taken[config.id] = name
		if !config.Disabled {
			list = append(list, config)
		}
	}
	return list, errors.Join(wrong...)
}

// split takes the file apart, as far as the servers.
func split(data []byte) (map[string]json.RawMessage, error) {
	var file map[string]json.RawMessage
	if err := strict(data, &file); err != nil {
		return nil, err
	}
	raw, found := file["mcpServers"]
	if !found {
		return nil, errors.New(`it has no field "mcpServers"`)
	}
	for field := range file {
		if field != "mcpServers" {
			return nil, fmt.Errorf(`the field %q is unknown; there is "mcpServers" alone`, field)
		}
	}
	var servers map[string]json.RawMessage
	if err := json.Unmarshal(raw, &servers); err != nil {
		return nil, errors.New(`"mcpServers" must be an object with a field for each server`)
	}
	return servers, nil
}

// strict reads one JSON value. A field that is unknown is an error: a mistyped
// "deny" must not allow.
func strict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return readable(data, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is something behind the end of its JSON")
	}
	return nil
}

// readable says where and what, in place of Go's types.
func readable(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not valid JSON (line %d: %w)", 1+bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")), syntax)
	case errors.As(err, &kind):
		return fmt.Errorf("the field %q is %s, and must be %s", kind.Field, article(kind.Value), expected(kind.Type.String()))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is not valid JSON: it ends too early")
	}
	if field, found := strings.CutPrefix(err.Error(), "json: unknown field "); found {
		return fmt.Errorf("the field %s is unknown", field)
	}
	return err
}

func article(value string) string {
	if strings.HasPrefix(value, "a") || strings.HasPrefix(value, "o") {
		return "an " + value
	}
	return "a " + value
}

func expected(kind string) string {
	switch {
	case kind == "bool":
		return "true or false"
	case strings.HasPrefix(kind, "[]"):
		return "a list of texts"
	case strings.HasPrefix(kind, "map["), strings.Contains(kind, "Config"):
		return "an object"
	}
	return "a text"
}

func readServer(name string, data json.RawMessage, fill func(any) error) (serverConfig, error) {
	var c serverConfig
	if err := strict(data, &c); err != nil {
		return c, err
	}
	c.name, c.id = name, sanitise(name)
	if !serverForm.MatchString(name) || c.id == "" || len(name) > maxServerName {
		return c, fmt.Errorf("a server's name is letters, digits, %q, %q and %q, begins with a letter or digit, and has at most %d characters", "-", "_", ".", maxServerName)
	}
	if err := c.expand(fill); err != nil {
		return c, err
	}
	return c, c.check()
}

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
	return nil
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
	for name, value := range c.Headers {
		if !headerForm.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf(`the field "headers" has the header %q, which cannot be`, name)
		}
		if slices.Contains(protocolHeaders, strings.ToLower(name)) {
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
