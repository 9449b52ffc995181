package credentials

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretPrintsAsMaskInEveryFormat(t *testing.T) {
	type holder struct {
		Open   Secret
		closed Secret
	}
	s := NewSecret(canary)
	held := holder{s, s}
	record := account(1)
	record.Access, record.Refresh = s, s
	values := []any{s, &s, held, &held, []Secret{s}, map[string]Secret{"key": s}, record, &record, any(s),
		fmt.Errorf("wrap: %w", fmt.Errorf("%v %s %q", s, s, s)), errors.New(fmt.Sprint(s))}
	var out bytes.Buffer
	for _, v := range values {
		for _, verb := range "vTtbcdoOqxXUeEfFgGsp" {
			for _, flag := range []string{"", "+", "#", "-40", "040", " ", "."} {
				fmt.Fprintf(&out, "%"+flag+string(verb)+"\n", v)
			}
		}
		fmt.Fprintln(&out, v)
		_ = json.NewEncoder(&out).Encode(v)
		_ = xml.NewEncoder(&out).Encode(v)
		_ = gob.NewEncoder(&out).Encode(v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "value", v, slog.Any("group", slog.GroupValue(slog.Any("v", v))))
		slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "value", v)
		func() {
			defer func() { fmt.Fprintf(&out, "panic: %v %+v\n", recover(), v) }()
			panic(v)
		}()
	}
	for _, leak := range []string{"canary", fmt.Sprintf("%x", "canary"), fmt.Sprintf("%X", "canary"), fmt.Sprint([]byte("canary"))[1:20]} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q was printed", leak)
		}
	}
	if !strings.Contains(out.String(), mask) {
		t.Error("nothing was masked")
	}
	if s.Reveal() != canary {
		t.Error("Reveal gives something else")
	}
}

// A secret that was written somewhere as its mask is not read back as a token.
func TestAMaskIsNotReadBack(t *testing.T) {
	raw, err := json.Marshal(struct{ Access Secret }{NewSecret(canary)})
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ Access Secret }
	if err := json.Unmarshal(raw, &back); err == nil || back.Access.IsSet() {
		t.Errorf("%s was read back", raw)
	}
	if s := NewSecret(""); s.IsSet() || s.String() != "" || s.Reveal() != "" {
		t.Error("an empty secret counts as set")
	}
}
