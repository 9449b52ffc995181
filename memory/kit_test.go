package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m, redistest.NoSync()) }

var (
	alice = chat.Person("T1", "UALICE")
	bob   = chat.Person("T1", "UBOB")
	eve   = chat.Person("T2", "UEVE") // of another organisation
	// The store's own clock takes books away, so that this one must be near it.
	noon = time.Now().UTC().Truncate(time.Second)
)

// model is a model whose answers are given, and which notes what it read. A
// review passes everything unless the test answers itself.
type model struct {
	mu       sync.Mutex
	propose  func(input string) string
	review   func(input string) string
	proposed []string // inputs
	reviewed []string
	spent    bool // nobody may use more
	payers   []chat.Actor
}

func (m *model) Complete(_ context.Context, who chat.Actor, system, user string, schema json.RawMessage) (string, error) {
	if !json.Valid(schema) {
		return "", fmt.Errorf("the schema is no JSON: %s", schema)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.payers = append(m.payers, who); m.spent {
		return "", ErrSpent
	}
	if strings.Contains(system, "You review notes") {
		m.reviewed = append(m.reviewed, user)
		if m.review != nil {
			return m.review(user), nil
		}
		return passes(user), nil
	}
	m.proposed = append(m.proposed, user)
	if m.propose == nil {
		return `{"memories":[]}`, nil
	}
	return m.propose(user), nil
}

// passes lets every note pass.
func passes(input string) string {
	var notes []struct{ Memory int }
	_ = json.Unmarshal([]byte(input), &notes)
	var verdicts []verdict
	no := false
	for _, n := range notes {
		verdicts = append(verdicts, verdict{n.Memory, &no, &no, &no})
	}
	text, _ := json.Marshal(map[string]any{"verdicts": verdicts})
	return string(text)
}

// minds words what was asked for, whatever it is, and cites it.
func minds(kind Kind, topic, text string) func(string) string {
	return func(input string) string {
		var lines []struct {
			Entry int
			Asked []string
		}
		_ = json.Unmarshal([]byte(input), &lines)
		p := proposal{Kind: kind, Topic: topic, Text: text}
		for _, l := range lines {
			for _, span := range l.Asked {
				p.Evidence = append(p.Evidence, citation{l.Entry, span})
			}
		}
		return answers(p)(input)
	}
}

func answers(proposals ...proposal) func(string) string {
	text, _ := json.Marshal(map[string]any{"memories": proposals})
	return func(string) string { return string(text) }
}

func cites(kind Kind, topic, text string, entry int, span string) proposal {
	return proposal{Kind: kind, Topic: topic, Text: text, Evidence: []citation{{Entry: entry, Span: span}}}
}

// kit is the plugin with a store of its own on a real server.
type kit struct {
	*testing.T
	model *model
	store *Store
	x     plugins.Extension
	now   time.Time
}

func newKit(t *testing.T) *kit {
	t.Helper()
	space := redistest.Shared(t)
	k := &kit{T: t, model: &model{}, store: NewStore(space.Client(), space.Prefix(), true), now: noon}
	plugin := New()
	plugin.Use(Options{Store: k.store, Model: k.model, Extraction: true})
	x, err := plugin.Open(t.Context(), plugins.Services{
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: func() time.Time { return k.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Check("memory"); err != nil {
		t.Fatal(err)
	}
	k.x = x
	return k
}

// ends runs both tasks for a turn that has ended.
func (k *kit) ends(run plugins.Run) {
	k.Helper()
	for _, task := range k.x.Tasks {
		ended := plugins.Ended{Run: run, Outcome: plugins.Done, Key: plugins.TaskKey("memory", task.Name, run.Turn), Try: 1}
		if !task.Wants(ended) {
			continue
		}
		if err := task.Run(k.Context(), ended); err != nil {
			k.Fatalf("task %s: %v", task.Name, err)
		}
	}
}

var calls int

// call is a call of its own.
func (k *kit) call(run plugins.Run, tool string, arguments any) plugins.Result {
	k.Helper()
	calls++
	return k.callAs(fmt.Sprintf("call_%d", calls), run, tool, arguments)
}

// callAs is a call by its id; the same one is made again after a crash.
func (k *kit) callAs(id string, run plugins.Run, tool string, arguments any) plugins.Result {
	k.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		k.Fatal(err)
	}
	result, err := k.tool(tool).Call(k.Context(), plugins.Call{Run: run, Key: plugins.CallKey(run.Turn, id)}, raw)
	if err != nil {
		k.Fatalf("%s: %v", tool, err)
	}
	return result
}

func (k *kit) tool(name string) plugins.Tool {
	k.Helper()
	for _, t := range k.x.Tools {
		if t.Name == name {
			return t
		}
	}
	k.Fatalf("no tool %s", name)
	return plugins.Tool{}
}

// texts are what is remembered of an owner now.
func (k *kit) texts(o Owner) []string {
	k.Helper()
	held, err := k.store.Held(k.Context(), o, k.now)
	if err != nil {
		k.Fatal(err)
	}
	texts := []string{}
	for _, m := range held {
		texts = append(texts, m.Text)
	}
	return texts
}

func (k *kit) holds(o Owner, want ...string) {
	k.Helper()
	if got := k.texts(o); fmt.Sprint(got) != fmt.Sprint(want) {
		k.Errorf("%s has %q, want %q", o.Key(), got, want)
	}
}

// play is a turn under construction.
type play struct{ plugins.Run }

var plays int

func turnOf(actor chat.Actor) *play {
	plays++
	return &play{plugins.Run{
		Turn: chat.TurnID(fmt.Sprintf("t_%026d", plays)), Actor: actor, Visibility: chat.Public,
		Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1700000000.000001"},
	}}
}

func (p *play) add(origin chat.Origin, authority chat.Authority, author chat.Actor, text string, change ...func(*plugins.Entry)) *play {
	e := plugins.Entry{
		ID: fmt.Sprintf("%s.%d", p.Turn, len(p.Transcript)), Turn: p.Turn, Role: chat.UserRole, Origin: origin,
		Author: author, Authority: authority, ByRunActor: author == p.Actor, Text: text,
	}
	if origin != chat.Result {
		e.Message = &chat.MessageID{Team: "T1", Channel: "C1", TS: chat.TS(fmt.Sprintf("1700000000.%06d", len(p.Transcript)))}
	}
	for _, c := range change {
		c(&e)
	}
	p.Transcript = append(p.Transcript, e)
	p.Actors, p.Contributors = nil, nil
	for _, e := range p.Transcript {
		if e.Origin == chat.Steer && e.Author != p.Actor {
			p.Contributors = append(p.Contributors, e.Author)
		}
	}
	return p
}

func (p *play) asks(text string) *play {
	return p.add(chat.Request, chat.Instruction, p.Actor, text)
}

func (p *play) steers(author chat.Actor, text string) *play {
	authority := chat.Context
	if author == p.Actor {
		authority = chat.Instruction
	}
	return p.add(chat.Steer, authority, author, text)
}

func (p *play) thread(author chat.Actor, text string) *play {
	return p.add(chat.Thread, chat.Context, author, text)
}
