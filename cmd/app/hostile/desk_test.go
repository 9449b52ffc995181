package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

// made is a call that a tool was really called for.
type made struct {
	tool string
	// n is the number that the model gave the call; 0: none.
	n     int
	host  string // to where it sent
	actor chat.Actor
}

// arguments are what the tools read. They take anything beside it.
type arguments struct {
	N    int    `json:"n"`
	Host string `json:"host"`
}

// kinds are the tools: what they spend, change and send.
var kinds = map[string]plugins.Tool{
	"look":      {Effect: plugins.Pure, Access: plugins.Read},
	"jot":       {Effect: plugins.Idempotent, Access: plugins.Write},
	"fetch":     {Effect: plugins.Pure, Access: plugins.Read, Sends: true, Host: hostOf},
	"hub_read":  {Effect: plugins.Pure, Access: plugins.Read, Provider: "hub"},
	"hub_write": {Effect: plugins.Once, Access: plugins.Write, Provider: "hub"},
	"hub_post":  {Effect: plugins.Once, Access: plugins.Write, Provider: "hub", Sends: true, Host: hostOf},
	"keep":      {Effect: plugins.Idempotent, Access: plugins.Write},
}

func hostOf(raw json.RawMessage) (string, error) {
	var in arguments
	if err := json.Unmarshal(raw, &in); err != nil {
		return "", err
	}
	return in.Host, nil
}

// desk is a gate with tools that tell what they were called for, and the stores
// of everybody.
type desk struct {
	*gate.Gate
	mu      sync.Mutex
	made    []made
	stores  map[string]*store // by whom they belong to
	touched []string          // whose were handed out
}

func newDesk(policy gate.Policy, log *slog.Logger) *desk {
	d := &desk{stores: map[string]*store{}}
	d.Gate = gate.New(gate.Options{Policy: policy, Store: d.store, Logger: log})
	var tools []plugins.Tool
	for name, t := range kinds {
		t.Name, t.Description, t.Parameters = name, "Takes anything.", json.RawMessage(`{"type":"object"}`)
		t.Call = func(ctx context.Context, call plugins.Call, raw json.RawMessage) (plugins.Result, error) {
			return d.take(ctx, name, call, raw)
		}
		tools = append(tools, t)
	}
	if err := d.Set("desk", tools, false); err != nil {
		panic(err)
	}
	return d
}

func (d *desk) take(ctx context.Context, name string, call plugins.Call, raw json.RawMessage) (plugins.Result, error) {
	var in arguments
	_ = json.Unmarshal(raw, &in) // what is no number is none
	d.mu.Lock()
	d.made = append(d.made, made{name, in.N, in.Host, call.Actor})
	d.mu.Unlock()
	if name != "keep" {
		return plugins.Result{Text: "did it for " + call.Actor.Key()}, nil
	}
	secret, _, err := call.Store.Get(ctx, "secret")
	if err != nil {
		return plugins.Result{}, err
	}
	return plugins.Result{Text: string(secret)}, call.Store.Set(ctx, "secret", append(secret, '+'))
}

// calls are those that were made since the last time.
func (d *desk) calls() []made {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.made
	d.made = nil
	return all
}

func (d *desk) store(_ string, owner chat.Actor) plugins.Store {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touched = append(d.touched, owner.Key())
	if d.stores[owner.Key()] == nil {
		d.stores[owner.Key()] = &store{values: map[string][]byte{"secret": fmt.Appendf(nil, "the secret of <%s>", owner.Key())}}
	}
	return d.stores[owner.Key()]
}

// store is one person's.
type store struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (s *store) Get(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	return value, ok, nil
}

func (s *store) Set(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
	return nil
}

func (s *store) Add(context.Context, string, []byte) (bool, error) { return false, nil }
func (s *store) Delete(context.Context, string) error              { return nil }
func (s *store) Keys(context.Context) ([]string, error)            { return nil, nil }
