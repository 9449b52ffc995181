package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
	// RawOAuth says that each person has an account of his own at the server, and
	// Catalog is the file with its list of tools.
	RawOAuth json.RawMessage `json:"oauth"`
	Catalog  string          `json:"catalog"`

	name  string // as in the file
	id    string // as in the names of tools
	tools map[string]toolConfig
	oauth *oauthConfig // nil: nobody has an account there
	// catalog is what stands in the file Catalog.
	catalog []*sdk.Tool
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
	// Scopes are those that a call needs, with "oauth".
	Scopes []string `json:"scopes"`
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
	// From which folder it is seen is not plain to everybody.
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("read MCP_CONFIG: %w", err)
	}
	data, err := os.ReadFile(absolute)
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
		config, err := readServer(name, servers[name], filepath.Dir(absolute), fill)
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
	if err := noRepeats(data); err != nil {
		return nil, err
	}
	raw, found := file["mcpServers"]
	if !found {
		return nil, errors.New(`it has no field "mcpServers"` + instead(file))
	}
	for field := range file {
		if field != "mcpServers" {
			return nil, fmt.Errorf(`the field %q is unknown; there is "mcpServers" alone`, field)
		}
	}
	var servers map[string]json.RawMessage
	if err := json.Unmarshal(raw, &servers); err != nil || servers == nil {
		return nil, errors.New(`"mcpServers" must be an object with a field for each server`)
	}
	return servers, nil
}

// instead says what a file has in the place of its list.
func instead(file map[string]json.RawMessage) string {
	if len(file) == 0 {
		return ""
	}
	fields := slices.Sorted(maps.Keys(file))
	for i, field := range fields {
		fields[i] = strconv.Quote(field)
	}
	return "; it has " + plugins.CutMiddle(strings.Join(fields, ", "), 200)
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
	return exactKeys(data, into)
}

// readable says where and what, in place of Go's types.
func readable(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not valid JSON (line %d: %w)", 1+bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")), syntax)
	case errors.As(err, &kind):
		return fmt.Errorf("the field %q is %s, and must be %s", within(data, kind), article(kind.Value), expected(kind.Type.String()))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is not valid JSON: it ends too early")
	}
	if field, found := strings.CutPrefix(err.Error(), "json: unknown field "); found {
		return fmt.Errorf("the field %s is unknown", field)
	}
	return err
}

// within names a field, and what in it is of a wrong kind.
func within(data []byte, kind *json.UnmarshalTypeError) string {
	var fields, inner map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || json.Unmarshal(fields[kind.Field], &inner) != nil {
		return kind.Field
	}
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		value := inner[name][0]
		is := map[byte]string{'{': "object", '[': "array", 't': "bool", 'f': "bool", '"': "string", 'n': "null"}[value]
		if is == "" {
			is = "number"
		}
		if is == kind.Value {
			return kind.Field + "." + name
		}
	}
	return kind.Field
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

func readServer(name string, data json.RawMessage, folder string, fill func(any) error) (serverConfig, error) {
	var c serverConfig
	if err := strict(data, &c); err != nil {
		return c, err
	}
	c.name, c.id = name, sanitise(name)
	if !serverForm.MatchString(name) || c.id == "" || len(name) > maxServerName {
		return c, fmt.Errorf("a server's name is letters, digits, %q, %q and %q, begins with a letter or digit, and has at most %d characters", "-", "_", ".", maxServerName)
	}
	if err := c.readOAuth(); err != nil {
		return c, err
	}
	if err := c.expand(fill); err != nil {
		return c, err
	}
	if err := c.check(); err != nil {
		return c, err
	}
	return c, c.readCatalog(folder)
}
