package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// MaxTimeout is the longest that a tool may ask for one call.
const MaxTimeout = 5 * time.Minute

// names are what every provider accepts as the name of a function, and what
// cannot be mistaken for anything else in a log line.
var names = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

// Check refuses a list of plugins that could not be served as it stands. It
// reports everything that is wrong, a sentence each.
func Check(list []Plugin) error {
	var wrong []error
	plugins, tools := map[string]bool{}, map[string]string{}
	for i, plugin := range list {
		if isNil(plugin) {
			wrong = append(wrong, fmt.Errorf("plugin %d is nil", i+1))
			continue
		}
		name := plugin.Name()
		if !names.MatchString(name) {
			wrong = append(wrong, fmt.Errorf("plugin %d is named %q: a name is lower-case letters, digits and \"_\", begins with a letter and has at most 48 characters", i+1, name))
		}
		if plugins[name] {
			wrong = append(wrong, fmt.Errorf("two plugins are named %q", name))
		}
		plugins[name] = true
		for _, tool := range plugin.Tools() {
			if err := checkTool(tool); err != nil {
				wrong = append(wrong, fmt.Errorf("plugin %s: tool %w", name, err))
			}
			if other, taken := tools[tool.Name]; taken {
				wrong = append(wrong, fmt.Errorf("plugin %s: tool %q is a tool of plugin %s already", name, tool.Name, other))
			}
			tools[tool.Name] = name
		}
	}
	return errors.Join(wrong...)
}

func isNil(plugin Plugin) bool {
	if plugin == nil {
		return true
	}
	v := reflect.ValueOf(plugin)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func checkTool(t Tool) error {
	switch {
	case !names.MatchString(t.Name):
		return fmt.Errorf("%q: a name is lower-case letters, digits and \"_\", begins with a letter and has at most 48 characters", t.Name)
	case t.Description == "":
		return fmt.Errorf("%q has no description, so that the model cannot know its use", t.Name)
	case t.Call == nil:
		return fmt.Errorf("%q has no function", t.Name)
	case t.Effect != Pure && t.Effect != Idempotent && t.Effect != Once:
		return fmt.Errorf("%q has the effect %q: it must say pure, idempotent or once", t.Name, t.Effect)
	case t.Access != Read && t.Access != Write:
		return fmt.Errorf("%q has the access %q: it must say read or write", t.Name, t.Access)
	case t.Access == Write && t.Effect == Pure:
		return fmt.Errorf("%q writes, and so cannot be pure", t.Name)
	case t.Timeout < 0 || t.Timeout > MaxTimeout:
		return fmt.Errorf("%q has the timeout %v: it may be %v at most", t.Name, t.Timeout, MaxTimeout)
	}
	if _, err := ResolveSchema(t.Parameters); err != nil {
		return fmt.Errorf("%q has a bad schema: %w", t.Name, err)
	}
	return nil
}

// ResolveSchema reads the schema of a tool's arguments, which must describe an
// object, and makes it ready to validate with.
func ResolveSchema(parameters json.RawMessage) (*jsonschema.Resolved, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(parameters, &schema); err != nil {
		return nil, fmt.Errorf("read it as a JSON schema: %w", err)
	}
	if schema.Type != "object" {
		return nil, fmt.Errorf("it must be of type object, not %q", schema.Type)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve it: %w", err)
	}
	return resolved, nil
}
