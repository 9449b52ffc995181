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

type plain string

func (p plain) Name() string { return string(p) }
func (p plain) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{}, nil
}

type onPointer struct{ plain }

func (p *onPointer) Name() string { return string(p.plain) }

type arguments struct {
	City string `json:"city" jsonschema:"where"`
	Days int    `json:"days,omitempty"`
}

func forecast(_ context.Context, _ plugins.Call, in arguments) (plugins.Result, error) {
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
	got, err := tool.Call(t.Context(), plugins.Call{}, json.RawMessage(`{"city":"Bern"}`))
	if err != nil || got.Text != "Bern" {
		t.Errorf("the call gave %q, %v", got.Text, err)
	}
}

func TestNewToolWithoutArgumentsNamesItsProperties(t *testing.T) {
	tool, err := plugins.NewTool(whole(), func(context.Context, plugins.Call, struct{}) (plugins.Result, error) {
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
	_, err := plugins.NewTool(whole(), func(context.Context, plugins.Call, string) (plugins.Result, error) {
		return plugins.Result{}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "must be a struct") {
		t.Errorf("got %v", err)
	}
}

func TestCheckNames(t *testing.T) {
	tests := []struct {
		name string
		list []plugins.Plugin
		want string
	}{
		{"nil", []plugins.Plugin{nil}, "plugin 1 is nil"},
		{"nil pointer", []plugins.Plugin{(*onPointer)(nil)}, "plugin 1 is nil"},
		{"name", []plugins.Plugin{plain("Weather!")}, `"Weather!"`},
		{"reserved", []plugins.Plugin{plain("reeve")}, "reserved"},
		{"twice", []plugins.Plugin{plain("weather"), plain("weather")}, `two plugins are named "weather"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := plugins.CheckNames(test.list)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
		})
	}
	if err := plugins.CheckNames([]plugins.Plugin{plain("weather"), plain("sky")}); err != nil {
		t.Errorf("a good list: %v", err)
	}
}

func TestCheckExtension(t *testing.T) {
	good, err := plugins.NewTool(whole(), forecast)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*plugins.Tool)) plugins.Extension {
		tool := good
		change(&tool)
		return plugins.Extension{Tools: []plugins.Tool{tool}}
	}
	render := func(context.Context, plugins.Call) ([]plugins.Note, error) { return nil, nil }
	work := func(context.Context, plugins.Ended) error { return nil }
	tests := []struct {
		name string
		x    plugins.Extension
		want string
	}{
		{"twice the tool", plugins.Extension{Tools: []plugins.Tool{good, good}}, `two tools are named "forecast"`},
		{"tool name", with(func(t *plugins.Tool) { t.Name = "fore cast" }), `"fore cast"`},
		{"reserved tool", with(func(t *plugins.Tool) { t.Name = plugins.HandBackTool }), "reserved"},
		{"no description", with(func(t *plugins.Tool) { t.Description = "" }), "no description"},
		{"no function", with(func(t *plugins.Tool) { t.Call = nil }), "no function"},
		{"no effect", with(func(t *plugins.Tool) { t.Effect = "" }), "pure, idempotent or once"},
		{"no access", with(func(t *plugins.Tool) { t.Access = "" }), "read or write"},
		{"pure write", with(func(t *plugins.Tool) { t.Access = plugins.Write }), "cannot be pure"},
		{"host of what sends nothing", with(func(t *plugins.Tool) {
			t.Host = func(json.RawMessage) (string, error) { return "example.com", nil }
		}), "does not say that it sends"},
		{"provider's name", with(func(t *plugins.Tool) { t.Provider = "Git Hub" }), `"Git Hub"`},
		{"too long a timeout", with(func(t *plugins.Tool) { t.Timeout = time.Hour }), "5m0s at most"},
		{"no schema", with(func(t *plugins.Tool) { t.Parameters = nil }), "bad schema"},
		{"schema of a string", with(func(t *plugins.Tool) { t.Parameters = json.RawMessage(`{"type":"string"}`) }), "of type object"},
		{"schema that cannot be", with(func(t *plugins.Tool) {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"("}}}`)
		}), "bad schema"},
		{"section's name", plugins.Extension{Sections: []plugins.Section{{Name: "A", Render: render}}}, `section "A"`},
		{"section without a function", plugins.Extension{Sections: []plugins.Section{{Name: "a"}}}, "no function"},
		{"section too large", plugins.Extension{Sections: []plugins.Section{{Name: "a", Tokens: 4001, Render: render}}}, "4000 at most"},
		{"twice the section", plugins.Extension{Sections: []plugins.Section{{Name: "a", Render: render}, {Name: "a", Render: render}}}, "two sections"},
		{"task's name", plugins.Extension{Tasks: []plugins.Task{{Name: "", Run: work}}}, `task ""`},
		{"task without a function", plugins.Extension{Tasks: []plugins.Task{{Name: "a"}}}, "no function"},
		{"task too long", plugins.Extension{Tasks: []plugins.Task{{Name: "a", Run: work, Timeout: time.Hour}}}, "5m0s at most"},
		{"twice the task", plugins.Extension{Tasks: []plugins.Task{{Name: "a", Run: work}, {Name: "a", Run: work}}}, "two tasks"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.x.Check("weather")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "plugin weather") {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
		})
	}
	if err := with(func(*plugins.Tool) {}).Check("weather"); err != nil {
		t.Errorf("a good one: %v", err)
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
