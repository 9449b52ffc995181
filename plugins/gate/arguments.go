package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"reeve/plugins"
)

// maxArguments bounds what one call may carry, in bytes.
const maxArguments = 256 << 10

// read turns what the model wrote into arguments that fit the schema. problem
// is for the model: which field is wrong, and what is expected there.
func (t *tool) read(written string) (arguments json.RawMessage, problem string) {
	if strings.TrimSpace(written) == "" {
		written = "{}"
	}
	if len(written) > maxArguments {
		return nil, fmt.Sprintf("The arguments of %s are %d bytes long; at most %d are taken.", t.Name, len(written), maxArguments)
	}
	decoder := json.NewDecoder(strings.NewReader(written))
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Sprintf("The arguments of %s are not valid JSON (%v). Send one JSON object.", t.Name, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Sprintf("The arguments of %s hold more than one JSON value. Send one JSON object.", t.Name)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Sprintf("The arguments of %s are %s. Send one JSON object.", t.Name, kind(value))
	}
	if err := t.checker.Validate(object); err != nil {
		problems := explain(t.schema, object)
		if len(problems) == 0 {
			problems = []string{plugins.CutMiddle(err.Error(), 2048)}
		}
		return nil, fmt.Sprintf("The arguments of %s do not fit: %s. Call it again with what fits.", t.Name, strings.Join(problems, "; "))
	}
	// What was checked is what is passed on: not a second reading of the same
	// bytes, in which a field given twice could mean something else.
	checked, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Sprintf("The arguments of %s cannot be read.", t.Name)
	}
	return bytes.TrimSpace(checked), ""
}

// explain says of each top-level field what is wrong with it, more readably
// than the validator; what lies deeper is left to the validator's own words.
func explain(schema *jsonschema.Schema, object map[string]any) []string {
	var problems []string
	for _, name := range schema.Required {
		if _, ok := object[name]; !ok {
			problems = append(problems, fmt.Sprintf("field %q is missing (%s)", name, expected(schema.Properties[name])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property, known := schema.Properties[name]
		if !known {
			if schema.AdditionalProperties != nil && schema.AdditionalProperties.Not != nil {
				problems = append(problems, fmt.Sprintf("field %q is unknown (the fields are: %s)", plugins.CutMiddle(name, 128), fields(schema)))
			}
			continue
		}
		checker, err := property.CloneSchemas().Resolve(nil)
		if err != nil {
			continue
		}
		if err := checker.Validate(object[name]); err != nil {
			problems = append(problems, fmt.Sprintf("field %q is %s, expected is %s", name, kind(object[name]), expected(property)))
		}
	}
	return problems
}

func fields(schema *jsonschema.Schema) string {
	if len(schema.Properties) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", ")
}

// expected says in a few words what a property takes.
func expected(p *jsonschema.Schema) string {
	if p == nil {
		return "any value"
	}
	words := p.Type
	if words == "" {
		words = strings.Join(p.Types, " or ")
	}
	if words == "" {
		words = "a value"
	}
	if len(p.Enum) > 0 {
		words += fmt.Sprintf(", one of %v", p.Enum)
	}
	if p.Minimum != nil {
		words += fmt.Sprintf(", at least %v", *p.Minimum)
	}
	if p.Maximum != nil {
		words += fmt.Sprintf(", at most %v", *p.Maximum)
	}
	if p.Pattern != "" {
		words += ", matching " + p.Pattern
	}
	if p.Description != "" {
		words += ": " + p.Description
	}
	return words
}

func kind(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return fmt.Sprintf("the number %v", v)
	case string:
		return fmt.Sprintf("the string %q", plugins.CutMiddle(v, 128))
	case []any:
		return "an array"
	default:
		return "an object"
	}
}
