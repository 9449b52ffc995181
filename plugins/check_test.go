package plugins_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reeve/plugins"
)

type plain struct {
	name  string
	tools []plugins.Tool
}

func (p plain) Name() string          { return p.name }
func (p plain) Tools() []plugins.Tool { return p.tools }

type onPointer struct{ plain }

func (p *onPointer) Name() string { return p.plain.name }

type arguments struct {
	City string `json:"city" jsonschema:"where"`
	Days int    `json:"days,omitempty"`
}

func forecast(_ context.Context, _ plugins.Run, in arguments) (plugins.Result, error) {
	return plugins.Result{Text: in.City}, nil
}

func whole() plugins.Tool {
	return plugins.Tool{Name: "forecast", Description: "Tells the weather.", Effect: plugins.Pure, Access: plugins.Read}
}

func TestNewToolInfersTheSchema(t *testing.T) {
	tool, err := plugins.NewTool(whole(), forecast)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Type       string
		Properties map[string]struct{ Type, Description string }
		Required   []string
		Additional any `json:"additionalProperties"`
	}
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || schema.Properties["city"].Description != "where" || schema.Properties["days"].Type != "integer" ||
		len(schema.Required) != 1 || schema.Required[0] != "city" || schema.Additional != false {
		t.Errorf("schema is %s", tool.Parameters)
	}
	got, err := tool.Call(t.Context(), plugins.Run{}, json.RawMessage(`{"city":"Bern"}`))
	if err != nil || got.Text != "Bern" {
		t.Errorf("the call gave %q, %v", got.Text, err)
	}
}

func TestNewToolWithoutArgumentsNamesItsProperties(t *testing.T) {
	tool, err := plugins.NewTool(whole(), func(context.Context, plugins.Run, struct{}) (plugins.Result, error) {
		return plugins.Result{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	if _, ok := schema["properties"].(map[string]any); !ok {
		t.Errorf("schema is %s", tool.Parameters)
	}
}

func TestNewToolRefusesWhatIsNoObject(t *testing.T) {
	_, err := plugins.NewTool(whole(), func(context.Context, plugins.Run, string) (plugins.Result, error) {
		return plugins.Result{}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "must be a struct") {
		t.Errorf("got %v", err)
	}
}

func TestCheck(t *testing.T) {
	good, err := plugins.NewTool(whole(), forecast)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*plugins.Tool)) []plugins.Plugin {
		tool := good
		change(&tool)
		return []plugins.Plugin{plain{"weather", []plugins.Tool{tool}}}
	}
	tests := []struct {
		name string
		list []plugins.Plugin
		want string
	}{
		{"nil", []plugins.Plugin{nil}, "plugin 1 is nil"},
		{"nil pointer", []plugins.Plugin{(*onPointer)(nil)}, "plugin 1 is nil"},
		{"name", []plugins.Plugin{plain{"Weather!", nil}}, `"Weather!"`},
		{"twice the plugin", []plugins.Plugin{plain{"weather", nil}, plain{"weather", nil}}, `two plugins are named "weather"`},
		{"twice the tool", []plugins.Plugin{plain{"weather", []plugins.Tool{good}}, plain{"sky", []plugins.Tool{good}}}, "a tool of plugin weather already"},
		{"tool name", with(func(t *plugins.Tool) { t.Name = "fore cast" }), `"fore cast"`},
		{"no description", with(func(t *plugins.Tool) { t.Description = "" }), "no description"},
		{"no function", with(func(t *plugins.Tool) { t.Call = nil }), "no function"},
		{"no effect", with(func(t *plugins.Tool) { t.Effect = "" }), "pure, idempotent or once"},
		{"no access", with(func(t *plugins.Tool) { t.Access = "" }), "read or write"},
		{"pure write", with(func(t *plugins.Tool) { t.Access = plugins.Write }), "cannot be pure"},
		{"too long a timeout", with(func(t *plugins.Tool) { t.Timeout = time.Hour }), "5m0s at most"},
		{"no schema", with(func(t *plugins.Tool) { t.Parameters = nil }), "bad schema"},
		{"schema of a string", with(func(t *plugins.Tool) { t.Parameters = json.RawMessage(`{"type":"string"}`) }), "of type object"},
		{"schema that cannot be", with(func(t *plugins.Tool) {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"("}}}`)
		}), "bad schema"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := plugins.Check(test.list)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
		})
	}
	if err := plugins.Check([]plugins.Plugin{plain{"weather", []plugins.Tool{good}}}); err != nil {
		t.Errorf("a good list: %v", err)
	}
}

func TestCutMiddle(t *testing.T) {
	long := strings.Repeat("ä€𝄞", 1000)
	for limit := 40; limit < 120; limit++ {
		got := plugins.CutMiddle(long, limit)
		if len(got) > limit || !utf8.ValidString(got) || !strings.Contains(got, "bytes left out here") {
			t.Fatalf("cut at %d: %d bytes, %q", limit, len(got), got)
		}
	}
	if got := plugins.CutMiddle("a\xffb", 40); got != "a\uFFFDb" {
		t.Errorf("bad bytes became %q", got)
	}
	if got := plugins.CutMiddle("short", 5); got != "short" {
		t.Errorf("a text that fits became %q", got)
	}
}
