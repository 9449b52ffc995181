package hostile

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"reeve/cmd/app/apptest"
	"reeve/plugins"
)

func TestMain(m *testing.M) { apptest.Main(m, []plugins.Plugin{hub{}}) }

// hub is a plugin with the tools of the desk. It logs what it was called for.
type hub struct{}

func (hub) Name() string { return "hub" }

func (hub) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	var tools []plugins.Tool
	for name, t := range kinds {
		if name == "keep" {
			continue // what is stored is another matter
		}
		t.Name, t.Description, t.Parameters = name, "Takes anything.", json.RawMessage(`{"type":"object"}`)
		t.Call = func(_ context.Context, call plugins.Call, raw json.RawMessage) (plugins.Result, error) {
			services.Log.Info(calledFor, slog.String("tool", name), slog.String("for", call.Actor.Key()))
			if t.Provider == "" {
				return plugins.Result{Text: "looked"}, nil
			}
			return plugins.Result{Text: "private of " + call.Actor.Key()}, nil
		}
		tools = append(tools, t)
	}
	return plugins.Extension{Tools: tools}, nil
}

const calledFor = "called for somebody"
