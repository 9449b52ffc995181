package gate_test

import (
	"context"
	"slices"
	"testing"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

// A call acts for its turn's actor and has his store, whoever has written into
// the turn and whatever the arguments say. Only a plugin that says so has one
// store for all.
func TestS1_CallIsForTheActorOfItsTurn(t *testing.T) {
	var handed []string
	g := gate.New(gate.Options{Store: func(plugin string, actor chat.Actor) plugins.Store {
		handed = append(handed, plugin+" "+actor.Key())
		return nil
	}})
	var called []plugins.Call
	look := func(name, provider string) plugins.Tool {
		made := tool(t, name, plugins.Pure, func(_ context.Context, call plugins.Call, _ arguments) (plugins.Result, error) {
			called = append(called, call)
			return plugins.Result{Text: "ok"}, nil
		})
		made.Provider = provider
		return made
	}
	for plugin, made := range map[string]plugins.Tool{"own": look("mine", "hub"), "all": look("ours", ""), "conflict": look("calm", "")} {
		if err := g.Set(plugin, []plugins.Tool{made}, plugin == "all"); err != nil {
			t.Fatal(err)
		}
	}
	steer := entry(chat.UserRole, chat.Steer, &bob)
	for name, r := range map[string]plugins.Run{"mine": in(typed("go")), "ours": in(typed("go"), steer), "calm": in(typed("go"), steer)} {
		asked := call(name, `{"city":"T1:U2"}`)
		asked.Run = r
		if got := g.Call(t.Context(), asked); got.Error {
			t.Errorf("%s: %+v", name, got)
		}
	}
	slices.Sort(handed)
	if want := []string{"all ", "conflict T1:U1", "own T1:U1"}; !slices.Equal(handed, want) {
		t.Errorf("stores handed out: %q, want %q", handed, want)
	}
	for _, call := range called {
		if call.Actor != alice || call.Key != "t_01j/c1" {
			t.Errorf("it was called for %s as %s", call.Actor.Key(), call.Key)
		}
	}
}
