package schedule_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"reeve/plugins/plugintest"
	"reeve/plugins/schedule"
	"reeve/runtime/chat"
)

func host(t *testing.T, change ...plugintest.Option) *plugintest.Host {
	t.Helper()
	return plugintest.New(t, schedule.New(), change...) // it is Monday, 2 March 2026, 9:00 UTC
}

func in(zone string, turn *plugintest.Turn) *plugintest.Turn {
	turn.Zone = zone
	return turn
}

var idIn = regexp.MustCompile(`\br[a-z2-7]{8}\b`)

func TestAReminderIsKeptListedAndCancelledByItsOwnerAlone(t *testing.T) {
	h := host(t)
	alice := in("Europe/Berlin", h.As(plugintest.Alice, "remind me"))
	made := alice.Calls("schedule_create", `{"text":"stand-up","at":"tomorrow 9:00","every":"weekday"}`)
	id := idIn.FindString(made.Text)
	if made.Error || id == "" || !strings.Contains(made.Text, "Tue 3 Mar 2026, 09:00 (Europe/Berlin)") || !strings.Contains(made.Text, "Wed 4 Mar 2026, 09:00") {
		t.Fatalf("kept: %+v", made)
	}
	if got := alice.Calls("schedule_list", `{}`); !strings.Contains(got.Text, id) || !strings.Contains(got.Text, "stand-up") || !strings.Contains(got.Text, "every weekday") {
		t.Errorf("Alice's list: %q", got.Text)
	}
	bob := h.As(plugintest.Bob, "cancel hers")
	if got := bob.Calls("schedule_list", `{}`); got.Text != "There are none." {
		t.Errorf("Bob's list: %q", got.Text)
	}
	if got := bob.Calls("schedule_cancel", fmt.Sprintf(`{"id":%q}`, id)); !got.Error {
		t.Errorf("Bob cancelled it: %q", got.Text)
	}
	for _, odd := range []string{"../" + id, "job/" + id, plugintest.Alice.Key() + "/" + id, "", strings.Repeat("r", 5000)} {
		if got := bob.Calls("schedule_cancel", fmt.Sprintf(`{"id":%q}`, odd)); !got.Error {
			t.Errorf("Bob cancelled %q: %q", odd, got.Text)
		}
	}
	home := h.Extension().Home
	for _, who := range []chat.Actor{plugintest.Bob, plugintest.AwayAlice} {
		if _, err := home.Act(t.Context(), who, "cancel", id); err != nil {
			t.Error(err)
		}
	}
	items, err := home.Items(t.Context(), plugintest.Alice)
	if err != nil || len(items) != 1 || items[0].ID != id {
		t.Fatalf("Alice's home tab: %+v, %v", items, err)
	}
	if got := alice.Calls("schedule_cancel", fmt.Sprintf(`{"id":%q}`, id)); got.Error {
		t.Errorf("Alice: %q", got.Text)
	}
	if got := alice.Calls("schedule_list", `{}`); got.Text != "There are none." {
		t.Errorf("after that: %q", got.Text)
	}
	again := idIn.FindString(alice.Calls("schedule_create", `{"text":"x","at":"in 2 hours"}`).Text)
	if _, err := home.Act(t.Context(), plugintest.Alice, "cancel", again); err != nil {
		t.Error(err)
	}
	if got := alice.Calls("schedule_list", `{}`); got.Text != "There are none." {
		t.Errorf("after the button: %q", got.Text)
	}
}

