package schedule

import (
	"errors"
	"testing"
	"time"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	if name == "" {
		return nil
	}
	z, err := loadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func utc(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

// A time that the clocks skip is moved by what they skip, and one that they show
// twice is its first.
func TestWallTimesWhereClocksChange(t *testing.T) {
	for _, c := range []struct{ zone, wall, want string }{
		{"Europe/Berlin", "2026-03-29T01:59", "2026-03-29T00:59:00Z"},
		{"Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30:00Z"}, // 03:30 +02:00
		{"Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z"}, // the first, +02:00
		{"Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z"},
		{"America/New_York", "2026-03-08T02:30", "2026-03-08T07:30:00Z"}, // 03:30 -04:00
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z"}, // the first, -04:00
		{"Asia/Kathmandu", "2026-06-01T09:00", "2026-06-01T03:15:00Z"},
		{"Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45:00Z"}, // half an hour is skipped: 02:45 +11:00
		{"Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00Z"}, // and shown twice: the first, +11:00
		{"Pacific/Apia", "2011-12-30T09:00", "2011-12-30T19:00:00Z"},        // a day that never was: the next
		{"+05:45", "2026-03-29T02:30", "2026-03-28T20:45:00Z"},
	} {
		wall, err := time.Parse("2006-01-02T15:04", c.wall)
		if err != nil {
			t.Fatal(err)
		}
		if got := moment(wall, zone(t, c.zone)); got.Format(time.RFC3339) != c.want {
			t.Errorf("%s in %s is %s, want %s", c.wall, c.zone, got.Format(time.RFC3339), c.want)
		}
	}
}

func TestTimesAsTheyAreNamed(t *testing.T) {
	now := utc(t, "2026-11-30T21:48:10Z") // Monday, 22:48 in Berlin
	for _, c := range []struct{ text, zone, want string }{
		{"2026-12-01T09:00", "Europe/Berlin", "2026-12-01T08:00:00Z"},
		{"2026-12-01 09:00", "America/New_York", "2026-12-01T14:00:00Z"},
		{"2026-12-01T09:00:30", "Asia/Kathmandu", "2026-12-01T03:15:30Z"},
		{"2026-12-01T09:00+01:00", "", "2026-12-01T08:00:00Z"},
		{"2026-12-01T09:00:00-05:00", "Europe/Berlin", "2026-12-01T14:00:00Z"},
		{"2026-12-01T09:00:00Z", "", "2026-12-01T09:00:00Z"},
		{"in 20 minutes", "", "2026-11-30T22:08:10Z"},
		{"In 2  hours", "Europe/Berlin", "2026-11-30T23:48:10Z"},
		{"in 1 day", "", "2026-12-01T21:48:10Z"},
		{"in 2 weeks", "Europe/Berlin", "2026-12-14T21:48:10Z"},
		{"tomorrow 9:00", "Europe/Berlin", "2026-12-01T08:00:00Z"},
		{"tomorrow at 9:00", "Europe/Berlin", "2026-12-01T08:00:00Z"},
		{"today 23:15", "Europe/Berlin", "2026-11-30T22:15:00Z"},
		{"9:00", "Europe/Berlin", "2026-12-01T08:00:00Z"},
		{"at 23:00", "Europe/Berlin", "2026-11-30T22:00:00Z"},
		{"friday 17:30", "Europe/Berlin", "2026-12-04T16:30:00Z"},
		{"Monday, 09:00", "Europe/Berlin", "2026-12-07T08:00:00Z"},
		{"mon 23:00", "Europe/Berlin", "2026-11-30T22:00:00Z"},
		{"tuesday 3:00", "Asia/Kathmandu", "2026-12-07T21:15:00Z"}, // there it is Tuesday already, 03:33
	} {
		got, err := readAt(c.text, now, zone(t, c.zone))
		if err != nil || got.at.Format(time.RFC3339) != c.want {
			t.Errorf("%q in %q is %s, want %s (%v)", c.text, c.zone, got.at.Format(time.RFC3339), c.want, err)
		}
	}
	for _, text := range []string{"", "soon", "tomorrow", "9", "9 am", "25:00", "9:61", "someday 9:00", "in two hours", "in 99999 days", "2026-12-01", "2026-13-01T09:00", "friday"} {
		if got, err := readAt(text, now, zone(t, "Europe/Berlin")); err == nil {
			t.Errorf("%q was taken for %s", text, got.at)
		}
	}
	for _, text := range []string{"9:00", "2026-12-01T09:00", "tomorrow 9:00"} {
		if _, err := readAt(text, now, nil); !errors.Is(err, askZone) {
			t.Errorf("%q without a zone: %v", text, err)
		}
	}
}

// times are a few of a job's.
func timesOf(t *testing.T, at, in, every string, n int) []string {
	t.Helper()
	now := utc(t, "2026-01-01T00:00:00Z")
	w, err := readAt(at, now, zone(t, in))
	if err != nil {
		t.Fatal(err)
	}
	j := job{V: version, At: w.at, Wall: w.wall, Zone: in, Every: every}
	if err := j.check(now); err != nil {
		return []string{err.Error()}
	}
	var list []string
	for at := j.next(now); !at.IsZero() && len(list) < n; at = j.next(at) {
		list = append(list, at.In(zone(t, in)).Format("Mon 2006-01-02 15:04 -0700"))
	}
	return list
}

func TestRulesByTheCalendarAndByTheClock(t *testing.T) {
	for _, c := range []struct {
		at, zone, every string
		want            []string
	}{
		{"2026-03-28T09:00", "Europe/Berlin", "day", []string{"Sat 2026-03-28 09:00 +0100", "Sun 2026-03-29 09:00 +0200", "Mon 2026-03-30 09:00 +0200"}},
		{"2026-03-28T02:30", "Europe/Berlin", "every day", []string{"Sat 2026-03-28 02:30 +0100", "Sun 2026-03-29 03:30 +0200", "Mon 2026-03-30 02:30 +0200"}},
		{"2026-10-24T02:30", "Europe/Berlin", "day", []string{"Sat 2026-10-24 02:30 +0200", "Sun 2026-10-25 02:30 +0200", "Mon 2026-10-26 02:30 +0100"}},
		{"2026-03-28T23:00", "Europe/Berlin", "2 hours", []string{"Sat 2026-03-28 23:00 +0100", "Sun 2026-03-29 01:00 +0100", "Sun 2026-03-29 04:00 +0200"}},
		{"2026-10-31T01:30", "America/New_York", "day", []string{"Sat 2026-10-31 01:30 -0400", "Sun 2026-11-01 01:30 -0400", "Mon 2026-11-02 01:30 -0500"}},
		{"2026-10-03T02:15", "Australia/Lord_Howe", "day", []string{"Sat 2026-10-03 02:15 +1030", "Sun 2026-10-04 02:45 +1100", "Mon 2026-10-05 02:15 +1100"}},
		{"2026-06-05T09:00", "Asia/Kathmandu", "weekday", []string{"Fri 2026-06-05 09:00 +0545", "Mon 2026-06-08 09:00 +0545", "Tue 2026-06-09 09:00 +0545"}},
		{"2026-06-06T09:00", "Europe/Berlin", "weekday", []string{"Mon 2026-06-08 09:00 +0200", "Tue 2026-06-09 09:00 +0200"}},
		{"2026-06-01T09:00", "Europe/Berlin", "mondays and thursday", []string{"Mon 2026-06-01 09:00 +0200", "Thu 2026-06-04 09:00 +0200", "Mon 2026-06-08 09:00 +0200"}},
		{"2026-06-01T09:00", "Europe/Berlin", "2 weeks", []string{"Mon 2026-06-01 09:00 +0200", "Mon 2026-06-15 09:00 +0200"}},
		{"2026-01-31T09:00", "Europe/Berlin", "month", []string{"Sat 2026-01-31 09:00 +0100", "Sat 2026-02-28 09:00 +0100", "Tue 2026-03-31 09:00 +0200", "Thu 2026-04-30 09:00 +0200"}},
		{"2026-01-15T09:00", "Europe/Berlin", "3 months", []string{"Thu 2026-01-15 09:00 +0100", "Wed 2026-04-15 09:00 +0200"}},
		{"2028-02-29T09:00", "Europe/Berlin", "year", []string{"Tue 2028-02-29 09:00 +0100", "Wed 2029-02-28 09:00 +0100"}},
		{"2026-06-01T09:00", "Europe/Berlin", "FREQ=MONTHLY;BYDAY=1MO", []string{"Mon 2026-06-01 09:00 +0200", "Mon 2026-07-06 09:00 +0200"}},
		{"2026-06-01T09:00", "Europe/Berlin", "RRULE:FREQ=MONTHLY;BYDAY=-1FR", []string{"Fri 2026-06-26 09:00 +0200", "Fri 2026-07-31 09:00 +0200"}},
		{"2026-06-01T09:00", "Europe/Berlin", "15 minutes", []string{"Mon 2026-06-01 09:00 +0200", "Mon 2026-06-01 09:15 +0200"}},
		{"2026-06-01T09:00", "+05:45", "day", []string{"Mon 2026-06-01 09:00 +0545", "Tue 2026-06-02 09:00 +0545"}},
		{"2026-06-01T09:00", "Europe/Berlin", "14 minutes", []string{tooOften.Error()}},
		{"2026-06-01T09:00", "Europe/Berlin", "0 days", []string{tooOften.Error()}},
		{"2026-06-01T09:00", "Europe/Berlin", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", []string{"By that rule it would never come."}},
		{"2026-06-01T09:00", "Europe/Berlin", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", []string{"By that rule it would never come."}},
		{"2032-06-01T09:00", "Europe/Berlin", "day", []string{tooFar.Error()}},
	} {
		got := timesOf(t, c.at, c.zone, c.every, len(c.want))
		for i := range c.want {
			if len(got) != len(c.want) || got[i] != c.want[i] {
				t.Errorf("from %s in %s, %s: %q, want %q", c.at, c.zone, c.every, got, c.want)
				break
			}
		}
	}
	for _, every := range []string{
		"FREQ=HOURLY", "FREQ=MINUTELY;INTERVAL=1", "FREQ=DAILY;BYHOUR=1,2,3", "FREQ=DAILY;COUNT=3", "FREQ=DAILY;UNTIL=20270101T000000Z",
		"FREQ=DAILY;INTERVAL=9999999", "FREQ=DAILY;BYMONTHDAY=99", "FREQ=", "FREQ=DAILY;;", "FREQ=DAILY;BYDAY=XX", "FREQ=DAILY\nDTSTART=1", "now and then", "day at 9:00", "-1 days",
	} {
		if _, err := readEvery(every, time.Time{}); err == nil {
			t.Errorf("%q was taken for a rule", every)
		}
	}
}

func TestEndsOfARule(t *testing.T) {
	at := utc(t, "2026-06-01T07:00:00Z")
	j := job{V: version, At: at, Wall: wallOf(at, zone(t, "Europe/Berlin")), Zone: "Europe/Berlin", Every: "day", Times: 3}
	times, next := j.due(at.Add(-time.Second), at.AddDate(1, 0, 0))
	if len(times) != 3 || !next.IsZero() {
		t.Errorf("three times: %v, and then %v", times, next)
	}
	j.Times, j.Until = 0, at.AddDate(0, 0, 1)
	if times, next := j.due(at.Add(-time.Second), at); len(times) != 1 || !next.Equal(j.Until) {
		t.Errorf("until tomorrow: %v, and then %v", times, next)
	}
	if next := j.next(j.Until); !next.IsZero() {
		t.Errorf("behind its end comes %v", next)
	}
}

// Whatever the model writes, it is read in a moment, and what is taken has a
// time to come that the rule allows.
func FuzzWhatAModelWrites(f *testing.F) {
	for _, s := range [][2]string{{"tomorrow 9:00", "weekday"}, {"in 2 hours", "2 hours"}, {"2026-12-31T09:00", "FREQ=MONTHLY;BYDAY=5FR;BYSETPOS=-1;INTERVAL=7"}, {"9:00", "FREQ=YEARLY;BYDAY=-53SU;BYMONTH=2"}} {
		f.Add(s[0], s[1])
	}
	berlin, err := loadZone("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 21, 48, 10, 0, time.UTC)
	f.Fuzz(func(t *testing.T, at, every string) {
		w, err := readAt(at, now, berlin)
		if err != nil {
			return
		}
		j := job{V: version, At: w.at, Wall: w.wall, Zone: "Europe/Berlin", Every: every}
		if j.check(now) != nil {
			return
		}
		next := j.next(j.At)
		if !j.At.After(now) || !next.IsZero() && next.Sub(j.At) < shortest {
			t.Errorf("%q, %q comes at %v and at %v", at, every, j.At, next)
		}
	})
}

func BenchmarkARuleThatNeverComes(b *testing.B) {
	at := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	j := job{V: version, At: at, Wall: at, Zone: "Europe/Berlin", Every: "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"}
	for b.Loop() {
		j.next(at)
	}
}
