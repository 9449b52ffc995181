// Package erasing plays an operator who takes a person out of a deployment at
// work: people in a simulated Slack, the shipped binary that serves them, the
// shipped binary that erases, and a real Redis between the two.
package erasing

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/cmd/app/apptest/shipped"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

func TestMain(m *testing.M) { apptest.Main(m, nil) }

type place struct {
	*testing.T
	*apptest.Place
	space *redistest.Space
}

// everything is all that the deployment's Redis holds, a key and its value a line.
func (p place) everything() []string {
	p.Helper()
	ctx, client := context.Background(), p.space.Client()
	keys, err := client.Keys(ctx, p.space.Prefix()+":*").Result()
	if err != nil {
		p.Fatal(err)
	}
	var lines []string
	for _, key := range keys {
		value, err := redistest.Value(ctx, client, key)
		if err != nil && client.Exists(ctx, key).Val() == 0 {
			continue // a process is at work: it has gone meanwhile
		}
		if err != nil {
			p.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(key, " ", value))
	}
	return lines
}

func (p place) has(word string) bool {
	return slices.ContainsFunc(p.everything(), func(line string) bool { return strings.Contains(line, word) })
}

// none wants a word to stand nowhere.
func (p place) none(word string) {
	p.Helper()
	for _, line := range p.everything() {
		if strings.Contains(line, word) {
			p.Errorf("%q still stands in %s", word, line)
		}
	}
}

// Bob has a turn of his own, says something beside it, steers Alice's turn while
// it runs, and is taken out beside the replica that runs it. Alice notices nothing,
// and Bob can write again.
func TestAPersonIsTakenOutBesideAReplicaAtWork(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	p := place{t, apptest.NewPlace(t, simulator.Options{RetryScale: 0.01}, space, "MEMORY_EXTRACTION=off"), space}
	p.Start(t)
	say := func(who, root, text string) string {
		return p.Slack.Say(who, simulator.General, text, simulator.SayOptions{Thread: root})
	}
	p.Model.Then(scripted.Answer("Noted, zephyr one."))
	root := say(simulator.Bob, "", "<@UBOT> zephyr one please")
	p.Answered(t, simulator.General, root, "Noted, zephyr one.")
	say(simulator.Bob, root, "zephyr two, by the way")
	p.Until(t, "what he said beside it", func() bool { return len(p.Journal.With("message", "disposition", "context")) == 1 })

	held, release := scripted.Answer("For Alice: done.").Held()
	defer release()
	p.Model.Then(scripted.Call("now", "current_time", map[string]string{}), held)
	say(simulator.Alice, root, "<@UBOT> my marigold please")
	p.Asked(t, 3)
	say(simulator.Bob, root, "<@UBOT> !! zephyr three")
	say(simulator.Bob, root, "<@UBOT> zephyr four")
	p.Until(t, "both are taken in", func() bool {
		return len(p.Journal.With("message", "disposition", "steer_context"))+len(p.Journal.With("message", "disposition", "wait")) == 2
	})
	for _, word := range []string{"zephyr one", "zephyr two", "zephyr three", "zephyr four"} {
		if !p.has(word) {
			t.Fatalf("%q never stood in Redis: this test would show nothing", word)
		}
	}

	var export struct {
		Person string                       `json:"person"`
		Held   map[string][]json.RawMessage `json:"held"`
	}
	text := p.Reeve(t, "person", "T1:UBOB", "export")
	if err := json.Unmarshal([]byte(text), &export); err != nil || export.Person != "T1:UBOB" || len(export.Held["message"]) < 4 || len(export.Held["entry"]) == 0 {
		t.Errorf("the export: %v\n%s", err, text)
	}
	if strings.Contains(text, "marigold") {
		t.Errorf("Alice's words are in Bob's export:\n%s", text)
	}
	told := p.Reeve(t, "person", "T1:UBOB", "erase", "--yes")
	for _, want := range []string{"took out of T1:UBOB", "message", "fact", "run this again when it has ended", "stand in Slack until"} {
		if !strings.Contains(told, want) {
			t.Errorf("the erasure does not say %q:\n%s", want, told)
		}
	}
	p.none("zephyr")
	if !p.has("marigold") {
		t.Error("Alice's words are gone")
	}

	// Her turn ends well, and nothing of his comes back.
	p.Model.Otherwise(func(scripted.Request) scripted.Step { return scripted.Answer("Still here.") })
	release()
	p.Said(t, simulator.General, root, "For Alice: done.")
	p.none("zephyr")
	if told := p.Reeve(t, "person", "T1:UBOB", "erase", "--yes"); strings.Contains(told, "message ") || strings.Contains(told, "left:") {
		t.Errorf("a second erasure:\n%s", told)
	}
	for _, key := range p.space.Client().Keys(t.Context(), space.Prefix()+":*:dead").Val() {
		t.Errorf("records were set aside in %s", key)
	}
	say(simulator.Bob, root, "<@UBOT> are you there?")
	p.Said(t, simulator.General, root, "Still here.")
	raw, err := json.Marshal(p.LastAsked())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "zephyr") {
		t.Errorf("the model reads what was taken out: %s", raw)
	}
}

// A turn of his that runs stands in the way. When it is ended for that, its
// worker, which holds all of it in its memory, writes nothing of it back.
func TestAWorkerWritesNothingBackOfATurnThatWasEndedForAnErasure(t *testing.T) {
	t.Parallel()
	space := redistest.Shared(t)
	p := place{t, apptest.NewPlace(t, simulator.Options{RetryScale: 0.01}, space, "MEMORY_EXTRACTION=off"), space}
	p.Start(t)
	held, release := scripted.Answer("zephyr, indeed.").Held()
	defer release()
	p.Model.Then(held)
	root := p.Slack.Say(simulator.Bob, simulator.General, "<@UBOT> zephyr please")
	p.Asked(t, 1)
	refused := exec.CommandContext(t.Context(), shipped.Binary(t), "person", "T1:UBOB", "erase", "--yes")
	refused.Dir, refused.Env = t.TempDir(), p.Env
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "T1:UBOB has open turns, and nothing was taken out") {
		t.Fatalf("beside an open turn: %v\n%s", err, out)
	}
	if !p.has("zephyr") {
		t.Fatal("something was taken out")
	}
	told := p.Reeve(t, "person", "T1:UBOB", "erase", "--yes", "--abandon")
	if !strings.Contains(told, "waiting 10s for workers") || !strings.Contains(told, "took out of T1:UBOB") {
		t.Errorf("the erasure:\n%s", told)
	}
	p.none("zephyr")
	release()
	p.Quiet(time.Second)
	p.none("zephyr")
	if posts := p.Texts(simulator.General, root); len(posts) > 0 {
		t.Errorf("posted in the thread: %q", posts)
	}
	if again := p.Reeve(t, "person", "T1:UBOB", "erase"); !strings.Contains(again, "\nnothing\n") {
		t.Errorf("found again:\n%s", again)
	}
}
