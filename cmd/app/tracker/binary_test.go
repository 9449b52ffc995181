package tracker

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

var linkForm = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/connect/[A-Za-z0-9_-]+`)

// The whole of Reeve: Alice asks for what an MCP server does only for people it
// knows. She gets a link, connects her account, and her turn goes on with it.
func TestTurnWaitsForAnAccountAtAServer(t *testing.T) {
	s := newSite(t)
	h := newHouse(t, s) // for its file alone
	public := apptest.FreeAddress(t)
	ports := s.ports()
	p := apptest.NewPlace(t, simulator.Options{RetryScale: 0.01}, redistest.Shared(t),
		"MCP_CONFIG="+h.path, "PUBLIC_ADDR="+public, "PUBLIC_URL=http://"+public, portsVariable+fmt.Sprintf("=%d,%d", ports[0], ports[1]),
		"CREDENTIAL_KEYS=1:"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32)))
	p.StartOther(t, apptest.Fast)
	p.Until(t, "the server to be known", func() bool {
		return strings.Contains(strings.Join(p.Journal.Texts(), "\n"), "people can connect accounts at the MCP server")
	})
	p.Model.Then(scripted.Call("c1", "mcp_tracker__whoami", map[string]string{}), scripted.Answer("you are known there"))
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> who am I there?", simulator.SayOptions{})
	card := p.Card(t, simulator.AliceDM, "/connect/")
	code := shownCode.FindStringSubmatch(s.browse(string(linkForm.Find(card.Blocks)), "alice-there"))
	if code == nil {
		t.Fatal("no code is shown")
	}
	p.EntersCode(t, simulator.Alice, card, code[1])
	p.Said(t, simulator.General, root, "you are known there")
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 || slices.ContainsFunc(s.requests, func(r string) bool { return !strings.HasSuffix(r, " alice-there") }) {
		t.Errorf("the server was asked: %q", s.requests)
	}
	if strings.Contains(strings.Join(p.Journal.Texts(), "\n"), canary) {
		t.Error("the log holds a token")
	}
}
