package oauth_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"reeve/credentials"
	"reeve/credentials/oauth"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// oddly is a name that Markdown would read something in.
const oddly = "octo_*cat*_(1.0)"

// What the button below a message answers is posted as it is, and what the home tab
// answers as Markdown.
func TestADisconnectedAccountIsNamedAsItIs(t *testing.T) {
	f := newFake(t)
	f.user["name"] = oddly
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	k.connect(f, "acme")
	sentence, err := k.DisconnectAccount(t.Context(), alice, "acme", oddly)
	if err != nil || !strings.HasPrefix(sentence, "Your account "+oddly+" at Acme is disconnected") || strings.Contains(sentence, `\`) {
		t.Errorf("by the card: %q, %v", sentence, err)
	}
	k.connect(f, "acme")
	sentence, err = k.Home().Act(t.Context(), alice, "disconnect", "acme")
	if err != nil || !strings.HasPrefix(sentence, `Your account octo\_\*cat\*\_\(1\.0\) at Acme is disconnected`) {
		t.Errorf("in the home tab: %q, %v", sentence, err)
	}
}

// Each end of a connection says in the audit log by what, and who; one that was
// there already, or none at all, is no record.
func TestConnectionsAndTheirEndsAreAudited(t *testing.T) {
	f := newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	for _, end := range []func() (string, error){
		func() (string, error) { return k.Home().Act(t.Context(), alice, "disconnect", "acme") },
		func() (string, error) { return k.DisconnectAccount(t.Context(), alice, "acme", "octocat") },
		func() (string, error) { return k.Disconnect(t.Context(), alice, "acme", oauth.ViaOperator) },
	} {
		k.connect(f, "acme")
		for range 2 {
			if _, err := end(); err != nil {
				t.Error(err)
			}
		}
	}
	k.wantAudited("connect browser_code", "disconnect home", "connect browser_code", "disconnect card", "connect browser_code", "disconnect operator")
	err := k.audit.Read(t.Context(), credentials.AuditFilter{}, func(r plugins.AuditRecord) bool {
		connects, operator := r.Kind == plugins.AuditConnect, r.Rule == string(oauth.ViaOperator)
		if connects != (r.Turn == "t_1") || connects != (r.Conversation == thread) || (r.Actor == alice) == operator || (r.By == alice) == operator {
			t.Errorf("%+v", r)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

// Whoever guesses at a code leaves a record, once for each attempt.
func TestGuessedCodesAreAudited(t *testing.T) {
	f := newFake(t)
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	link, b := k.begin(alice, "acme"), newBrowser(t)
	for range 2 {
		b.get(f.allow(t, b.follow(link))).code(t)
		for range 5 {
			if _, _, err := k.Enter(t.Context(), link.Flow, alice, "0000-0000"); err != nil {
				t.Fatal(err)
			}
		}
	}
	k.wantAudited("!connect wrong_code", "!connect wrong_code")
}

// A connection of which no record can be kept is not made, until one can; an account
// is taken out though no record can be.
func TestWithoutAnAuditLog(t *testing.T) {
	f := newFake(t)
	var full error = errors.New("no room")
	k := newKit(t, []oauth.Configured{f.provider("acme")})
	providers := []oauth.Configured{f.provider("acme")}
	deaf := k.another(providers, func(o *oauth.Options) {
		o.Audit = func(ctx context.Context, r plugins.AuditRecord) error { return full }
	})
	link, b := k.begin(alice, "acme"), newBrowser(t)
	code := b.get(f.allow(t, b.follow(link))).code(t)
	if _, _, err := deaf.Enter(t.Context(), link.Flow, alice, code); err != nil {
		t.Fatal(err)
	}
	if _, there := k.record(alice, "acme"); there {
		t.Error("connected without a record")
	}
	k.recover(providers)
	if _, there := k.record(alice, "acme"); !there {
		t.Error("it is not connected when a record can be kept")
	}
	k.wantEnded(chat.ByAccount)
	if _, err := deaf.Disconnect(t.Context(), alice, "acme", oauth.ViaHome); err != nil {
		t.Error(err)
	}
	if _, there := k.record(alice, "acme"); there {
		t.Error("not disconnected")
	}
	if !strings.Contains(k.log.String(), "audit record not kept") {
		t.Errorf("the log: %s", k.log)
	}
}
