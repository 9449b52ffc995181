package connecting

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

func tell(id, path, how string) scripted.Step {
	return scripted.Call(id, "nosy_tell", map[string]string{"path": path, "how": how})
}

// plays has Alice ask, and waits for the answer.
func (p place) plays(answer string, calls ...scripted.Step) {
	p.Helper()
	p.Model.Then(append(calls, scripted.Answer(answer))...)
	root := p.asks(simulator.Alice, "please: "+answer)
	p.Said(p.T, simulator.General, root, answer)
}

// connects has Alice open the link of her card until a page shows a code, and enter
// it. pages is all that she was shown.
func (p place) connects(other string) (ts, pages string) {
	p.Helper()
	card := p.linkAfter(other)
	for range 5 {
		page := p.browser(p.link(card), "alice")
		pages += page
		if code := codeForm.FindStringSubmatch(page); code != nil {
			if answer := p.EntersCode(p.T, simulator.Alice, card, code[1]); strings.Contains(answer, "errors") {
				p.Fatalf("the code is answered %s", answer)
			}
			return card.TS, pages
		}
	}
	p.Fatalf("no page shows a code: %s", pages)
	return "", ""
}

// A provider that writes tokens into all its answers, and a plugin that tells all
// that it gets: what people's accounts hold stands nowhere but at the provider.
func TestS4_NoCredentialLeavesTheVault(t *testing.T) {
	redis := redistest.Start(t, redistest.Config("rdbcompression", "no"))
	g, roots := newGossip(t)
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	file := filepath.Join(t.TempDir(), "gossip.json")
	text := fmt.Sprintf(`{"title": "Acme", "auth_url": "%[1]s/authorize", "token_url": "%[1]s/token", "revoke": {"url": "%[1]s/revoke"}, "auth_style": "header",
		"user_info": {"url": "%[1]s/me", "id": "id", "name": "name"}, "hosts": ["127.0.0.1"], "pkce": true}`, g.base)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := placeAt(t, redis, g.base, roots, "ACME_PROVIDER_FILE="+file, "ACME_CLIENT_SECRET="+g.secret, "LOG_LEVEL=debug", "HTTP_ADDR=127.0.0.1:0",
		"CREDENTIAL_KEYS=1:"+base64.StdEncoding.EncodeToString(key))
	p.allow = g.allow
	process := p.StartOther(t, apptest.Fast)
	hay := map[string]string{}

	// Two attempts fail at the provider; then the account is used, in every way.
	g.fail("/token", "/me")
	p.Model.Then(tell("c1", "/api/whoami", ""), tell("c2", "/api/fault", ""), tell("c3", "/api/whoami", "error"), tell("c4", "/api/whoami", "panic"), scripted.Answer("told"))
	root := p.asks(simulator.Alice, "tell all")
	first, pages := p.connects("")
	p.Said(t, simulator.General, root, "told")
	p.Slack.OpenHome(simulator.Alice, "home")
	p.Until(t, "the home tab", func() bool {
		for _, v := range p.Slack.Views(simulator.Alice) {
			hay["the view "+v.ID+v.Hash] = string(v.View)
		}
		return strings.Contains(fmt.Sprint(hay), "alice of Acme")
	})
	client := redis.Client()
	if err := client.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	hay["Redis's snapshot with the account"] = files(t, redis.Dir())["dump.rdb"]

	g.refuse()
	p.plays("refreshed", tell("c5", "/api/whoami", ""))
	p.plays("used again", tell("c6", "/api/whoami", ""))
	g.refuse()
	p.plays("refused", tell("c7", "/api/whoami", ""))
	p.Model.Then(tell("c8", "/api/whoami", ""), scripted.Answer("connected again"))
	root = p.asks(simulator.Alice, "once more")
	_, more := p.connects(first)
	p.Said(t, simulator.General, root, "connected again")
	g.refuse()
	g.fail("/token")
	p.plays("not refreshed", tell("c9", "/api/whoami", "error"))
	connected := p.Card(t, simulator.AliceDM, "card:connected:disconnect")
	p.Clicks(t, simulator.Alice, connected, "card:connected:disconnect")
	p.Until(t, "it is disconnected", func() bool {
		return strings.Contains(p.slack(), "is disconnected: I have forgotten it.")
	})
	for what, least := range map[string]int{"/token 200": 4, "/token 400": 2, "/me 500": 1, "/me 200": 2, "/revoke 503": 4, "/api/fault 500": 1, "/api/whoami 200": 6, "/api/whoami 401": 3} {
		path, status := "", 0
		_, _ = fmt.Sscan(what, &path, &status)
		if got := g.answered(path, status); got < least {
			t.Errorf("%s was answered %d times, want %d", what, got, least)
		}
	}

	p.look(hay, process, pages+more)
	process.Signal(t, syscall.SIGQUIT)
	if _, err := process.End(apptest.Patience); err != nil {
		t.Fatal(err)
	}
	if err := client.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	redis.Stop()
	for name, text := range files(t, redis.Dir()) {
		hay["Redis's file "+name] = text
	}
	hay["the log"] = strings.Join(p.Journal.Texts(), "\n")
	p.nowhere(g, key, hay)
}
