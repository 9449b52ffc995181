package histories

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	good = "good.example"
	evil = "evil.example"
)

// kinds are the tools: what they spend, change and send.
var kinds = map[string]plugins.Tool{
	"look":      {Effect: plugins.Pure, Access: plugins.Read},
	"jot":       {Effect: plugins.Idempotent, Access: plugins.Write},
	"fetch":     {Effect: plugins.Pure, Access: plugins.Read, Sends: true, Host: hostOf},
	"purge":     {Effect: plugins.Once, Access: plugins.Write, Asks: func(json.RawMessage) bool { return true }},
	"hub_read":  {Effect: plugins.Pure, Access: plugins.Read, Provider: "hub"},
	"lab_read":  {Effect: plugins.Pure, Access: plugins.Read, Provider: "lab"},
	"hub_write": {Effect: plugins.Once, Access: plugins.Write, Provider: "hub"},
	"hub_post":  {Effect: plugins.Once, Access: plugins.Write, Provider: "hub", Sends: true, Host: hostOf},
	"box_read":  {Effect: plugins.Pure, Access: plugins.Read, Provider: "box", Account: true, Scopes: []string{"read"}},
	"box_write": {Effect: plugins.Once, Access: plugins.Write, Provider: "box", Account: true, Scopes: []string{"read", "write"}},
}

// arguments are what the tools read. They take anything beside it.
type arguments struct {
	Host string `json:"host"`
}

func hostOf(raw json.RawMessage) (string, error) {
	var in arguments
	if err := json.Unmarshal(raw, &in); err != nil {
		return "", err
	}
	if in.Host == "" {
		return "", errors.New("no host is named")
	}
	return in.Host, nil
}

// made is a call that a tool was really called for.
type made struct {
	at    int // when, by the world's count
	tool  string
	turn  chat.TurnID
	call  string
	actor chat.Actor
	args  string // in one form
	host  string
	// spent is whose account was opened for it.
	spent chat.Actor
	// token stands in its result.
	token string
	// wrong is what was wrong with what the tool was told of its run.
	wrong string
}

// tools are the desk's, which call whatever world is played now.
func (l *lane) tools() []plugins.Tool {
	var list []plugins.Tool
	for name, t := range kinds {
		t.Name, t.Description, t.Parameters = name, "Takes anything.", json.RawMessage(`{"type":"object"}`)
		t.Call = func(_ context.Context, call plugins.Call, raw json.RawMessage) (plugins.Result, error) {
			return l.now.Load().make(name, call, raw), nil
		}
		list = append(list, t)
	}
	return list
}

// make is one call of a tool.
func (h *house) make(name string, call plugins.Call, raw json.RawMessage) plugins.Result {
	m := made{tool: name, turn: call.Turn, actor: call.Actor, args: oneForm(string(raw))}
	m.call = strings.TrimPrefix(call.Key, string(call.Turn)+"/")
	if kinds[name].Sends {
		m.host, _ = hostOf(raw)
	}
	if call.Account != nil {
		m.spent, _ = chat.ParseActor(call.Account.ID)
	}
	for _, e := range call.Transcript {
		if call.Instruction(e) && h.authorOf(e.Text) != call.Actor {
			m.wrong = fmt.Sprintf("%q counts as an instruction of %s", e.Text, call.Actor.Key())
		}
	}
	h.note(func() {
		h.count++
		m.at, m.token = h.count, fmt.Sprintf("[f%d]", h.count)
		if kinds[name].Provider != "" {
			m.token = fmt.Sprintf("[p%d]", h.count)
		}
		h.made = append(h.made, m)
	})
	return plugins.Result{Text: "did it: " + m.token}
}

// oneForm is JSON in one form, by which two calls can be compared.
func oneForm(raw string) string {
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	var value any
	if json.Unmarshal([]byte(raw), &value) != nil {
		return raw
	}
	text, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return string(text)
}
