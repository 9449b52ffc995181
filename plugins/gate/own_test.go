package gate_test

import (
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/plugins/gate"
)

// What is Reeve's own passes the same gate under a name that no plugin can take.
func TestOwnToolsHaveNamesThatNoPluginMayUse(t *testing.T) {
	g := build(t, gate.Options{}, tool(t, "weather", plugins.Pure, says("sun")))
	own := tool(t, plugins.HandBackTool, plugins.Idempotent, says("handed back"))
	if err := g.Set("kit", []plugins.Tool{own}, false); err == nil || !strings.Contains(err.Error(), "reserved") {
		t.Errorf("a plugin takes the name: %v", err)
	}
	if err := g.SetOwn([]plugins.Tool{own}); err != nil {
		t.Fatal(err)
	}
	if got := g.Call(t.Context(), call(plugins.HandBackTool, `{"city":"Bern"}`)); got.Error || got.Text != "handed back" {
		t.Errorf("it was answered %+v", got)
	}
	if got := g.Call(t.Context(), call(plugins.HandBackTool, `{"town":"Bern"}`)); !got.Error {
		t.Errorf("bad arguments passed: %+v", got)
	}
	if got := g.Call(t.Context(), only(call(plugins.HandBackTool, `{"city":"Bern"}`), "weather")); !got.Error {
		t.Errorf("it was not offered: %+v", got)
	}
	if err := g.Set("kit", nil, false); err != nil {
		t.Fatal(err)
	}
	if len(g.Offered(nil)) != 1 {
		t.Errorf("a plugin's change touched it: %v", g.Offered(nil))
	}
	bad := own
	bad.Description = ""
	if err := g.SetOwn([]plugins.Tool{bad}); err == nil {
		t.Error("a tool without a description was taken")
	}
}