func TestWhatCannotBeKeptIsSaid(t *testing.T) {
	h := host(t)
	for arguments, want := range map[string]string{
		`{"text":"x","at":"9:00"}`:                                                                        "time zone of the person",
		`{"text":"x","at":"9:00","zone":"Mars/Base"}`:                                                     "no time zone",
		`{"text":"x","at":"9:00","zone":"Local"}`:                                                         "no time zone",
		`{"text":"x","at":"2026-03-02T08:00","zone":"UTC"}`:                                               "past",
		`{"text":"x","at":"2040-03-02T08:00","zone":"UTC"}`:                                               "five years",
		`{"text":"x","at":"some day"}`:                                                                    "no time that is understood",
		`{"text":" ","at":"in 2 hours"}`:                                                                  "no text",
		`{"text":"x","at":"in 2 hours","every":"5 minutes"}`:                                              "15 minutes",
		`{"text":"x","at":"in 2 hours","every":"day"}`:                                                    "time zone of the person",
		`{"text":"x","at":"in 2 hours","times":3}`:                                                        "for what recurs",
		`{"text":"x","at":"in 2 hours","every":"day","times":-1}`:                                         "times",
		`{"text":"token xoxb-` + `123456789012-123456789012-abcdefghijklmnopqrstuvwx","at":"in 2 hours"}`: "password",
		`{"text":"` + strings.Repeat("x", 1001) + `","at":"in 2 hours"}`:                                  "1001 characters",
		`{"text":"x","at":"in 2 hours","every":"day","zone":"UTC","until":"2026-03-02T10:00"}`:            "never come",
	} {
		if got := h.As(plugintest.Alice, "remind me").Calls("schedule_create", arguments); !got.Error || !strings.Contains(got.Text, want) {
			t.Errorf("%.60s: %q", arguments, got.Text)
		}
	}
	for _, system := range []chat.Actor{chat.Scheduler, {}} {
		turn := h.As(system, "remind me")
		for tool, arguments := range map[string]string{"schedule_create": `{"text":"x","at":"in 2 hours"}`, "schedule_list": `{}`, "schedule_cancel": `{"id":"raaaaaaaa"}`} {
			if got := turn.Calls(tool, arguments); !got.Error {
				t.Errorf("%s for %q: %q", tool, system.Key(), got.Text)
			}
		}
	}
}

// A model that asks for ten thousand is given fifty, and somebody else's are none
// the fewer.
func TestAPersonHasFifty(t *testing.T) {
	h := host(t)
	kept := 0
	turn := h.As(plugintest.Alice, "remind me")
	for n := range 300 {
		if got := turn.Calls("schedule_create", fmt.Sprintf(`{"text":"again %d","at":"in 2 hours","every":"15 minutes"}`, n)); !got.Error {
			kept++
		} else if !strings.Contains(got.Text, "50 reminders already") {
			t.Fatalf("refused with %q", got.Text)
		}
	}
	if kept != 50 {
		t.Errorf("%d were kept", kept)
	}
	if got := h.As(plugintest.Bob, "me too").Calls("schedule_create", `{"text":"x","at":"in 2 hours"}`); got.Error {
		t.Errorf("Bob: %q", got.Text)
	}
}

// What was asked for in a private place does not come to stand in a public one.
func TestAListShowsWhatWasAskedForHere(t *testing.T) {
	h := host(t)
	private := h.As(plugintest.Alice, "remind me")
	private.Conversation.Channel, private.Visibility = "C0PRIVATE", chat.Private
	private.Calls("schedule_create", `{"text":"the secret merger","at":"in 2 hours"}`)
	here := h.As(plugintest.Alice, "list")
	here.Calls("schedule_create", `{"text":"stand-up","at":"in 3 hours"}`)
	if got := here.Calls("schedule_list", `{}`); strings.Contains(got.Text, "merger") || !strings.Contains(got.Text, "stand-up") || !strings.Contains(got.Text, "1 asked for in other channels") {
		t.Errorf("in a channel: %q", got.Text)
	}
	direct := h.As(plugintest.Alice, "list")
	direct.Conversation.Channel, direct.Visibility = "D0ALICE", chat.DM
	if got := direct.Calls("schedule_list", `{}`); !strings.Contains(got.Text, "merger") || !strings.Contains(got.Text, "stand-up") {
		t.Errorf("in a direct message: %q", got.Text)
	}
}

func TestTheSameCallKeepsOnce(t *testing.T) {
	h := host(t)
	turn := h.As(plugintest.Alice, "remind me")
	call, arguments := turn.Call(), json.RawMessage(`{"text":"x","at":"in 2 hours"}`)
	var ids []string
	for range 3 { // what was relative to the first time stays so
		result, err := h.Extension().Tools[0].Call(t.Context(), call, arguments)
		if err != nil || !strings.Contains(result.Text, "11:00") {
			t.Fatalf("%+v, %v", result, err)
		}
		ids = append(ids, idIn.FindString(result.Text))
		h.Advance(10 * time.Minute)
	}
	if list := turn.Calls("schedule_list", `{}`).Text; ids[0] != ids[2] || strings.Count(list, ids[0]) != 1 || strings.Contains(list, "\n") {
		t.Errorf("%q, and listed: %q", ids, list)
	}
}
