// Package eval measures a model: where it would route messages, whether it knows
// who said what, and what it does with what others ask for in a turn that is not
// theirs. The cases are in agent/testdata. "make eval" measures a real model, and
// the tests here the measure itself, with models that know every answer, or none.
package eval

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"reeve/agent"
	"reeve/runtime/chat"
)

// Everybody in the cases is of one workspace; the actor is Alice.
const (
	team    chat.TeamID    = "T0HOME"
	channel chat.ChannelID = "C0TALK"
)

var alice = chat.Person(team, "U0K4T")

// score is how a model did in one kind of cases.
type score struct {
	what  string
	right int
	of    int
	notes []string // the cases that went wrong, and how
}

func (s score) share() float64 { return float64(s.right) / float64(max(s.of, 1)) }

// measure asks for each case, so many at a time. An empty problem is a pass.
func measure[C any](what string, atOnce int, cases []C, name func(C) string, ask func(C) (problem string)) score {
	s := score{what: what, of: len(cases)}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, c := range cases {
		group.Go(func() error {
			problem := ask(c)
			mu.Lock()
			defer mu.Unlock()
			if problem == "" {
				s.right++
			} else {
				s.notes = append(s.notes, name(c)+": "+strings.Join(strings.Fields(problem), " "))
			}
			return nil
		})
	}
	_ = group.Wait() // no case returns an error: what goes wrong is a problem of it
	slices.Sort(s.notes)
	return s
}

// table is the result, as people read it.
func table(scores []score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-44s %5s %5s %7s\n", "", "right", "of", "share")
	for _, s := range scores {
		fmt.Fprintf(&b, "%-44s %5d %5d %6.0f%%\n", s.what, s.right, s.of, 100*s.share())
	}
	for _, s := range scores {
		for _, note := range s.notes {
			fmt.Fprintf(&b, "  %s\n", note)
		}
	}
	return b.String()
}

// all is every measure. routes is the model that sorts messages, answers the one
// that answers people.
func all(ctx context.Context, t testing.TB, routes, answers agent.Model) []score {
	return slices.Concat(routing(ctx, routes, load[routed](t, "router.jsonl")),
		[]score{speakers(ctx, answers, load[talk](t, "speakers.jsonl"))},
		steering(ctx, answers, load[steered](t, "steered.jsonl")))
}

// load reads cases, one a line. A field that nobody knows is a mistake.
func load[C any](t testing.TB, name string) []C {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []C
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var c C
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&c); err != nil {
			t.Fatalf("%s, line %d: %v", name, len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// said is one message of a case.
type said struct {
	User   chat.UserID `json:"user"`
	Name   string      `json:"name"`
	Origin chat.Origin `json:"origin"`
	Text   string      `json:"text"`
}

// entry is the message as it stands in a turn, at its place n.
func (s said) entry(n int, authority chat.Authority) chat.Entry {
	m := chat.Message{
		ID:     chat.MessageID{Team: team, Channel: channel, TS: chat.TS(fmt.Sprintf("17000000%02d.000100", n))},
		Author: chat.Person(team, s.User), Name: s.Name, Text: s.Text,
	}
	e := m.Entries("", authority, s.Origin)[0]
	if s.Origin == chat.Request || s.Origin == chat.Steer {
		e.Turn = turnID
	}
	return e
}

const turnID chat.TurnID = "t_01jeva1eva1eva1eva1eva1eva"

func turn() agent.Turn {
	return agent.Turn{
		ID: turnID, Conversation: chat.Conversation{Team: team, Channel: channel, Root: "1700000000.000100"},
		Visibility: chat.Public, Actor: alice, ActorName: "Alice", Bot: "U0REEVE",
	}
}
