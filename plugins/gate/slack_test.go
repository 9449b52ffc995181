package gate_test

import (
	"context"
	"testing"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

// reader is Slack for one actor.
type reader struct {
	plugins.Slack
	actor chat.Actor
}

// Only a tool that says that it spends the actor's membership is handed a
// reader, and it is the actor's.
func TestOnlySlacksToolsReadSlack(t *testing.T) {
	for _, provider := range []string{"", "hub", plugins.SlackProvider} {
		var given plugins.Slack
		tool, err := plugins.NewTool(plugins.Tool{
			Name: "look", Description: "d", Effect: plugins.Pure, Access: plugins.Read, Provider: provider,
		}, func(_ context.Context, call plugins.Call, _ arguments) (plugins.Result, error) {
			given = call.Slack
			return plugins.Result{Text: "ok"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		g := build(t, gate.Options{Slack: func(run plugins.Run) plugins.Slack { return reader{actor: run.Actor} }}, tool)
		if result := g.Call(t.Context(), call("look", `{"city":"Bonn"}`)); result.Error {
			t.Fatalf("%q: %s", provider, result.Text)
		}
		got, ok := given.(reader)
		if ok != (provider == plugins.SlackProvider) || ok && got.actor != run.Actor {
			t.Errorf("a tool of %q is given %+v", provider, given)
		}
	}
}
