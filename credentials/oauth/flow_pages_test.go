package oauth_test

import (
	"context"
	"strings"
	"testing"

	"reeve/credentials/oauth"
	"reeve/runtime/chat"
)

// Nobody knows his workspace by its id.
func TestPageLeavesOutAWorkspaceWhoseNameIsNotKnown(t *testing.T) {
	f := newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme")}, func(o *oauth.Options) {
		o.Who = func(context.Context, chat.Actor) (string, string, error) { return "Alice", "", nil }
	})
	b := newBrowser(t)
	link := k.begin(alice, "acme")
	opened := b.get(link.URL)
	shown := b.get(f.allow(k, b.follow(link)))
	for _, p := range []page{opened, shown} {
		if !strings.Contains(p.text, "<strong>Alice</strong>") || strings.Contains(p.text, "workspace") || strings.Contains(p.text, ">"+string(alice.Team)+"<") {
			t.Errorf("the page is %s", p.text)
		}
	}
	shown.code(t)
}
