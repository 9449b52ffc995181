package runtime_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reeve/agent"
	"reeve/plugins"
	"reeve/runtime/chat"
)

// step answers the request that waits, or does something beside it.
func (c *conversation) step() {
	if c.last == nil {
		select {
		case a := <-c.asked:
			c.last, c.quiet = &a, true
		case <-time.After(bound):
			c.rt.Fatal("the model is not asked")
		}
	}
	c.mu.Lock()
	wrong := c.wrong
	c.mu.Unlock()
	if len(wrong) > 0 {
		c.rt.Fatal(strings.Join(wrong, "\n"))
	}
	acts := map[string]func(){
		"look": func() { c.call("look") }, "mail": func() { c.call("mail") },
		"answer": c.answer, "own steer": func() { c.steer(c.last.turn.Actor, false) },
		"forced": func() { c.steer(c.anybody(), true) }, "follow-up": func() { c.steer(c.anybody(), false) },
		"passive": func() { c.write(c.remark(c.anybody(), c.words(c.anybody()))) },
		"edit":    func() { c.change(chat.Edited) }, "delete": func() { c.change(chat.Deleted) },
		"restart": c.restart, "restart in a call": c.restartInACall, "stop": c.stop, "fail": c.fail,
	}
	names := slices.Sorted(maps.Keys(acts))
	acts["hand back"] = c.handBack
	names = append(names, "hand back", "look", "mail", "answer", "answer", "restart") // the more often
	acts[rapid.SampledFrom(names).Draw(c.rt, "act")]()
}

func (c *conversation) anybody() chat.Actor {
	return rapid.SampledFrom([]chat.Actor{alice, bob, carol}).Draw(c.rt, "who")
}

func (c *conversation) replies(f func() (agent.Reply, error)) {
	c.last.reply <- f
	c.last = nil
}

// call: what the model writes beside a call, and as its arguments, tells all
// that is private and that it has seen. With that it is of this turn.
func (c *conversation) call(tool string) {
	turn := c.last.turn.ID
	seen := mark.ReplaceAllString(marks(all(c.last.req)), fmt.Sprintf("[private of $1 in %s 0]", turn))
	c.committed[turn] = true
	c.replies(func() (agent.Reply, error) {
		return agent.Reply{Text: "I have seen " + seen, Tokens: 1, Calls: []chat.ToolCall{{Tool: tool, Arguments: fmt.Sprintf(`{"seen":%q}`, seen)}}}, nil
	})
}

// handBack: what somebody else has steered into the turn becomes his own request.
func (c *conversation) handBack() {
	for _, m := range c.last.req.Messages {
		if !agent.IsBlock(m.Content) {
			continue
		}
		elements, _ := agent.DecodeBlock(m.Content)
		for _, e := range elements {
			if e.Origin != string(chat.Steer) || e.Author == c.last.turn.Actor.Key() {
				continue
			}
			c.committed[c.last.turn.ID] = true
			c.replies(func() (agent.Reply, error) {
				return agent.Reply{Tokens: 1, Calls: []chat.ToolCall{{Tool: plugins.HandBackTool, Arguments: fmt.Sprintf(`{"message":%q}`, e.ID)}}}, nil
			})
			return
		}
	}
}

func (c *conversation) answer() {
	who := c.anybody()
	c.replies(func() (agent.Reply, error) {
		return agent.Reply{Text: "answer " + fmt.Sprint(c.count.Add(1)), Tokens: 1}, nil
	})
	c.write(c.says(who, c.words(who))) // whatever becomes of it, the model is asked again
}

func (c *conversation) steer(who chat.Actor, forced bool) {
	m := c.says(who, c.words(who))
	m.Forced = forced
	c.write(m)
	c.quiet = false
}

// change edits or deletes a message, but for one that began the open turn, whose
// deletion would stop it.
func (c *conversation) change(kind chat.ChangeKind) {
	m := rapid.SampledFrom(c.said).Draw(c.rt, "message")
	begun := slices.ContainsFunc(c.last.turn.Own, func(e chat.Entry) bool {
		return e.Message != nil && *e.Message == m.ID && e.Origin == chat.Request
	})
	if m.Stop || m.Change != nil || begun && kind == chat.Deleted {
		return
	}
	text := c.words(m.Author)
	c.mu.Lock()
	c.blanked[c.last.turn.ID] = true
	c.mu.Unlock()
	c.deliver(c.now, c.changed(m, kind, text))
}

func (c *conversation) stop() {
	m := c.says(c.last.turn.Actor, "stop")
	m.Stop = true
	c.write(m)
	c.last = nil
	who := c.anybody()
	c.write(c.says(who, c.words(who)))
}

func (c *conversation) fail() {
	c.replies(func() (agent.Reply, error) { return agent.Reply{}, &agent.Failure{Kind: agent.ModelRefused} })
	who := c.anybody()
	c.write(c.says(who, c.words(who)))
}

// restartInACall: the call is made again elsewhere. A steer that waits is taken
// there, and the name of its author is fixed with what the model answers next.
func (c *conversation) restartInACall() {
	quiet := c.quiet
	c.call("hang")
	select {
	case <-c.hangs:
	case <-time.After(bound):
		c.rt.Fatal("the call is not made")
	}
	c.replace()
	select {
	case a := <-c.asked:
		c.last, c.quiet = &a, quiet
	case <-time.After(bound):
		c.rt.Fatal("the model is not asked again")
	}
}

// restart: the turn goes on elsewhere, and shows the same.
func (c *conversation) restart() {
	before := *c.last
	for len(c.asked) > 0 {
		<-c.asked
	}
	c.replace()
	c.last = nil
	select {
	case a := <-c.asked:
		c.last = &a
	case <-time.After(bound):
		c.rt.Fatal("the model is not asked again")
	}
	if c.last.turn.ID != before.turn.ID || !c.quiet || c.blanked[before.turn.ID] || !c.committed[before.turn.ID] {
		c.quiet = true
		return
	}
	c.seen.resumed.Add(1)
	if diff := cmp.Diff(before.req, c.last.req); diff != "" {
		c.rt.Fatalf("after a restart the model is shown something else (-before +after):\n%s", diff)
	}
}
