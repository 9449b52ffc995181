package injection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/agent"
	"reeve/memory"
	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/plugins/gate"
	"reeve/plugins/github"
	"reeve/plugins/mcp"
	"reeve/plugins/outbound"
	"reeve/plugins/schedule"
	"reeve/plugins/settings"
	"reeve/plugins/slack"
	"reeve/plugins/web"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// patience is how long anything is waited for.
const patience = 30 * time.Second

// place is one deployment in this process: the runtime on the embedded store, the
// gate, and the plugins as they are shipped, which speak with the outside over
// HTTP. It plays one case after the other, each with people and a channel of its
// own.
type place struct {
	*outside
	box      *mailbox.Box
	runtime  *runtime.Runtime
	gate     *gate.Gate
	memories *memory.Store
	sections []plugins.Section

	mu      sync.Mutex
	changed chan struct{}
	active  int // runs under way
	now     *play
}

func newPlace(t *testing.T) *place {
	box, err := mailbox.Open(mailbox.Options{CallTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Shutdown() })
	p := &place{outside: newOutside(t), box: box, changed: make(chan struct{}), memories: memory.NewStore(box.Redis(), "injection:", false)}
	p.gate = gate.New(gate.Options{
		Accounts: accounts{p}, Store: func(name string, who chat.Actor) plugins.Store { return box.PluginStore(name, who) },
		Slack: func(run plugins.Run) plugins.Slack { return readings{p, run} },
	})
	p.open(t)
	p.runtime, err = runtime.New(runtime.Options{
		Box: box, Slack: edge{p}, Agent: &worker{p, agent.NewLoop(agent.Options{Model: model{p}, Tools: p.gate})}, Bot: "UBOT",
		Policy:   runtime.Policy{SameActor: runtime.ModeSteer, CrossActor: runtime.ModeFollowUp, Stop: runtime.StopByAnyone},
		Sections: p.render, SweepEvery: time.Hour,
		Tools: func(chat.Actor) (names []string) {
			for _, spec := range p.gate.Offered(nil) {
				names = append(names, spec.Name)
			}
			return names
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.gate.SetOwn([]plugins.Tool{p.runtime.HandBackTool()}); err != nil {
		t.Fatal(err)
	}
	background(t, p.runtime.Run)
	return p
}

// background runs work until the test ends.
func background(t *testing.T, work func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = work(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// open opens the plugins.
func (p *place) open(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mcp.json")
	servers, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"tracker": map[string]any{
		"url": p.mcp, "headers": map[string]string{"X-Api-Key": p.mcpKey},
		"tools": map[string]any{"find": map[string]any{"access": "read", "effect": "pure", "sends": false}},
	}}})
	if err := os.WriteFile(file, servers, 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"GITHUB_API_URL=" + p.hub, "MCP_CONFIG=" + file}
	remembers := memory.New()
	remembers.Use(memory.Options{Store: p.memories, Model: minder{}})
	reach := outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: p.ports(), Resolver: p.outside}
	offered := make(chan struct{}, 10)
	for _, plugin := range []plugins.Plugin{
		clock.New(time.Now), slack.New(), web.With(web.Options{Outbound: reach}), schedule.New(), github.New(), mcp.New(mcp.Options{}), remembers,
	} {
		name := plugin.Name()
		x, err := plugin.Open(t.Context(), plugins.Services{
			Log: slog.New(slog.DiscardHandler), Now: time.Now, HTTP: reach.Client,
			Settings: func(into any) error { return settings.Read(name, environ, into) },
			Store:    func(who chat.Actor) plugins.Store { return p.box.PluginStore(name, who) },
			Offer: func(tools []plugins.Tool) error {
				defer func() { offered <- struct{}{} }()
				return p.gate.Set(name, tools, false)
			},
		})
		if err == nil {
			err = p.gate.Set(name, x.Tools, x.SharedStore)
		}
		if err != nil {
			t.Fatal(err)
		}
		p.sections = append(p.sections, x.Sections...)
		if name != "mcp" {
			continue
		}
		background(t, x.Run)
		select {
		case <-offered:
		case <-time.After(patience):
			t.Fatal("the MCP server is not connected")
		}
	}
}

// empty takes everything out of the store, whose time stands still: it has to look
// at all of its keys whenever that moves.
func (p *place) empty() {
	if err := p.box.Redis().FlushAll(context.Background()).Err(); err != nil {
		p.wrong("empty the store: %v", err)
	}
	if err := p.box.SetClock(time.Now()); err != nil {
		p.wrong("stop the clock: %v", err)
	}
}

// render is what the memory adds to a turn's prompt.
func (p *place) render(ctx context.Context, run plugins.Run) (entries []chat.Entry) {
	for _, s := range p.sections {
		notes, err := s.Render(ctx, plugins.Call{Run: run.Copy()})
		if err != nil {
			p.wrong("section %s: %v", s.Name, err)
		}
		for i, note := range notes {
			e := chat.Entry{
				ID: fmt.Sprintf("%s.%s.%d", run.Turn, s.Name, i), Turn: run.Turn, Role: chat.UserRole, Origin: chat.Section, Tool: "memory." + s.Name,
				Text: note.Text, Provenance: &chat.Provenance{Authority: chat.Context}, Private: note.Private, Time: note.Time,
			}
			if note.Author.IsWhole() {
				e.Provenance.Author = &note.Author
			}
			entries = append(entries, e)
		}
	}
	return entries
}

// accounts are people's at GitHub: everybody has one, and its token is his key.
type accounts struct{ *place }

func (accounts) Knows(provider string) bool { return provider == "github" }

func (accounts) Look(context.Context, chat.Actor, string, []string) (gate.Standing, error) {
	return gate.Standing{Connected: true, Name: "somebody"}, nil
}

func (accounts) Open(_ context.Context, use gate.Use) (*plugins.Account, func(), error) {
	client := &http.Client{Transport: bearer{use}}
	return &plugins.Account{ID: "1001", Name: "somebody", HTTP: client}, func() {}, nil
}

type bearer struct{ gate.Use }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.Access == plugins.Read && r.Method != http.MethodGet {
		return nil, errors.New("a call that reads sends GET")
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.Actor.Key())
	return http.DefaultTransport.RoundTrip(r)
}

// minder is the memory's own model: it keeps the very words that it is asked to
// keep, and its review passes everything.
type minder struct{}

func (minder) Complete(_ context.Context, _ chat.Actor, system, user string, _ json.RawMessage) (string, error) {
	var lines []struct {
		Entry, Memory int
		Author        string // of what is for a channel
		Asked         []string
	}
	if err := json.Unmarshal([]byte(user), &lines); err != nil {
		return "", err
	}
	type object = map[string]any
	var verdicts, memories []object
	for _, l := range lines {
		verdicts = append(verdicts, object{"memory": l.Memory, "sensitive": false, "of_others": false, "order": false})
		kind := "preference"
		if l.Author != "" {
			kind = "knowledge"
		}
		for _, words := range l.Asked {
			memories = append(memories, object{"kind": kind, "topic": "kept", "text": words, "evidence": []object{{"entry": l.Entry, "span": words}}})
		}
	}
	answer := object{"memories": slices.Clip(memories)}
	if len(lines) > 0 && lines[0].Memory > 0 {
		answer = object{"verdicts": verdicts}
	}
	text, err := json.Marshal(answer)
	return string(text), err
}
