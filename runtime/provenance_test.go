package runtime_test

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/runtime"
	"reeve/runtime/chat"
)

// TestS5_RandomConversations: people write, steer, edit and stop at random, in a
// window so small that turns are summarised, and replicas end in the middle of
// turns. Whatever is private carries a mark that says whose it is and of which
// turn, and the model repeats every mark that it sees wherever it writes for
// itself.
//
// No request holds a mark that its reader may not see, and no plugin is given
// one; only the actor's words of this turn stand as the request; and a run that
// goes on in another process shows what the one before it showed.
func TestS5_RandomConversations(t *testing.T) {
	asked := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { asked[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": "25", "rapid.nofailfile": "true"} {
		if !asked[name] {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	var seen sightings
	// What is seldom may take another round of dice.
	for rounds := 0; rounds < 5 && !t.Failed() && (rounds == 0 || !asked["rapid.checks"] && !seen.all()); rounds++ {
		rapid.Check(t, func(rt *rapid.T) {
			c := newConversation(t, rt, &seen)
			defer c.end()
			for range rapid.IntRange(10, 40).Draw(rt, "steps") {
				c.step()
			}
		})
	}
	if !asked["rapid.checks"] && !seen.all() {
		t.Errorf("this has not been played: %d resumed prompts, %d repeated calls, %d summaries, %d conflicts with something private before them, %d messages handed back",
			seen.resumed.Load(), seen.repeated.Load(), seen.summaries.Load(), seen.hidden.Load(), seen.handed.Load())
	}
}

// sightings count what must have been played.
type sightings struct{ resumed, repeated, summaries, hidden, handed atomic.Int64 }

func (s *sightings) all() bool {
	return s.resumed.Load() > 0 && s.repeated.Load() > 0 && s.summaries.Load() > 0 && s.hidden.Load() > 0 && s.handed.Load() > 0
}

// mark is what a private text carries.
var mark = regexp.MustCompile(`\[private of (\S+) in (t_\w+) \d+\]`)

func marks(text string) string { return strings.Join(mark.FindAllString(text, -1), " ") }

// inTurn finds the turn that a model call or a tool call is for.
type inTurn struct{}

// asking is a request that waits for an answer.
type asking struct {
	turn  agent.Turn
	req   agent.Request
	reply chan func() (agent.Reply, error)
}

type conversation struct {
	scripted.Unasked
	*play
	rt    *rapid.T
	seen  *sightings
	now   *replica
	asked chan asking
	// last is the request that waits, committed whether its turn has fixed what
	// it shows, and quiet whether nothing was said in it since.
	last      *asking
	committed map[chat.TurnID]bool
	quiet     bool

	generation atomic.Int64 // of the replica: names are others in each
	count      atomic.Int64
	mu         sync.Mutex
	wrong      []string
	runs       map[string]plugins.Run // by call
	// blanked are turns during which something was deleted: who goes on with
	// one does not read it any more.
	blanked map[chat.TurnID]bool
	hangs   chan struct{}
	said    []chat.Message
}

func newConversation(t *testing.T, rt *rapid.T, seen *sightings) *conversation {
	c := &conversation{play: newPlay(t), rt: rt, seen: seen, asked: make(chan asking, 100), committed: map[chat.TurnID]bool{}, runs: map[string]plugins.Run{}, blanked: map[chat.TurnID]bool{}, hangs: make(chan struct{}, 1)}
	c.prefix = fmt.Sprintf("%s:%d", c.prefix, time.Now().UnixNano())
	c.says(alice, "root")
	c.slack.thread = []chat.Message{c.remark(bob, "said before")}
	c.replace()
	c.write(c.says(alice, c.words(alice)))
	return c
}

func (c *conversation) remark(who chat.Actor, text string) chat.Message {
	m := c.says(who, text)
	m.Addressed = false
	return m
}

// replace ends the replica, if there is one, and starts another.
func (c *conversation) replace() {
	if c.now != nil {
		c.end()
	}
	c.generation.Add(1)
	c.now = c.replica(func(o *runtime.Options) {
		o.Slack = &forgetful{fakeSlack: c.slack, generation: c.generation.Load(), known: map[chat.Actor]bool{}}
		o.Agent = c
		o.ShutdownGrace = time.Millisecond
		o.HistoryTokens = 2000
		o.Sections = c.sections
	})
}

func (c *conversation) end() {
	c.now.end()
	_ = c.now.box.Shutdown()
}

// forgetful knows whom it was asked for, by a name of its own.
type forgetful struct {
	*fakeSlack
	generation int64
	mu         sync.Mutex
	known      map[chat.Actor]bool
}

func (f *forgetful) Facts(_ context.Context, who chat.Actor) (runtime.Facts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[who] = true
	return f.facts(who), nil
}

func (f *forgetful) Known(who chat.Actor) (runtime.Facts, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.facts(who), f.known[who]
}

func (f *forgetful) facts(who chat.Actor) runtime.Facts {
	return runtime.Facts{Standing: chat.MayInstruct, Name: fmt.Sprintf("%s the %d", who.User, f.generation), Zone: fmt.Sprintf("Zone/%d", f.generation)}
}

func (f *forgetful) Thread(ctx context.Context, in chat.Conversation, before chat.TS) ([]chat.Message, bool, error) {
	messages, _, err := f.fakeSlack.Thread(ctx, in, before)
	return messages, f.generation%2 == 1, err
}

// Run is the agent: the real loop, on this conversation's model and tools.
func (c *conversation) Run(ctx context.Context, turn agent.Turn, log agent.Log) error {
	loop := agent.NewLoop(agent.Options{Model: c, Tools: c, ContextTokens: 2500, MaxTurnTokens: 10_000_000, StopGrace: time.Second})
	return loop.Run(context.WithValue(ctx, inTurn{}, turn), turn, log)
}

// Complete hands a request to the test, but for summaries: they repeat all
// marks that they were made of.
func (c *conversation) Complete(ctx context.Context, req agent.Request) (agent.Reply, error) {
	turn := ctx.Value(inTurn{}).(agent.Turn)
	c.checkRequest(turn, req)
	if agent.IsSummary(req) {
		c.seen.summaries.Add(1)
		return agent.Reply{Text: "So far: " + marks(all(req)), Tokens: 1}, nil
	}
	a := asking{turn, req, make(chan func() (agent.Reply, error), 1)}
	c.asked <- a
	select {
	case reply := <-a.reply:
		return reply()
	case <-ctx.Done():
		return agent.Reply{}, ctx.Err()
	}
}

func all(req agent.Request) string {
	text := req.System
	for _, m := range req.Messages {
		text += "\n" + m.Content
		for _, call := range m.Calls {
			text += "\n" + call.Arguments
		}
	}
	return text
}

func (c *conversation) blame(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// checkRequest: what is private is its owner's, and in a conflict of this turn.
func (c *conversation) checkRequest(turn agent.Turn, req agent.Request) {
	conflict := false
	for _, m := range req.Messages {
		if !agent.IsBlock(m.Content) {
			if said, by, ok := strings.Cut(m.Content, " by "); m.Role == chat.UserRole && ok && strings.HasPrefix(said, "words") && !strings.HasPrefix(by, turn.Actor.Key()) {
				c.blame("in a turn of %s the request is %q", turn.Actor.Key(), m.Content)
			}
			continue
		}
		elements, err := agent.DecodeBlock(m.Content)
		if err != nil {
			c.blame("a block cannot be read: %v", err)
		}
		for _, e := range elements {
			conflict = conflict || e.Origin == string(chat.Steer) && e.Author != turn.Actor.Key()
		}
	}
	if conflict && slices.ContainsFunc(turn.Before, func(e chat.Entry) bool { return e.Private && e.Turn != turn.ID }) {
		c.seen.hidden.Add(1)
	}
	c.checkMarks("a request", all(req), turn.ID, turn.Actor, conflict)
}

func (c *conversation) checkMarks(what, text string, turn chat.TurnID, actor chat.Actor, conflict bool) {
	for _, m := range mark.FindAllStringSubmatch(text, -1) {
		if m[1] != actor.Key() || conflict && m[2] != string(turn) {
			c.blame("%s of %s (conflict %v) holds %s", what, actor.Key(), conflict, m[0])
		}
	}
}

// Offered and Call make this the tools: one spends nobody's rights, the other
// those of the actor.
func (c *conversation) Offered([]string) []agent.ToolSpec {
	return []agent.ToolSpec{{Name: "look", Effect: plugins.Pure}, {Name: "hang", Effect: plugins.Pure}, {Name: "mail", Effect: plugins.Pure, Provider: "post"}, {Name: plugins.HandBackTool, Effect: plugins.Idempotent}}
}

func (c *conversation) Call(ctx context.Context, a plugins.Asked) plugins.Result {
	c.checkRun(a.Run)
	key := plugins.CallKey(a.Run.Turn, a.Call.ID)
	c.mu.Lock()
	before, again := c.runs[key]
	c.runs[key] = a.Run
	blanked := c.blanked[a.Run.Turn]
	c.mu.Unlock()
	switch {
	case a.Call.Tool == "hang" && !again:
		c.hangs <- struct{}{}
		<-ctx.Done()
	case again && !blanked:
		c.seen.repeated.Add(1)
		if diff := cmp.Diff(before, a.Run); diff != "" {
			c.blame("made again after a restart, a call is shown something else (-before +after):\n%s", diff)
		}
	}
	if a.Call.Tool == plugins.HandBackTool {
		result, err := c.now.HandBackTool().Call(ctx, plugins.Call{Run: a.Run, Key: key}, []byte(a.Call.Arguments))
		if err != nil {
			c.blame("handing back: %v", err)
		}
		if !result.Error {
			c.seen.handed.Add(1)
		}
		return result
	}
	if a.Call.Tool == "mail" {
		return plugins.Result{Text: c.secret(a.Run.Actor, a.Run.Turn), Private: true}
	}
	return plugins.Result{Text: strings.Repeat("found ", 40) + marks(a.Call.Arguments)} // it repeats what it was asked
}

func (c *conversation) secret(who chat.Actor, turn chat.TurnID) string {
	return fmt.Sprintf("[private of %s in %s %d]", who.Key(), turn, c.count.Add(1))
}

func (c *conversation) checkRun(run plugins.Run) {
	var texts []string
	for _, e := range run.Transcript {
		texts = append(texts, e.Text)
		for _, call := range e.Calls {
			texts = append(texts, call.Arguments)
		}
		if e.Authority == chat.Instruction && (!run.Instruction(e) || e.Author != run.Actor || !strings.HasPrefix(e.Text, "words") && e.Text != "") {
			c.blame("an instruction that is none: %+v", e)
		}
		if spent := e.Principal == run.Actor; e.Origin == chat.Result && (spent != (e.Tool == "mail") || spent && !e.Private) {
			c.blame("a result that spent the rights of %q: %+v", e.Principal.Key(), e)
		}
	}
	c.checkMarks("a plugin's run", strings.Join(texts, "\n"), run.Turn, run.Actor, run.Conflict())
}

// sections are others each time that they are asked for.
func (c *conversation) sections(_ context.Context, run plugins.Run) []chat.Entry {
	c.checkRun(run)
	return []chat.Entry{
		{ID: string(run.Turn) + ".s.0", Turn: run.Turn, Role: chat.UserRole, Origin: chat.Section, Tool: "a.b", Text: fmt.Sprint("section ", c.count.Add(1))},
		{ID: string(run.Turn) + ".s.1", Turn: run.Turn, Role: chat.UserRole, Origin: chat.Section, Tool: "a.b", Text: c.secret(run.Actor, run.Turn), Private: true},
	}
}

func (c *conversation) words(who chat.Actor) string {
	return fmt.Sprintf("words %d by %s %s", c.count.Add(1), who.Key(), strings.Repeat("x", rapid.IntRange(0, 300).Draw(c.rt, "length")))
}

func (c *conversation) write(m chat.Message) chat.Disposition {
	c.said = append(c.said, m)
	return c.deliver(c.now, m).Disposition
}
