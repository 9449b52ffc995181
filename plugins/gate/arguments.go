package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
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
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Sprintf("The arguments of %s are not valid JSON (%v). Send one JSON object.", t.Name, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Sprintf("The arguments of %s hold more than one JSON value. Send one JSON object.", t.Name)
	}
	exact, rounded, err := numbers(value)
	if err != nil {
		return nil, fmt.Sprintf("The arguments of %s hold %v.", t.Name, err)
	}
	object, ok := rounded.(map[string]any)
	if !ok {
		return nil, fmt.Sprintf("The arguments of %s are %s. Send one JSON object.", t.Name, kind(rounded))
	}
	if !t.effort.Bearable(object) {
		return nil, fmt.Sprintf("The arguments of %s cannot be checked: they are too many, or nested too deep, for its schema. Send less.", t.Name)
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
	checked, err := json.Marshal(exact)
	if err != nil {
		return nil, fmt.Sprintf("The arguments of %s cannot be read.", t.Name)
	}
	return bytes.TrimSpace(checked), ""
}

// whole are numbers that are passed on as they are written: a float64 would
// change the last digits of a long one, and with them whose id it is.
var whole = regexp.MustCompile(`^-?[0-9]{1,40}$`)

// numbers gives each number of a value the form in which it is passed on, and,
// in a copy, that which the schema's validator reads.
func numbers(value any) (exact, rounded any, err error) {
	switch v := value.(type) {
	case json.Number:
		number, err := v.Float64()
		if err != nil {
			return nil, nil, errors.New("a number that is too large")
		}
		if whole.MatchString(v.String()) {
			return v, number, nil
		}
		return number, number, nil
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			if v[i], copied[i], err = numbers(v[i]); err != nil {
				return nil, nil, err
			}
		}
		return v, copied, nil
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name := range v {
			if v[name], copied[name], err = numbers(v[name]); err != nil {
				return nil, nil, err
			}
		}
		return v, copied, nil
	}
	return value, value, nil
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
		// Taken out of the whole, a reference would mean something else.
		if written, err := json.Marshal(property); err != nil || bytes.Contains(written, []byte(`"$ref"`)) {
			continue
		}
		checker, err := property.CloneSchemas().Resolve(nil)
		if err != nil {
			continue
		}
		if err := checker.Validate(object[name]); err != nil {
			problem := fmt.Sprintf("field %q is %s, expected is %s", name, kind(object[name]), expected(property))
			if isKind(property.Type, object[name]) { // the rest is the validator's to say
				problem += fmt.Sprintf(" (%s)", plugins.CutMiddle(err.Error(), 512))
			}
			problems = append(problems, problem)
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

// isKind reports whether a value is of a type that a schema names.
func isKind(name string, value any) bool {
	switch value.(type) {
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
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
