package gate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/plugins/gate"
)

// twice is a schema whose parts each refer to the next twice: a validator that
// follows them all looks at the last one 2^40 times.
func twice() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	return `{"type":"object","$defs":{` + b.String() + `"d40":{}},"properties":{"a":{"$ref":"#/$defs/d0"}}}`
}

// A schema is data from outside, where an MCP server offers the tool. One that
// refers to itself would overflow the validator's stack, and end the process.
func TestASchemaWithoutAnEndIsRefused(t *testing.T) {
	for _, schema := range []string{
		`{"type":"object","$ref":"#"}`,
		`{"type":"object","allOf":[{"$ref":"#"}]}`,
		`{"type":"object","ALLOF":[{"$REF":"#"}]}`,
		`{"type":"object","anyOf":[{"not":{"$ref":"#"}}]}`,
		`{"type":"object","if":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"type":"object","properties":{"a":` + strings.Repeat(`{"not":`, 3900) + `{}` + strings.Repeat(`}`, 3900) + `}}`, // takes seconds to read
		`{"type":"object","$dynamicAnchor":"x","properties":{"a":{"$dynamicRef":"#x"}}}`,
		`{"type":"object","$defs":{"a":{"$anchor":"x","$ref":"#x"}},"properties":{"a":{"$ref":"#x"}}}`,
		`{"type":"object","$defs":{"a":{"$id":"http://a/","allOf":[{"$ref":"#"}]}},"properties":{"a":{"$ref":"#/$defs/a"}}}`,
	} {
		bad := tool(t, "bad", plugins.Pure, says("x"))
		bad.Parameters = json.RawMessage(schema)
		if err := gate.New(gate.Options{}).Set("kit", []plugins.Tool{bad}, false); err == nil {
			t.Errorf("%.200s is taken", schema)
		}
	}
}

// Where it shows only with the arguments, the call is refused.
func TestArgumentsThatCannotBeCheckedAreRefused(t *testing.T) {
	nested := strings.Repeat(`{"a":`, 4000) + `{}` + strings.Repeat(`}`, 4000)
	for name, c := range map[string]struct{ schema, arguments string }{
		"refers to itself below": {`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/properties/a"}]}}}`, `{"a":1}`},
		"twice at each step":     {twice(), `{"a":1}`},
		"nested without an end":  {`{"type":"object","properties":{"a":{"$ref":"#"}}}`, nested},
		"many times many":        {`{"type":"object","properties":{"a":{"items":{"enum":[` + strings.Repeat("1,", 2000) + `1]}}}}`, `{"a":[` + strings.Repeat("0,", 20000) + `0]}`},
	} {
		t.Run(name, func(t *testing.T) {
			take := tool(t, "take", plugins.Pure, says("it ran"))
			take.Parameters = json.RawMessage(c.schema)
			g := build(t, gate.Options{}, take)
			if got := g.Call(t.Context(), call("take", c.arguments)); !got.Error || !strings.Contains(got.Text, "cannot be checked") {
				t.Errorf("got %.200q", got.Text)
			}
		})
	}
}

// A tree is an honest schema, and says what is wrong like any other.
func TestATreeIsChecked(t *testing.T) {
	take := tool(t, "take", plugins.Pure, says("it ran"))
	take.Parameters = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"child":{"$ref":"#"},"next":{"$ref":"#/properties/child"},"name":{"type":"string"}}}`)
	g := build(t, gate.Options{}, take)
	for arguments, want := range map[string]string{
		`{"child":{"child":{"name":"x"}},"next":{"next":{}}}`: "it ran",
		`{"child":{"child":{"name":5}}}`:                      "do not fit",
		`{"child":5}`:                                         "do not fit",
		`{"next":[]}`:                                         "do not fit",
	} {
		if got := g.Call(t.Context(), call("take", arguments)); !strings.Contains(got.Text, want) {
			t.Errorf("%s: %q", arguments, got.Text)
		}
	}
}
