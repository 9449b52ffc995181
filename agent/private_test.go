package agent_test

import (
	"context"
	"testing"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// What the model writes for itself while something private is in its prompt is
// private as well; what it posts is not. In a conflict the prompt holds nothing
// private of earlier turns, and so what is written then is not private for it.
func TestS5_WhatFollowsSomethingPrivateIsPrivate(t *testing.T) {
	secret := answer("[secret]")
	secret.Turn, secret.Private, secret.Posted = "t_old", true, false
	section := chat.Entry{Turn: "t_now", Role: chat.UserRole, Origin: chat.Section, Text: "[diary]", Private: true}
	for name, c := range map[string]struct {
		before, own []chat.Entry
		want        bool
	}{
		"nothing private":             {nil, nil, false},
		"a private entry of old":      {[]chat.Entry{secret.Shown()}, nil, true},
		"a private section":           {[]chat.Entry{section}, nil, true},
		"a private result of its own": {nil, []chat.Entry{calls("", ask("m", "look")), func() chat.Entry { e := result("m", "look", "mail"); e.Private = true; return e }()}, true},
		"hidden by a conflict":        {[]chat.Entry{secret.Shown(), section}, []chat.Entry{steer(bob, "111.0", "hi")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			log := &scripted.Log{}
			turn := turn(append([]chat.Entry{request("110.0", "go")}, c.own...)...)
			turn.Before = c.before
			if err := loop(scripted.Says(wants(ask("a", "look")), says("done"))).Run(t.Context(), turn, log); err != nil {
				t.Fatal(err)
			}
			entries := log.Entries()
			if asked := entries[0]; asked.Private != c.want {
				t.Errorf("what asks for the call is private: %v", asked.Private)
			}
			if last := entries[len(entries)-1]; last.Private || !last.Posted {
				t.Errorf("the answer is %+v", last)
			}
		})
	}
}

// A result says whose rights it spent, where it has spent any.
func TestAResultNamesItsPrincipal(t *testing.T) {
	desk := tools
	desk.specs = []plugins.Spec{{Name: "look", Effect: plugins.Pure}, {Name: "mail", Effect: plugins.Once, Provider: "post"}}
	desk.call = func(_ context.Context, a plugins.Asked) plugins.Result {
		return plugins.Result{Text: a.Call.ID, Private: a.Call.ID == "read"}
	}
	log := &scripted.Log{}
	turn := turn(request("110.0", "go"), calls("", ask("lost", "mail")))
	model := scripted.Says(wants(ask("plain", "look"), ask("read", "mail"), ask("refused", "mail")), says("done"))
	if err := loop(model, func(o *agent.Options) { o.Tools = desk }).Run(t.Context(), turn, log); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range log.Entries() {
		if e.Role != chat.ToolRole {
			continue
		}
		got[e.CallID] = e.Principal != nil
		if e.Principal != nil && (*e.Principal != alice || !e.Private) {
			t.Errorf("%s spent the rights of %v, private %v", e.CallID, *e.Principal, e.Private)
		}
		if run := plugins.EntryOf(e, alice); run.Principal.IsZero() != (e.Principal == nil) {
			t.Errorf("a plugin is told that %s spent the rights of %q", e.CallID, run.Principal.Key())
		}
	}
	for call, want := range map[string]bool{"lost": true, "plain": false, "read": true, "refused": false} {
		if got[call] != want {
			t.Errorf("%s has a principal: %v, want %v", call, got[call], want)
		}
	}
}

// A tool that spends nobody's rights may repeat what it was asked with: what
// was private in the question is private in the answer.
func TestS5_AResultOfAPrivateQuestionIsPrivate(t *testing.T) {
	secret := result("m", "look", "[secret]")
	secret.Private = true
	for name, c := range map[string]struct {
		own  []chat.Entry
		want bool
	}{
		"nothing private": {nil, false},
		"private":         {[]chat.Entry{calls("", ask("m", "look")), secret}, true},
	} {
		t.Run(name, func(t *testing.T) {
			echo := tools
			echo.call = func(_ context.Context, a plugins.Asked) plugins.Result { return plugins.Result{Text: a.Call.Arguments} }
			log := &scripted.Log{}
			turn := turn(append([]chat.Entry{request("110.0", "go")}, c.own...)...)
			if err := loop(scripted.Says(wants(ask("a", "look")), says("done")), func(o *agent.Options) { o.Tools = echo }).Run(t.Context(), turn, log); err != nil {
				t.Fatal(err)
			}
			for _, e := range log.Entries() {
				if e.Role == chat.ToolRole && (e.Private != c.want || e.Principal != nil) {
					t.Errorf("the result is %+v", e)
				}
			}
		})
	}
}
