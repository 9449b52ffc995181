package plugins

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// NewTool makes a tool of a typed function. The schema of its arguments is
// inferred from In, which must be a struct: json tags name the fields,
// "omitempty" makes one optional, and a jsonschema tag describes it. Unknown
// fields are refused.
func NewTool[In any](tool Tool, call func(ctx context.Context, c Call, in In) (Result, error)) (Tool, error) {
	if call == nil {
		return Tool{}, fmt.Errorf("make tool %q: it has no function", tool.Name)
	}
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return Tool{}, fmt.Errorf("make tool %q: infer its schema: %w", tool.Name, err)
	}
	if schema.Type != "object" {
		return Tool{}, fmt.Errorf("make tool %q: its arguments must be a struct, not %s", tool.Name, schema.Type)
	}
	if tool.Parameters, err = marshalSchema(schema); err != nil {
		return Tool{}, fmt.Errorf("make tool %q: write its schema: %w", tool.Name, err)
	}
	tool.Call = func(ctx context.Context, c Call, arguments json.RawMessage) (Result, error) {
		var in In
		if err := json.Unmarshal(arguments, &in); err != nil {
			return Result{}, fmt.Errorf("read arguments of %s: %w", tool.Name, err)
		}
		return call(ctx, c, in)
	}
	if err := checkTool(tool); err != nil {
		return Tool{}, fmt.Errorf("make tool %w", err)
	}
	return tool, nil
}

// MustTool is NewTool for tools that are as fixed as the code: it panics
// where NewTool returns an error.
func MustTool[In any](tool Tool, call func(ctx context.Context, c Call, in In) (Result, error)) Tool {
	made, err := NewTool(tool, call)
	if err != nil {
		panic(err)
	}
	return made
}

// marshalSchema writes an object schema with its properties, be they none:
// some providers refuse an object schema without the word.
func marshalSchema(schema *jsonschema.Schema) (json.RawMessage, error) {
	data, err := json.Marshal(schema)
	if err != nil || len(schema.Properties) > 0 {
		return data, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	fields["properties"] = map[string]any{}
	return json.Marshal(fields)
}

// Spec is the tool as the model sees it.
func (t Tool) Spec() Spec {
	return Spec{Name: t.Name, Description: t.Description, Parameters: t.Parameters, Effect: t.Effect, Provider: t.Provider, Sends: t.Sends}
}
