package clock_test

import (
	"encoding/json"
	"testing"
	"time"

	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/plugins/plugintest"
)

func TestCurrentTime(t *testing.T) {
	moment := time.Date(2026, 3, 29, 0, 59, 0, 0, time.UTC) // a minute before Berlin's clocks go forward
	plugin := clock.New(func() time.Time { return moment })
	extension, err := plugin.Open(t.Context(), plugins.Services{})
	if err != nil {
		t.Fatal(err)
	}
	if err := extension.Check(plugin.Name()); err != nil {
		t.Fatal(err)
	}
	tool := extension.Tools[0]
	tests := []struct {
		name, zone, arguments, want string
		failed                      bool
	}{
		{"the actor's own zone", "Europe/Berlin", `{}`, "2026-03-29T01:59:00+01:00, Sunday, Europe/Berlin", false},
		{"another day than in UTC", "America/New_York", `{}`, "2026-03-28T20:59:00-04:00, Saturday, America/New_York", false},
		{"zone asked for", "Europe/Berlin", `{"zone":"Asia/Kolkata"}`, "2026-03-29T06:29:00+05:30, Sunday, Asia/Kolkata", false},
		{"unknown zone says so", "", `{}`, "2026-03-29T00:59:00Z, Sunday, UTC; this is UTC, because the person's own time zone is not known", false},
		{"nonsense from the profile", "Mars/Olympus", `{}`, "2026-03-29T00:59:00Z, Sunday, UTC; this is UTC, because the person's own time zone is not known", false},
		{"the server's zone is not told", "", `{"zone":"Local"}`, `There is no time zone named "Local"; zone takes an IANA name such as Europe/Berlin or America/New_York.`, true},
		{"no way out of the zone files", "", `{"zone":"../../etc/passwd"}`, `There is no time zone named "../../etc/passwd"; zone takes an IANA name such as Europe/Berlin or America/New_York.`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := tool.Call(t.Context(), plugins.Call{Run: plugins.Run{Zone: test.zone}}, json.RawMessage(test.arguments))
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != test.want || got.Error != test.failed {
				t.Errorf("got %q (error %v), want %q (error %v)", got.Text, got.Error, test.want, test.failed)
			}
		})
	}
}

func TestSuite(t *testing.T) {
	plugintest.Suite(t, func() plugins.Plugin { return clock.New(nil) },
		plugintest.Example("current_time", `{}`), plugintest.Example("current_time", `{"zone":"Asia/Kolkata"}`))
}
