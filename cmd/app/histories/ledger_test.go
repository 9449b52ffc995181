package histories

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// ledgerAt names where the processes write down each call before it is made.
const ledgerAt = "HISTORIES_LEDGER"

// desk is the plugin of the processes: the tools of the suite, but for those that
// need an account.
type desk struct{}

func (desk) Name() string { return "desk" }

// written is what a tool writes down of a call.
type written struct {
	Tool, Turn, Key, Actor, Arguments string
	// Instructions are the texts that count as instructions of the actor's.
	Instructions []string
}

func (desk) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	var tools []plugins.Tool
	for name, t := range kinds {
		if t.Account {
			continue
		}
		t.Name, t.Description, t.Parameters = name, "Takes anything.", json.RawMessage(`{"type":"object"}`)
		t.Call = func(ctx context.Context, call plugins.Call, raw json.RawMessage) (plugins.Result, error) {
			w := written{Tool: name, Turn: string(call.Turn), Key: call.Key, Actor: call.Actor.Key(), Arguments: string(raw)}
			for _, e := range call.Transcript {
				if call.Instruction(e) {
					w.Instructions = append(w.Instructions, e.Text)
				}
			}
			token, err := w.send(ctx)
			return plugins.Result{Text: "did it: " + token}, err
		}
		tools = append(tools, t)
	}
	return plugins.Extension{Tools: tools}, nil
}

// send writes a call down, and answers the token of its result.
func (w written) send(ctx context.Context) (token string, err error) {
	body, err := json.Marshal(w)
	if err != nil {
		return "", err
	}
	// That it was made must be known whatever becomes of the run.
	request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, os.Getenv(ledgerAt), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	return token, json.NewDecoder(response.Body).Decode(&token)
}

// ServeHTTP is the ledger.
func (s *street) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call written
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		s.now.Load().wrong("the ledger cannot be read: %v", err)
		return
	}
	h := s.now.Load()
	actor, _ := chat.ParseActor(call.Actor)
	m := made{at: int(s.Slack.Mark()), tool: call.Tool, turn: chat.TurnID(call.Turn), actor: actor, args: oneForm(call.Arguments)}
	m.call = call.Key[min(len(call.Key), len(call.Turn)+1):]
	if kinds[call.Tool].Sends {
		m.host, _ = hostOf(json.RawMessage(call.Arguments))
	}
	for _, text := range call.Instructions {
		if h.authorOf(text) != actor {
			m.wrong = fmt.Sprintf("%q counts as an instruction of %s", text, call.Actor)
		}
	}
	h.note(func() {
		h.count++
		m.token = fmt.Sprintf("[f%d]", h.count)
		if kinds[call.Tool].Provider != "" {
			m.token = fmt.Sprintf("[p%d]", h.count)
		}
		h.made = append(h.made, m)
	})
	s.dies()
	_ = json.NewEncoder(w).Encode(m.token)
	s.Wake()
}
