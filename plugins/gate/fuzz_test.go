package gate_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/plugins/gate"
)

// What is taken is one JSON object, fits the schema, means the same to whoever
// reads it, and is read as itself.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"city":"Bern","days":2}`, `{"city":"Bern","CITY":"x","city":"Chur"}`, `{"city":"a"}{}`, `[1]`, `{"city":"x","days":1e999}`,
		`{"city":"\ud800"}`, "{\"city\":\"\xff\"}", `{"free":{"principal":"T1:U2","ids":[9007199254740993,1e3,-0,0.1]}}`,
		`{"free":` + strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200) + `}`, strings.Repeat(`{"free":`, 300),
		`{"city":"x","free":` + strings.Repeat("9", 60) + `}`, `null`, `"{}"`, `{"city":"Bern"} `,
	} {
		f.Add(seed)
	}
	g := gate.New(gate.Options{})
	schema := `{"type":"object","properties":{"city":{"type":"string","maxLength":50},"days":{"type":"integer","minimum":0,"maximum":9007199254740993},
		"free":{},"kind":{"enum":["a",1,null]}},"additionalProperties":false}`
	take := plugins.Tool{Name: "take", Description: "d", Effect: plugins.Pure, Access: plugins.Read, Parameters: json.RawMessage(schema),
		Call: func(context.Context, plugins.Call, json.RawMessage) (plugins.Result, error) {
			return plugins.Result{}, nil
		}}
	if err := g.Set("kit", []plugins.Tool{take}, false); err != nil {
		f.Fatal(err)
	}
	resolved, err := plugins.ResolveSchema(take.Parameters)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, written string) {
		taken, problem := gate.Read(g, "take", written)
		if (taken == nil) == (problem == "") {
			t.Fatalf("%q: taken %q, problem %q", written, taken, problem)
		}
		if taken == nil {
			if len(problem) > 16<<10 {
				t.Fatalf("a problem of %d bytes", len(problem))
			}
			return
		}
		var object map[string]any
		if err := json.Unmarshal(taken, &object); err != nil || object == nil {
			t.Fatalf("%q was taken as %q: %v", written, taken, err)
		}
		if err := resolved.Validate(object); err != nil {
			t.Fatalf("%q was taken as %q: %v", written, taken, err)
		}
		if again, problem := gate.Read(g, "take", string(taken)); string(again) != string(taken) {
			t.Fatalf("%q was taken as %q, and that as %q %s", written, taken, again, problem)
		}
	})
}
