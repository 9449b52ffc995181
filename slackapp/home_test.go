package slackapp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"reeve/runtime/chat"
	"reeve/slackapp"
	"reeve/slackapp/simulator"
)

// shelf is a list of things that a person has.
type shelf struct {
	things map[chat.Actor][]string
	err    error
}

func (s *shelf) list() slackapp.HomeList {
	return slackapp.HomeList{
		Name: "shelf", Title: "Your things",
		Items: func(_ context.Context, person chat.Actor) ([]chat.HomeItem, error) {
			items := []chat.HomeItem{{Text: "all of them", Buttons: []chat.HomeButton{{Name: "export", Label: "Export"}, {Name: "drop_all", Label: "Drop all", Ask: "Really?"}}}}
			for _, thing := range s.things[person] {
				items = append(items, chat.HomeItem{ID: thing[:min(len(thing), 40)], Text: thing, Buttons: []chat.HomeButton{{Name: "drop", Label: "Drop"}}})
			}
			return items, s.err
		},
		Act: func(_ context.Context, person chat.Actor, button, item string) (string, error) {
			if button == "export" {
				return "all: " + strings.Join(s.things[person], ", "), nil
			}
			var left []string
			for _, thing := range s.things[person] {
				if !strings.HasPrefix(thing, item) {
					left = append(left, thing)
				}
			}
			s.things[person] = left
			return "", nil
		},
	}
}

func newHome(t *testing.T, s *shelf) (*slackapp.Home, *simulator.Server) {
	t.Helper()
	sim := simulator.ForTest(t, simulator.Options{})
	client := slackapp.NewClient(slackapp.ClientOptions{BotToken: sim.BotToken(), APIURL: sim.APIURL()})
	return &slackapp.Home{Client: client, Lists: []slackapp.HomeList{s.list()}, Log: slog.New(slog.DiscardHandler)}, sim
}

func tab(t *testing.T, sim *simulator.Server, user string) string {
	t.Helper()
	views := sim.Views(user)
	if len(views) == 0 {
		t.Fatal("no home tab")
	}
	return string(views[len(views)-1].View)
}

func TestAPersonSeesAndChangesHisOwnThings(t *testing.T) {
	alice, bob := chat.Person("T1", simulator.Alice), chat.Person("T1", simulator.Bob)
	s := &shelf{things: map[chat.Actor][]string{alice: {"a red door", "*a <!channel> trap*"}, bob: {"a blue door"}}}
	home, sim := newHome(t, s)
	home.Opened(t.Context(), alice)
	shown := tab(t, sim, simulator.Alice)
	if !strings.Contains(shown, "a red door") || strings.Contains(shown, "blue") || strings.Contains(shown, "mrkdwn") {
		t.Errorf("Alice sees %s", shown)
	}
	after, err := home.Click(t.Context(), slackapp.Click{By: alice, Action: "home:shelf:drop:a red door", Home: true})
	if err != nil || after == nil {
		t.Fatalf("the click: %v", err)
	}
	after(t.Context())
	if shown := tab(t, sim, simulator.Alice); strings.Contains(shown, "red") {
		t.Errorf("after it was dropped Alice sees %s", shown)
	}
	after, err = home.Click(t.Context(), slackapp.Click{By: alice, Action: "home:shelf:export:", Home: true})
	if err != nil {
		t.Fatal(err)
	}
	after(t.Context())
	if !strings.Contains(fmt.Sprint(sim.Messages(simulator.AliceDM, "")), "all:") {
		t.Errorf("Alice's DM holds %v", sim.Messages(simulator.AliceDM, ""))
	}
}

func TestButtonsThatAreNotOfTheHomeTabDoNothing(t *testing.T) {
	alice := chat.Person("T1", simulator.Alice)
	s := &shelf{things: map[chat.Actor][]string{alice: {"a red door"}}}
	home, _ := newHome(t, s)
	for _, c := range []slackapp.Click{
		{By: alice, Action: "home:shelf:drop:a red door"}, // below a message
		{By: alice, Action: "home:cellar:drop:a red door", Home: true},
		{By: alice, Action: "home:shelf:drop", Home: true},
		{By: alice, Action: "consent:shelf:drop:a red door", Home: true},
	} {
		if after, err := home.Click(t.Context(), c); err != nil || after != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if len(s.things[alice]) != 1 {
		t.Error("something was dropped")
	}
}

func TestAHomeTabKeepsWithinSlacksLimits(t *testing.T) {
	alice := chat.Person("T1", simulator.Alice)
	s := &shelf{things: map[chat.Actor][]string{}}
	for i := range 300 {
		s.things[alice] = append(s.things[alice], fmt.Sprintf("%d %s", i, strings.Repeat("very long ", 300)))
	}
	home, sim := newHome(t, s)
	home.Opened(t.Context(), alice)
	var view struct {
		Blocks []json.RawMessage `json:"blocks"`
	}
	shown := tab(t, sim, simulator.Alice)
	if err := json.Unmarshal([]byte(shown), &view); err != nil || len(view.Blocks) > 100 || len(shown) > 250<<10 || !strings.Contains(shown, "more. Ask me") {
		t.Errorf("%d blocks, %d bytes, %v", len(view.Blocks), len(shown), err)
	}
}

func TestAListThatCannotBeReadSaysSo(t *testing.T) {
	home, sim := newHome(t, &shelf{err: errors.New("the store is away")})
	home.Opened(t.Context(), chat.Person("T1", simulator.Alice))
	if shown := tab(t, sim, simulator.Alice); !strings.Contains(shown, slackapp.TextHomeBroken()) || strings.Contains(shown, "store is away") {
		t.Errorf("Alice sees %s", shown)
	}
}
