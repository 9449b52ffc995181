package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// MaxTimeout is the longest that a tool or a task may ask for.
	MaxTimeout = 5 * time.Minute
	// MaxSectionTokens is the largest budget of a section.
	MaxSectionTokens = 4000
)

// names are what every provider accepts as the name of a function, and what
// cannot be mistaken for anything else in a log line.
var names = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

const nameRule = `a name is lower-case letters, digits and "_", begins with a letter and has at most 64 characters`

// reserved are names that are Reeve's own.
var reserved = []string{"reeve", "system", HandBackTool}

// HandBackTool is the name of the tool that every turn has.
const HandBackTool = "hand_back"

// CheckNames refuses a list of plugins that cannot be told apart. It reports
// everything that is wrong, a sentence each.
func CheckNames(list []Plugin) error {
	var wrong []error
	taken := map[string]bool{}
	for i, plugin := range list {
		if isNil(plugin) {
			wrong = append(wrong, fmt.Errorf("plugin %d is nil", i+1))
			continue
		}
		switch name := plugin.Name(); {
		case !names.MatchString(name):
			wrong = append(wrong, fmt.Errorf("plugin %d is named %q: %s", i+1, name, nameRule))
		case slices.Contains(reserved, name):
			wrong = append(wrong, fmt.Errorf("plugin %d is named %q, which is reserved", i+1, name))
		case taken[name]:
			wrong = append(wrong, fmt.Errorf("two plugins are named %q", name))
		default:
			taken[name] = true
		}
	}
	return errors.Join(wrong...)
}

// Check refuses what a plugin cannot add. It reports everything that is wrong,
// a sentence each. That no other plugin has a tool of the same name is the
// gate's to see.
func (x Extension) Check(plugin string) error {
	var wrong []error
	bad := func(err error) {
		if err != nil {
			wrong = append(wrong, fmt.Errorf("plugin %s: %w", plugin, err))
		}
	}
	bad(CheckTools(x.Tools))
	sections, tasks := map[string]bool{}, map[string]bool{}
	for _, s := range x.Sections {
		bad(checkSection(s, sections[s.Name]))
		sections[s.Name] = true
	}
	for _, t := range x.Tasks {
		bad(checkTask(t, tasks[t.Name]))
		tasks[t.Name] = true
	}
	return errors.Join(wrong...)
}

// CheckTools refuses tools that could not be offered as they stand.
func CheckTools(tools []Tool) error { return checkTools(tools, reserved) }

// CheckOwnTools is CheckTools for tools of Reeve itself, whose names are its own.
func CheckOwnTools(tools []Tool) error { return checkTools(tools, nil) }

func checkTools(tools []Tool, reserved []string) error {
	var wrong []error
	taken := map[string]bool{}
	for _, t := range tools {
		switch err := checkTool(t); {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("tool %w", err))
		case slices.Contains(reserved, t.Name):
			wrong = append(wrong, fmt.Errorf("tool %q: that name is reserved", t.Name))
		case taken[t.Name]:
			wrong = append(wrong, fmt.Errorf("two tools are named %q", t.Name))
		}
		taken[t.Name] = true
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
		return fmt.Errorf("%q: %s", t.Name, nameRule)
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
	case t.Host != nil && !t.Sends:
		return fmt.Errorf("%q names a host, and does not say that it sends", t.Name)
	case t.Provider != "" && !names.MatchString(t.Provider):
		return fmt.Errorf("%q has the provider %q: %s", t.Name, t.Provider, nameRule)
	case t.Account && t.Provider == "":
		return fmt.Errorf("%q needs an account, and does not name its provider", t.Name)
	case (len(t.Scopes) > 0 || t.MoreScopes != nil) && !t.Account:
		return fmt.Errorf("%q names scopes, and does not say that it needs an account", t.Name)
	}
	if err := checkTimeout(t.Name, t.Timeout); err != nil {
		return err
	}
	if _, err := ResolveSchema(t.Parameters); err != nil {
		return fmt.Errorf("%q has a bad schema: %w", t.Name, err)
	}
	return nil
}

func checkTimeout(name string, timeout time.Duration) error {
	if timeout < 0 || timeout > MaxTimeout {
		return fmt.Errorf("%q has the timeout %v: it may be %v at most", name, timeout, MaxTimeout)
	}
	return nil
}

func checkSection(s Section, twice bool) error {
	switch {
	case !names.MatchString(s.Name):
		return fmt.Errorf("section %q: %s", s.Name, nameRule)
	case twice:
		return fmt.Errorf("two sections are named %q", s.Name)
	case s.Render == nil:
		return fmt.Errorf("section %q has no function", s.Name)
	case s.Tokens < 0 || s.Tokens > MaxSectionTokens:
		return fmt.Errorf("section %q has a budget of %d tokens: it may be %d at most", s.Name, s.Tokens, MaxSectionTokens)
	}
	return nil
}

func checkTask(t Task, twice bool) error {
	switch {
	case !names.MatchString(t.Name):
		return fmt.Errorf("task %q: %s", t.Name, nameRule)
	case twice:
		return fmt.Errorf("two tasks are named %q", t.Name)
	case t.Run == nil:
		return fmt.Errorf("task %q has no function", t.Name)
	}
	if err := checkTimeout(t.Name, t.Timeout); err != nil {
		return fmt.Errorf("task %w", err)
	}
	return nil
}

// ResolveSchema reads the schema of a tool's arguments, which must describe an
// object, and makes it ready to validate with.
func ResolveSchema(parameters json.RawMessage) (*jsonschema.Resolved, error) {
	if nested(parameters) > maxNested {
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxNested)
	}
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
	if _, err := EffortOf(&schema); err != nil {
		return nil, err
	}
	return resolved, nil
}
