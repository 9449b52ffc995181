package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// howAt tells the model which times are understood. What people say in other
// words it translates: a small grammar is one that can be tested.
const howAt = `Give "at" as a local time of the person (2026-12-01T09:00), a time with an offset (2026-12-01T09:00+01:00), ` +
	`"in 20 minutes" (or hours, days, weeks), or "today", "tomorrow" or a weekday with a time of day ("tomorrow 9:00", "friday 17:30", "9:00").`

// problem is what is wrong with an argument, for the model to read.
type problem string

func (p problem) Error() string { return string(p) }

// askZone is said where a time cannot be read without a zone that nobody knows.
const askZone = problem("The time zone of the person you act for is not known, so it is not clear when that is. " +
	"Ask them for their city or their offset from UTC, and give it as \"zone\" (Europe/Berlin, or +02:00).")

var (
	inForm  = regexp.MustCompile(`^in (\d{1,5}) (minute|hour|day|week)s?$`)
	dayForm = regexp.MustCompile(`^(?:(today|tomorrow|[a-z]+day|mon|tue|wed|thu|fri|sat|sun)(?:,? at|,)? )?(?:at )?(\d{1,2}):(\d\d)$`)
)

// when is a time that somebody has named: a moment and, where a zone is known,
// what its clocks show then.
type when struct {
	at   time.Time
	wall time.Time
	zone *time.Location // nil: unknown
}

// readAt reads a time. zone may be nil.
func readAt(text string, now time.Time, zone *time.Location) (when, error) {
	text = strings.Join(strings.Fields(text), " ")
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02 15:04:05Z07:00"} {
		t, err := time.Parse(form, strings.ToUpper(text))
		if err != nil {
			continue
		}
		if zone == nil {
			_, offset := t.Zone()
			zone = time.FixedZone(t.Format("-07:00"), offset)
		}
		return whenOf(t, zone), nil
	}
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if wall, err := time.Parse(form, strings.ToUpper(text)); err == nil {
			return onWall(wall, zone)
		}
	}
	text = strings.ToLower(text)
	if m := inForm.FindStringSubmatch(text); m != nil {
		return after(now, m, zone)
	}
	if m := dayForm.FindStringSubmatch(text); m != nil {
		return onDay(now, m, zone)
	}
	return when{}, problem(fmt.Sprintf("%q is no time that is understood here. %s", cut(text, 80), howAt))
}

// whenOf is a moment in a zone, to the second.
func whenOf(t time.Time, zone *time.Location) when {
	w := when{at: t.UTC().Truncate(time.Second), zone: zone}
	if zone != nil {
		w.wall = wallOf(w.at, zone)
	}
	return w
}

func onWall(wall time.Time, zone *time.Location) (when, error) {
	if zone == nil {
		return when{}, askZone
	}
	return when{at: moment(wall, zone), wall: wall, zone: zone}, nil
}

// after reads "in 2 hours". A day is one on the wall, where a zone is known.
func after(now time.Time, m []string, zone *time.Location) (when, error) {
	n, _ := strconv.Atoi(m[1]) // five digits at most
	switch {
	case m[2] == "minute":
		return whenOf(now.Add(time.Duration(n)*time.Minute), zone), nil
	case m[2] == "hour":
		return whenOf(now.Add(time.Duration(n)*time.Hour), zone), nil
	case m[2] == "week":
		n *= 7
	}
	if n > 5*366 {
		return when{}, tooFar
	}
	if zone == nil {
		return whenOf(now.Add(time.Duration(n)*24*time.Hour), nil), nil
	}
	return onWall(wallOf(now, zone).AddDate(0, 0, n), zone)
}

// onDay reads "tomorrow 9:00". Without a day, or with a weekday's name, it is
// the next time that is still to come.
func onDay(now time.Time, m []string, zone *time.Location) (when, error) {
	hour, _ := strconv.Atoi(m[2])
	minute, _ := strconv.Atoi(m[3])
	if hour > 23 || minute > 59 {
		return when{}, problem(fmt.Sprintf("%s:%s is no time of day.", m[2], m[3]))
	}
	if zone == nil {
		return when{}, askZone
	}
	today := wallOf(now, zone)
	wall := time.Date(today.Year(), today.Month(), today.Day(), hour, minute, 0, 0, time.UTC)
	switch day, isWeekday := weekdays[m[1]]; {
	case m[1] == "today":
	case m[1] == "tomorrow":
		wall = wall.AddDate(0, 0, 1)
	case m[1] == "":
		if !moment(wall, zone).After(now) {
			wall = wall.AddDate(0, 0, 1)
		}
	case isWeekday:
		wall = wall.AddDate(0, 0, (int(day)-int(wall.Weekday())+7)%7)
		if !moment(wall, zone).After(now) {
			wall = wall.AddDate(0, 0, 7)
		}
	default:
		return when{}, problem(fmt.Sprintf("%q is no day. %s", m[1], howAt))
	}
	return onWall(wall, zone)
}

// weekdays by their English names, long and short.
var weekdays = func() map[string]time.Weekday {
	names := map[string]time.Weekday{}
	for day := time.Sunday; day <= time.Saturday; day++ {
		name := strings.ToLower(day.String())
		names[name], names[name[:3]] = day, day
	}
	return names
}()

// readUntil reads the end of something that recurs: a time, or a day, which is
// in it.
func readUntil(text string, now time.Time, zone *time.Location) (time.Time, error) {
	if day, err := time.Parse("2006-01-02", strings.TrimSpace(text)); err == nil {
		w, err := onWall(day.AddDate(0, 0, 1).Add(-time.Second), zone)
		return w.at, err
	}
	w, err := readAt(text, now, zone)
	return w.at, err
}
