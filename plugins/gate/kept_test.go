package gate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

// Records are kept of each call that spends rights, of each refusal of one, or of
// one that sends, and of each answer. A call of which none can be kept is not made.
func TestS3_WhatSpendsRightsIsOnRecordOrNotDone(t *testing.T) {
	var kept []string
	var broken error
	g := build(t, gate.Options{Policy: gate.Policy{MultiActorWrites: gate.BlockWrites}, Audit: func(_ context.Context, r plugins.AuditRecord) error {
		if broken != nil {
			return broken
		}
		kept = append(kept, fmt.Sprintf("%s %s %s %s %s", r.Kind, r.Tool, r.Decision, r.Rule, r.Principal.Key()))
		return nil
	}},
		account(t, "hub_read", plugins.Read), account(t, "hub_write", plugins.Write),
		sending(t, "post"), tool(t, "free", plugins.Pure, says("did it")))
	conflict := in(typed("do"), entry(chat.UserRole, chat.Steer, &bob))
	ask := func(r plugins.Run, name string) plugins.Result {
		asked := call(name, `{"city":"x"}`)
		asked.Run = r
		return g.Call(t.Context(), asked)
	}
	ask(in(typed("do")), "hub_read")
	ask(conflict, "hub_write")
	ask(conflict, "post")
	ask(in(typed("do")), "post")
	ask(conflict, "free")
	run := in(typed("do"))
	if err := g.Decided(t.Context(), run, chat.Decision{Wait: "3", Ending: chat.Ending{How: chat.ByAnswer, By: &alice}, Calls: []chat.Decided{
		{Call: "a", Tool: "hub_write", Provider: "hub", Allowed: true}, {Call: "b", Tool: "post"},
	}}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"call hub_read allowed reads T1:U1", "call hub_write refused blocked T1:U1", "call post refused conflict_sends ",
		"consent hub_write allowed answered T1:U1", "consent post refused answered ",
	}
	if !slices.Equal(kept, want) {
		t.Errorf("kept:\n%q, want\n%q", kept, want)
	}
	broken = errors.New("no store")
	if got := ask(in(typed("do")), "hub_read"); !got.Error || got.Text == "did it" {
		t.Errorf("without a record: %+v", got)
	}
	if got := ask(in(typed("do")), "free"); got.Text != "did it" {
		t.Errorf("what spends nobody's rights: %+v", got)
	}
}

func account(t *testing.T, name string, access plugins.Access) plugins.Tool {
	made := tool(t, name, plugins.Once, says("did it"))
	made.Provider, made.Access = "hub", access
	return made
}

func sending(t *testing.T, name string) plugins.Tool {
	made := tool(t, name, plugins.Once, says("did it"))
	made.Sends = true
	return made
}
