package tracker

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	public := listener.Addr().String()
	_ = listener.Close()
	ports := s.ports()
	p := apptest.NewPlace(t, simulator.Options{RetryScale: 0.01}, redistest.Shared(t),
		"MCP_CONFIG="+h.path, "PUBLIC_ADDR="+public, "PUBLIC_URL=http://"+public, portsVariable+fmt.Sprintf("=%d,%d", ports[0], ports[1]),
		"CREDENTIAL_KEYS=1:"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32)))
	fast := apptest.Tenth
	fast.PostRate, fast.ReadRate = 1000, 1000
	p.StartOther(t, fast)
	p.Until(t, "the server to be known", func() bool {
		return strings.Contains(strings.Join(p.Journal.Texts(), "\n"), "people can connect accounts at the MCP server")
	})
	p.Model.Then(scripted.Call("c1", "mcp_tracker__whoami", map[string]string{}), scripted.Answer("you are known there"))
	root := p.Slack.Say(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> who am I there?", simulator.SayOptions{})
	var card simulator.Message
	p.Until(t, "the link", func() bool {
		for _, m := range p.Slack.Messages(simulator.AliceDM, "") {
			if linkForm.Match(m.Blocks) {
				card = m
			}
		}
		return card.TS != ""
	})
	code := shownCode.FindStringSubmatch(s.browse(string(linkForm.Find(card.Blocks)), "alice-there"))
	if code == nil {
		t.Fatal("no code is shown")
	}
	if _, err := p.Slack.Click(simulator.Alice, simulator.AliceDM, card.TS, "card:connect:code"); err != nil {
		t.Fatal(err)
	}
	var view simulator.View
	p.Until(t, "the window", func() bool {
		for _, v := range p.Slack.Views(simulator.Alice) {
			if strings.Contains(string(v.View), `"code:`) {
				view = v
			}
		}
		return view.ID != ""
	})
	if _, err := p.Slack.SubmitView(t.Context(), simulator.Alice, view.ID, map[string]map[string]any{"code": {"code": map[string]any{"type": "plain_text_input", "value": code[1]}}}); err != nil {
		t.Fatal(err)
	}
	p.Until(t, "the answer", func() bool {
		return slices.Contains(p.Texts(simulator.General, root), "you are known there")
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 || slices.ContainsFunc(s.requests, func(r string) bool { return !strings.HasSuffix(r, " alice-there") }) {
		t.Errorf("the server was asked: %q", s.requests)
	}
	if strings.Contains(strings.Join(p.Journal.Texts(), "\n"), canary) {
		t.Error("the log holds a token")
	}
}
