package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// maxEffort bounds one validation, in steps of a microsecond or less.
	maxEffort = 200_000
	// maxDepth bounds how deep a validation calls itself. A stack that overflows
	// ends the process, and nothing can catch it.
	maxDepth = 2_000
	// maxNested bounds how deep a schema is written: reading one takes time by the
	// square of that.
	maxNested = 100
)

// nested is how deep a JSON value is written, as far as it can be read.
func nested(value []byte) int {
	decoder := json.NewDecoder(bytes.NewReader(value))
	depth, deepest := 0, 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		deepest = max(deepest, depth)
	}
}

// Effort foresees what validating with a schema takes. The validator itself has
// no bounds: a schema of a few lines that refers to itself overflows its stack,
// and one whose parts refer to each other twice keeps it busy for years. Whoever
// offers a tool from outside, such as an MCP server, writes such a schema in a
// minute.
type Effort struct {
	schema any // as JSON, with the validator's own reading of its keywords
}

// EffortOf refuses schemas whose references are not plain paths in themselves.
func EffortOf(schema *jsonschema.Schema) (Effort, error) {
	written, err := json.Marshal(schema)
	if err != nil {
		return Effort{}, err
	}
	var e Effort
	if err := json.Unmarshal(written, &e.schema); err != nil {
		return Effort{}, err
	}
	if err := e.references(e.schema, true); err != nil {
		return Effort{}, err
	}
	if !e.Bearable(map[string]any{}) {
		return Effort{}, errors.New("it refers to itself without an end, or is too intricate")
	}
	return e, nil
}

// references looks at every reference in a value. In data, such as an enum, it
// may find what is none, and refuse too much.
func (e Effort) references(value any, root bool) error {
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			if err := e.references(inner, false); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, found := v["$dynamicRef"].(string); found {
			return errors.New(`it has a "$dynamicRef"`)
		}
		if _, found := v["$id"].(string); found && !root {
			return errors.New(`it has an "$id" inside`)
		}
		if ref, found := v["$ref"].(string); found {
			if _, ok := e.at(ref); !ok {
				return fmt.Errorf("its reference %q is no path in itself", CutMiddle(ref, 128))
			}
		}
		for _, inner := range v {
			if err := e.references(inner, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// at is what a reference names.
func (e Effort) at(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	path, err := url.PathUnescape(path)
	if !ok || err != nil {
		return nil, false
	}
	at := e.schema
	if path == "" {
		return at, true
	}
	names := strings.Split(path, "/")
	if names[0] != "" {
		return nil, false
	}
	for _, name := range names[1:] {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		switch v := at.(type) {
		case map[string]any:
			at, ok = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if ok = err == nil && i >= 0 && i < len(v); ok {
				at = v[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return at, true
}

// Bearable reports whether a value can be validated in bearable time and depth.
func (e Effort) Bearable(value any) bool {
	w := walk{Effort: e, left: maxEffort}
	return w.visit(e.schema, value, 0)
}

// walk goes where the validator could go, without judging anything.
type walk struct {
	Effort
	left int
}

func (w *walk) spend(steps int) bool {
	w.left -= steps
	return w.left >= 0
}

func (w *walk) visit(schema, value any, depth int) bool {
	s, ok := schema.(map[string]any)
	if !w.spend(1) || depth > maxDepth {
		return false
	}
	if !ok {
		return true
	}
	if options, ok := s["enum"].([]any); ok && !w.spend(len(options)) {
		return false
	}
	if ref, ok := s["$ref"].(string); ok {
		target, ok := w.at(ref)
		if !ok || !w.visit(target, value, depth+1) {
			return false
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[keyword].([]any)
		for _, inner := range list {
			if !w.visit(inner, value, depth+1) {
				return false
			}
		}
	}
	for _, keyword := range []string{"not", "if", "then", "else"} {
		if inner, ok := s[keyword]; ok && !w.visit(inner, value, depth+1) {
			return false
		}
	}
	switch v := value.(type) {
	case map[string]any:
		return w.object(s, v, depth+1)
	case []any:
		return w.array(s, v, depth+1)
	}
	return true
}

func (w *walk) object(s, value map[string]any, depth int) bool {
	for _, keyword := range []string{"dependentSchemas", "dependencies"} {
		all, _ := s[keyword].(map[string]any)
		for _, inner := range all {
			if !w.visit(inner, value, depth) {
				return false
			}
		}
	}
	named, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	for name, inner := range value {
		if property, ok := named[name]; ok && !w.visit(property, inner, depth) {
			return false
		}
		for _, pattern := range patterns {
			if !w.visit(pattern, inner, depth) {
				return false
			}
		}
		for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
			if rest, ok := s[keyword]; ok && !w.visit(rest, inner, depth) {
				return false
			}
		}
		if names, ok := s["propertyNames"]; ok && !w.visit(names, name, depth) {
			return false
		}
	}
	return true
}

func (w *walk) array(s map[string]any, value []any, depth int) bool {
	for i, inner := range value {
		for _, keyword := range []string{"prefixItems", "items"} {
			if list, ok := s[keyword].([]any); ok && i < len(list) && !w.visit(list[i], inner, depth) {
				return false
			}
		}
		for _, keyword := range []string{"items", "additionalItems", "contains", "unevaluatedItems"} {
			if rest, ok := s[keyword].(map[string]any); ok && !w.visit(rest, inner, depth) {
				return false
			}
		}
	}
	return true
}
