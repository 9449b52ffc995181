package slackapp_test

import (
	"strings"
	"testing"

	"reeve/slackapp"
)

func TestControlWords(t *testing.T) {
	for _, c := range []struct {
		in           string
		forced, stop bool
		text         string
	}{
		{in: "hello", text: "hello"},
		{in: "<@UBOT> hello", text: "hello"},
		{in: "<@UBOT|reeve> hello", text: "hello"},
		{in: "<@UBOT><@UBOT> hello", text: "hello"},
		{in: "hello <@UBOT>", text: "hello <@UBOT>"},
		{in: "<@UBOT>, hello", text: "hello"},
		{in: "<@UBOT>: stop", stop: true, text: "stop"},
		{in: "<@UBOT>:tada:", text: ":tada:"},
		{in: "<@UBOTTLE> hello", text: "<@UBOTTLE> hello"},
		{in: "<@UALICE> stop", text: "<@UALICE> stop"},
		{in: "&lt;@UBOT&gt; stop", text: "&lt;@UBOT&gt; stop"},

		{in: "!! hello", forced: true, text: "hello"},
		{in: "!!hello", forced: true, text: "hello"},
		{in: "<@UBOT> !! hello", forced: true, text: "hello"},
		{in: "!! <@UBOT> hello", forced: true, text: "hello"},
		{in: "\n <@UBOT>\u00a0!!\n<@UBOT> hello\n", forced: true, text: "hello"},
		{in: "!!", forced: true},
		{in: "<@UBOT> !!", forced: true},
		{in: "!! !! hello", forced: true, text: "!! hello"},
		{in: "!!! hello", text: "!!! hello"},
		{in: "<@UBOT> !!!", text: "!!!"},
		{in: "!!!!", text: "!!!!"},
		{in: "!! !!!", forced: true, text: "!!!"},
		{in: "! ! hello", text: "! ! hello"},
		{in: "hello !!", text: "hello !!"},

		{in: "stop", stop: true, text: "stop"},
		{in: "Cancel!!!", stop: true, text: "Cancel!!!"},
		{in: "<@UBOT> ABORT…", stop: true, text: "ABORT…"},
		{in: "!! stop.", forced: true, stop: true, text: "stop."},
		{in: "!! <@UBOT> Stop ?", forced: true, stop: true, text: "Stop ?"},
		{in: "stop it", text: "stop it"},
		{in: "stopp", text: "stopp"},
		{in: "don't stop", text: "don't stop"},
		{in: "`stop`", text: "`stop`"},

		{in: "<@UBOT>"},
		{in: ""},
	} {
		got := slackapp.ParseControl(c.in, "UBOT")
		want := slackapp.Control{Forced: c.forced, Stop: c.stop, Text: c.text}
		if got != want {
			t.Errorf("ParseControl(%q) = %+v, want %+v", c.in, got, want)
		}
	}
}

func FuzzControl(f *testing.F) {
	for _, s := range []string{"<@UBOT> !! stop", "!!!", "!! <@UBOT|x>, hi", "<@UBOT", "stop!", "<@UBOT>:", "!!\u00a0cancel"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := slackapp.ParseControl(s, "UBOT")
		if !strings.HasSuffix(strings.TrimSpace(s), c.Text) {
			t.Fatalf("%q: text %q is no end of it", s, c.Text)
		}
		if strings.HasPrefix(c.Text, "<@UBOT>") {
			t.Fatalf("%q: a leading mention stands in %q", s, c.Text)
		}
		front := strings.TrimSuffix(strings.TrimSpace(s), c.Text)
		if c.Forced != strings.Contains(front, "!!") {
			t.Fatalf("%q: forced %v, but %q was taken off", s, c.Forced, front)
		}
		if strings.HasPrefix(c.Text, "!!") && !strings.HasPrefix(c.Text, "!!!") && !c.Forced {
			t.Fatalf("%q: a force was left in %q", s, c.Text)
		}
		// What is left has no control prefix but a second force, and says the
		// same when it is read again.
		if again := slackapp.ParseControl(c.Text, "UBOT"); !c.Forced && again != c {
			t.Fatalf("%q: read twice it differs: %+v, %+v", s, c, again)
		}
		if c.Stop && len(strings.Fields(c.Text)) == 0 {
			t.Fatalf("%q: a stop without a word", s)
		}
	})
}
