// Package clock is the plugin that knows what time it is.
package clock

import (
	"context"
	"fmt"
	"time"

	// The zones are compiled in: a container without zone files must not turn
	// everybody's time into UTC.
	_ "time/tzdata"

	"reeve/plugins"
)

// New is the plugin; now is its clock, time.Now when nil.
func New(now func() time.Time) plugins.Plugin {
	if now == nil {
		now = time.Now
	}
	return clock{now}
}

type clock struct{ now func() time.Time }

func (clock) Name() string { return "clock" }

type arguments struct {
	Zone string `json:"zone,omitempty" jsonschema:"IANA time zone such as Europe/Berlin; leave it out for the zone of the person you act for"`
}

func (c clock) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{Tools: []plugins.Tool{plugins.MustTool(plugins.Tool{
		Name:        "current_time",
		Description: "Tells the current date, time and weekday, in the time zone of the person you act for or in another one.",
		Effect:      plugins.Pure,
		Access:      plugins.Read,
		Timeout:     5 * time.Second,
	}, c.tell)}}, nil
}

func (c clock) tell(_ context.Context, call plugins.Call, in arguments) (plugins.Result, error) {
	if in.Zone != "" {
		zone, err := load(in.Zone)
		if err != nil {
			return plugins.Result{
				Error: true,
				Text:  fmt.Sprintf("There is no time zone named %q; zone takes an IANA name such as Europe/Berlin or America/New_York.", in.Zone),
			}, nil
		}
		return plugins.Result{Text: c.in(zone)}, nil
	}
	zone, err := load(call.Zone)
	if err != nil {
		return plugins.Result{Text: c.in(time.UTC) + "; this is UTC, because the person's own time zone is not known"}, nil
	}
	return plugins.Result{Text: c.in(zone)}, nil
}

// load reads a zone by its name. "Local" would be the server's zone, which is
// nobody's business.
func load(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("load zone %q: not a zone's name", name)
	}
	return time.LoadLocation(name)
}

func (c clock) in(zone *time.Location) string {
	now := c.now().In(zone)
	return fmt.Sprintf("%s, %s, %s", now.Format(time.RFC3339), now.Weekday(), zone)
}
