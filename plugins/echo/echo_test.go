package echo_test

import (
	"strings"
	"testing"

	"reeve/plugins"
	"reeve/plugins/echo"
	"reeve/plugins/plugintest"
	"reeve/runtime/chat"
)

func TestSuite(t *testing.T) {
	plugintest.Suite(t, echo.New, plugintest.Example("echo", `{"text":"hello"}`))
}

func TestItKeepsOnlyWhatTheActorHasTyped(t *testing.T) {
	host := plugintest.New(t, echo.New())
	alices := host.As(plugintest.Alice, "Repeat hello, please.").Sees(chat.Thread, plugintest.Carol, "goodbye")
	alices.Steers(plugintest.Bob, "and salute me too")
	for text, kept := range map[string]bool{"hello": true, "goodbye": false, "salute me": false, "never said": false} {
		if got := alices.Calls("echo", map[string]string{"text": text}); got.Error || got.Text != text {
			t.Errorf("%q came back as %+v", text, got)
		}
		found := false
		for _, value := range host.Store(plugintest.Alice).Values() {
			found = found || value == text
		}
		if found != kept {
			t.Errorf("%q is kept: %v", text, found)
		}
	}
	if stored := host.Store(plugintest.Bob).Values(); len(stored) > 0 {
		t.Errorf("Bob has %v", stored)
	}
}

func TestItRemindsItsOwnerAlone(t *testing.T) {
	host := plugintest.New(t, echo.New())
	host.As(plugintest.Alice, "Repeat one.").Calls("echo", `{"text":"one"}`)
	host.As(plugintest.Alice, "Repeat two.").Calls("echo", `{"text":"two"}`)
	notes := host.As(plugintest.Alice, "And now?").Notes("kept")
	if len(notes) != 1 || notes[0].Text != "Last repeated: two" || !notes[0].Private || notes[0].Author != plugintest.Alice {
		t.Errorf("Alice is reminded of %+v", notes)
	}
	for _, other := range []chat.Actor{plugintest.Bob, plugintest.AwayAlice} {
		if notes := host.As(other, "And now?").Notes("kept"); len(notes) > 0 {
			t.Errorf("%s is reminded of %+v", other.Key(), notes)
		}
	}
}

func TestItKeepsTheNewest(t *testing.T) {
	host := plugintest.New(t, echo.New(), plugintest.Env("ECHO_KEEP=2"))
	if wanted, _ := host.As(plugintest.Alice, "Hello.").Ends(plugins.Done); len(wanted) > 0 {
		t.Errorf("a turn without an echo wants %v", wanted)
	}
	for _, text := range []string{"one", "two", "three", "four"} {
		turn := host.As(plugintest.Alice, "Repeat "+text)
		turn.Calls("echo", map[string]string{"text": text})
		if wanted, err := turn.Ends(plugins.Done); err != nil || len(wanted) != 1 {
			t.Fatalf("tasks %v: %v", wanted, err)
		}
	}
	var kept []string
	for _, text := range host.Store(plugintest.Alice).Values() {
		kept = append(kept, text)
	}
	if all := strings.Join(kept, " "); len(kept) != 2 || !strings.Contains(all, "three") || !strings.Contains(all, "four") {
		t.Errorf("kept is %q", all)
	}
}

func TestNothingToRepeat(t *testing.T) {
	turn := plugintest.New(t, echo.New()).As(plugintest.Alice, "Repeat.")
	for _, arguments := range []string{`{"text":" \n"}`, `{}`, `{"text":"a","volume":11}`, `[]`} {
		if got := turn.Calls("echo", arguments); !got.Error || got.Text == "" {
			t.Errorf("%s: %+v", arguments, got)
		}
	}
}

func TestAWrongSettingStopsTheStart(t *testing.T) {
	for value, want := range map[string]string{"0": "ECHO_KEEP is 0", "many": "ECHO_KEEP cannot be read"} {
		if err := plugintest.Refused(t, echo.New(), plugintest.Env("ECHO_KEEP="+value)); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", value, err)
		}
	}
}
