package schedule

import (
	"fmt"
	"regexp"
	"time"

	// The zones are compiled in: a container without zone files must not turn
	// everybody's time into UTC.
	_ "time/tzdata"
)

// offsetForm is a zone as an offset from UTC: "+02:00".
var offsetForm = regexp.MustCompile(`^[+-]\d\d:\d\d$`)

// loadZone reads a zone by its IANA name or as an offset. "Local" would be the
// server's own, which is nobody's.
func loadZone(name string) (*time.Location, error) {
	switch {
	case name == "" || name == "Local":
		return nil, fmt.Errorf("load zone %q: not a zone's name", name)
	case offsetForm.MatchString(name):
		t, err := time.Parse("-07:00", name)
		if err != nil {
			return nil, fmt.Errorf("load zone %q: not an offset", name)
		}
		_, offset := t.Zone()
		return time.FixedZone(name, offset), nil
	}
	return time.LoadLocation(name)
}

// A wall time is a date and a time of day as they stand on a wall somewhere. It
// is kept as if it were UTC, so that days can be counted without clocks that
// are put forward or back.

// wallOf is what the clocks of a zone show at a moment.
func wallOf(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// moment is when the clocks of a zone show a wall time, by the rule of RFC 5545:
// a time that they show twice is its first, and one that they skip is read by the
// offset from before, which moves it by what was skipped (02:30 becomes 03:30).
func moment(wall time.Time, zone *time.Location) time.Time {
	// The zone's offset a day before and a day after are the two that there can
	// be: no zone has ever changed its clocks twice in two days.
	var first time.Time
	for _, at := range []time.Time{wall.Add(-36 * time.Hour), wall.Add(36 * time.Hour)} {
		_, offset := at.In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		if wallOf(t, zone).Equal(wall) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if first.IsZero() {
		_, offset := wall.Add(-36 * time.Hour).In(zone).Zone()
		first = wall.Add(-time.Duration(offset) * time.Second)
	}
	return first.UTC()
}
