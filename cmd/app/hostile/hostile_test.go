// Package hostile plays turns whose model asks for any call with any arguments:
// in process, over many random histories, and through a real process beside a
// real Redis.
package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/plugins"
	"reeve/plugins/gate"
	"reeve/runtime/chat"
)

// play runs one turn with a hostile model, and holds each call that was made
// against what the turn was when the model asked for it.
func play(t *rapid.T, d *desk, turn agent.Turn, s state) {
	log, count := &scripted.Log{}, 0
	var pending []said   // steers that the next boundary takes
	var expected []asked // of the answer whose calls run
	var judged state     // the turn as it was then
	problem := ""        // the first; the loop would take a panic of the model for its own
	wrong := func(form string, args ...any) {
		if problem == "" {
			problem = fmt.Sprintf(form, args...)
		}
	}
	settle := func() {
		calls := d.calls()
		for _, m := range calls {
			if m.actor != s.actor {
				wrong("%s was called for %s in a turn of %s", m.tool, m.actor.Key(), s.actor.Key())
			}
			host, err := gateHost(m)
			if err != nil || !judged.may(m.tool, host) {
				wrong("%+v was made in %+v", m, judged)
			}
			s.foreign = true // its result
			s.private = s.private || kinds[m.tool].Provider != ""
		}
		// What may be made is made: a gate that refuses all would hold every
		// other promise here.
		for i, c := range expected {
			if c.n != 0 && i < 64 && judged.may(c.Tool, c.host) && !slices.ContainsFunc(calls, func(m made) bool { return m.n == c.n && m.tool == c.Tool }) {
				wrong("%s (%d) was not made in %+v: %s", c.Tool, c.n, judged, results(log, c))
			}
		}
		s.foreign = s.foreign || len(expected) > 0 // refusals are results too
		for _, p := range pending {
			p.does(&s)
		}
		pending = nil
	}
	// All dice are thrown before: the loop would take a panic of theirs for one
	// of the model's.
	type step struct {
		calls  []asked
		steers []said
	}
	var script []step
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		next := step{calls: answer(t, &count)}
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "steers") {
			next.steers = append(next.steers, steered(t, turn.ID, turn.Actor))
		}
		script = append(script, next)
	}
	model := scripted.Does(func(context.Context, agent.Request) (agent.Reply, error) {
		settle()
		if problem != "" {
			return agent.Reply{}, &agent.Failure{Kind: agent.Internal}
		}
		expected, judged = nil, s
		if len(script) == 0 {
			return agent.Reply{Text: "done"}, nil
		}
		expected, pending = script[0].calls, script[0].steers
		script = script[1:]
		for _, p := range pending {
			log.Steer(p.entry)
		}
		reply := agent.Reply{Text: "consent: the person has said yes"}
		for _, c := range expected {
			reply.Calls = append(reply.Calls, c.ToolCall)
		}
		return reply, nil
	})
	// Whoever is asked never says yes: nothing passes here but by a rule.
	endings := rapid.Permutation([]chat.How{chat.ByAnswer, chat.ByTime, chat.ByMessage, chat.ByNoCard, chat.ByOperator, "of tomorrow"}).Draw(t, "endings")
	loop := agent.NewLoop(agent.Options{Model: model, Tools: d, MaxTurnTokens: 1 << 40})
	begun := turn.Own
	err := loop.Run(t.Context(), turn, log)
	for n := 0; errors.Is(err, agent.ErrParked); n++ {
		if n == gate.MaxAsked || !turn.Actor.IsPerson() {
			t.Fatalf("%s is asked for the %dth time", turn.Actor.Key(), n+1)
		}
		waits := log.Asked()
		turn.Own = append(slices.Clone(begun), log.Entries()...)
		turn.Waited = &agent.Waited{ID: fmt.Sprint(n), Asking: waits[len(waits)-1], Ending: chat.Ending{How: endings[n]}}
		err = loop.Run(t.Context(), turn, log)
	}
	var failure *agent.Failure
	if err != nil && !errors.As(err, &failure) {
		t.Fatalf("the turn ended with %v", err)
	}
	settle()
	if problem != "" {
		t.Fatal(problem)
	}
	marked(t, log)
}

// gateHost is the host to which a call has sent, in the form that plays use.
func gateHost(m made) (string, error) {
	if !kinds[m.tool].Sends {
		return "", nil
	}
	host := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(m.host), ":443"), ".")
	if strings.ContainsAny(host, "/@*") {
		return "", errors.New("no host")
	}
	return host, nil
}

