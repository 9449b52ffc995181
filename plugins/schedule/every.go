package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// howEvery tells the model how a rule is written.
const howEvery = `Give "every" as "30 minutes", "2 hours", "day", "weekday", "monday", "monday, thursday", "2 weeks", "month", "year", ` +
	`or as a rule of RFC 5545 such as FREQ=MONTHLY;BYDAY=1MO (first Monday of each month), without times of day: these come from "at".`

const (
	// shortest is the shortest pause between two times of one reminder.
	shortest = 15 * time.Minute
	// horizon is how far ahead a first time may be, and ruleYears for how long a
	// rule is followed from there.
	horizon   = 5 * 366 * 24 * time.Hour
	ruleYears = 10
)

var (
	tooOften = problem(fmt.Sprintf("A reminder may recur at most every %d minutes.", int(shortest/time.Minute)))
	tooFar   = problem("That is more than five years ahead, and nothing is kept for so long.")
)

// rule is how something recurs: after a fixed time, or by the calendar of a
// zone.
type rule struct {
	step     time.Duration // 0: by the calendar
	calendar *rrule.ROption
}

var (
	stepForm = regexp.MustCompile(`^(?:(\d{1,4}) )?(minute|hour|day|week|month|year)s?$`)
	partForm = regexp.MustCompile(`^(FREQ|INTERVAL|BYDAY|BYMONTHDAY|BYMONTH|BYSETPOS|WKST)=[A-Z0-9,+-]{1,60}$`)
)

// readEvery reads a rule for what is due first at a wall time.
func readEvery(text string, first time.Time) (rule, error) {
	text = strings.Join(strings.Fields(text), " ")
	if upper := strings.TrimPrefix(strings.ToUpper(text), "RRULE:"); strings.HasPrefix(upper, "FREQ=") {
		return readRRule(upper)
	}
	text = strings.TrimPrefix(strings.ToLower(text), "every ")
	if m := stepForm.FindStringSubmatch(text); m != nil {
		n := 1
		if m[1] != "" {
			n, _ = strconv.Atoi(m[1])
		}
		if n == 0 {
			return rule{}, tooOften
		}
		return stepRule(n, m[2], first)
	}
	if text == "weekday" || text == "weekdays" {
		return rule{calendar: &rrule.ROption{Freq: rrule.WEEKLY, Byweekday: []rrule.Weekday{rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR}}}, nil
	}
	if days, ok := readDays(text); ok {
		return rule{calendar: &rrule.ROption{Freq: rrule.WEEKLY, Byweekday: days}}, nil
	}
	return rule{}, problem(fmt.Sprintf("%q is no rule that is understood here. %s", cut(text, 80), howEvery))
}

// stepRule is "every n units". Of a month without such a day it is the last one.
func stepRule(n int, unit string, first time.Time) (rule, error) {
	o := &rrule.ROption{Interval: n}
	switch unit {
	case "minute", "hour":
		step := time.Duration(n) * time.Minute
		if unit == "hour" {
			step *= 60
		}
		if step < shortest {
			return rule{}, tooOften
		}
		return rule{step: step}, nil
	case "day":
		o.Freq = rrule.DAILY
	case "week":
		o.Freq = rrule.WEEKLY
	case "month":
		o.Freq = rrule.MONTHLY
		lastOf(o, first.Day())
	case "year":
		o.Freq, o.Bymonth = rrule.YEARLY, []int{int(first.Month())}
		lastOf(o, first.Day())
	}
	return rule{calendar: o}, nil
}

// lastOf lets a rule by months mean a day, or the last one before it that there
// is.
func lastOf(o *rrule.ROption, day int) {
	for d := min(day, 28); d <= day; d++ {
		o.Bymonthday = append(o.Bymonthday, d)
	}
	o.Bysetpos = []int{-1}
}

var rruleDays = map[time.Weekday]rrule.Weekday{
	time.Monday: rrule.MO, time.Tuesday: rrule.TU, time.Wednesday: rrule.WE, time.Thursday: rrule.TH,
	time.Friday: rrule.FR, time.Saturday: rrule.SA, time.Sunday: rrule.SU,
}

// readDays reads "monday, wednesday and friday".
func readDays(text string) ([]rrule.Weekday, bool) {
	var days []rrule.Weekday
	for _, name := range strings.FieldsFunc(strings.ReplaceAll(text, " and ", ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		day, ok := weekdays[name]
		if !ok {
			day, ok = weekdays[strings.TrimSuffix(name, "s")]
		}
		if !ok {
			return nil, false
		}
		if !slices.Contains(days, rruleDays[day]) {
			days = append(days, rruleDays[day])
		}
	}
	return days, len(days) > 0
}

// readRRule reads the parts of RFC 5545 that speak of days. Times of day, ends
// and counts have arguments of their own.
func readRRule(text string) (rule, error) {
	bad := problem(fmt.Sprintf("%q is no rule that is understood here. %s", cut(text, 80), howEvery))
	for _, part := range strings.Split(text, ";") {
		if !partForm.MatchString(part) {
			return rule{}, bad
		}
	}
	o, err := rrule.StrToROption(text)
	if err != nil {
		return rule{}, bad
	}
	if o.Freq > rrule.DAILY || o.Interval < 0 || o.Interval > 1000 {
		return rule{}, bad
	}
	if len(o.Bysetpos) > 5 || len(o.Bysetpos) > 0 && o.Freq > rrule.MONTHLY {
		return rule{}, bad // they say nothing that could not be said without, and take long
	}
	for _, day := range o.Byweekday {
		// The library panics over a 53rd Sunday before a month's first.
		if n := day.N(); n < -5 || n > 5 || n != 0 && o.Freq > rrule.MONTHLY {
			return rule{}, bad
		}
	}
	if _, err := rrule.NewRRule(*o); err != nil {
		return rule{}, bad
	}
	return rule{calendar: o}, nil
}

// times are when something is due, from its first time on, until yield says no.
// A rule over which the library panics has no more.
func (r rule) times(w when, yield func(time.Time) bool) {
	defer func() { _ = recover() }()
	if r.step > 0 {
		for t := w.at; t.Before(w.at.AddDate(ruleYears, 0, 0)); t = t.Add(r.step) {
			if !yield(t) {
				return
			}
		}
		return
	}
	o := *r.calendar
	o.Dtstart, o.Until = w.wall, w.wall.AddDate(ruleYears, 0, 0)
	set, err := rrule.NewRRule(o)
	if err != nil {
		return // readEvery has made one
	}
	next := set.Iterator()
	for {
		wall, ok := next()
		if !ok || !yield(moment(wall, w.zone)) {
			return
		}
	}
}
