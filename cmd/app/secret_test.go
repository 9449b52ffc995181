package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// A value that no form of token gives away, so that only the type can mask it.
const hidden = "correct horse battery staple"

func TestSecretPrintsAsMaskInEveryFormat(t *testing.T) {
	type holder struct {
		Open   Secret
		closed Secret
	}
	held := holder{NewSecret(hidden), NewSecret(hidden)}
	values := []any{held.Open, &held.Open, held, &held, []Secret{held.Open}, map[string]Secret{"key": held.closed}}
	var out bytes.Buffer
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		fmt.Fprintln(&out, v)
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			t.Fatal(err)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "value", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "value", v)
	}
	for _, leak := range []string{hidden, "correct", fmt.Sprintf("%x", hidden), fmt.Sprintf("%X", hidden)} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q stands in:\n%s", leak, out.String())
		}
	}
	if !strings.Contains(out.String(), mask) {
		t.Error("nothing was masked")
	}
	if held.Open.Reveal() != hidden {
		t.Error("Reveal gives something else")
	}
}

func TestSecretSaysWhetherItIsSet(t *testing.T) {
	if s := NewSecret(""); s.IsSet() || s.String() != "" || s.Reveal() != "" {
		t.Errorf("an empty secret counts as set: %q", s)
	}
	if s := NewSecret("x"); !s.IsSet() || s.String() != mask {
		t.Errorf("a secret does not count as set: %q", s)
	}
}

func TestShownURLHidesUserAndQuery(t *testing.T) {
	for raw, want := range map[string]string{
		"redis://localhost:6379/0":               "redis://localhost:6379/0",
		"redis://bob:" + "pass@localhost:6379/0": "redis://***@localhost:6379/0",
		"rediss://:" + "pass@h/1?password=other": "rediss://***@h/1?***",
		"http://host/v1?key=pass":                "http://host/v1?***",
		"redis://:pa%zzss@h":                     "*** (18 characters)",
	} {
		if got := shownURL(raw); got != want {
			t.Errorf("%s is shown as %s, want %s", raw, got, want)
		}
	}
}