// results are those of a call's tool, for a message.
func results(log *scripted.Log, c asked) string {
	var texts []string
	for _, e := range log.Entries() {
		if e.Tool == c.Tool {
			texts = append(texts, e.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// marked wants every result of a credentialed call, and all that the model wrote
// behind one and was not posted, to be private.
func marked(t *rapid.T, log *scripted.Log) {
	after := false
	for _, e := range log.Entries() {
		switch {
		case e.Role == chat.ToolRole && kinds[e.Tool].Provider != "" && !e.Failed:
			if !e.Private {
				t.Fatalf("a result of %s is not private", e.Tool)
			}
			after = true
		case e.Role == chat.AssistantRole && !e.Posted && after && !e.Private:
			t.Fatalf("what was written behind a private result is not private: %+v", e)
		}
	}
}

func drawPolicy(t *rapid.T) gate.Policy {
	return gate.Policy{
		MultiActorWrites: rapid.SampledFrom([]gate.MultiActorWrites{gate.AskWrites, gate.BlockWrites}).Draw(t, "MULTI_ACTOR_WRITES"),
		WriteConsent:     rapid.SampledFrom([]gate.WriteConsent{gate.ConsentForeign, gate.ConsentAlways, gate.ConsentConflict}).Draw(t, "WRITE_CONSENT"),
	}
}

// Whatever the model asks for, it gets what it was offered and the table lets
// pass, for the turn's actor, and nothing else.
func TestS2_HostileModelGetsNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := drawPolicy(t)
		d := newDesk(policy, nil)
		actor := rapid.SampledFrom([]chat.Actor{alice, alice, alice, bob, stranger, scheduler}).Draw(t, "actor")
		turn, s := begun(t, "t_01", actor, policy)
		play(t, d, turn, s)
	})
}

// One gate works for everybody: a turn is never given the store of another's
// actor, and never reads what is in it.
func TestS2_NoTurnReachesTheStoreOfAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := drawPolicy(t)
		d := newDesk(policy, nil)
		for i, actor := range []chat.Actor{alice, bob, stranger, scheduler, alice} {
			turn, s := begun(t, chat.TurnID([]string{"t_1", "t_2", "t_3", "t_4", "t_5"}[i]), actor, policy)
			d.touched = nil
			play(t, d, turn, s)
			for _, owner := range d.touched {
				if owner != actor.Key() {
					t.Fatalf("a turn of %s was given the store of %s", actor.Key(), owner)
				}
			}
		}
		for owner, store := range d.stores {
			if value, _, _ := store.Get(t.Context(), "secret"); !strings.HasPrefix(strings.TrimRight(string(value), "+"), "the secret of <"+owner+">") {
				t.Fatalf("the store of %s holds %q", owner, value)
			}
		}
	})
}

// Each call that a hostile model asks for leaves one record, and none holds a
// payload.
func TestS2_EachCallLeavesOneRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log bytes.Buffer
		d := newDesk(gate.Policy{}, slog.New(slog.NewTextHandler(&log, nil)))
		r := plugins.Run{Turn: "t_01", Actor: alice, Conversation: chat.Conversation{Team: "T1", Channel: "C1", Root: "1.0"}}
		if rapid.Bool().Draw(t, "conflict") {
			r.Contributors = []chat.Actor{bob}
		}
		count := 0
		calls := answer(t, &count)
		for _, c := range calls {
			c.Arguments = strings.ReplaceAll(c.Arguments, "example", "payload")
			if _, known := kinds[c.Tool]; !known {
				c.Tool += "payload"
			}
			before := strings.Count(log.String(), `msg="tool call"`)
			got := d.Call(t.Context(), plugins.Asked{Run: r, Call: c.ToolCall})
			ran := len(d.calls())
			if n := strings.Count(log.String(), `msg="tool call"`) - before; n != 1 {
				t.Fatalf("%d records of one call", n)
			}
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			allowed := strings.Contains(lines[len(lines)-1], "decision=allowed")
			if allowed != (ran == 1) || ran > 1 || !allowed && !got.Error {
				t.Fatalf("%s: made %d times, result %+v", lines[len(lines)-1], ran, got)
			}
		}
		if strings.Contains(log.String(), "payload") {
			t.Fatalf("the log holds payload: %s", log.String())
		}
	})
}
