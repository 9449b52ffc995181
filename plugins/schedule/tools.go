package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"reeve/plugins"
	"reeve/runtime/chat"
)

func (p *Plugin) tools() []plugins.Tool {
	return []plugins.Tool{
		plugins.MustTool(plugins.Tool{
			Name: "schedule_create",
			Description: "Keeps a reminder, or work that recurs, for the person you act for: at its time you are woken in this thread with its text, " +
				"acting for nobody, without tools that spend anybody's rights, and answer here. " + howAt + " " + howEvery +
				" The result says when it comes first: tell them. Nobody else can have it done for them, and they alone can cancel it.",
			Effect: plugins.Idempotent, Access: plugins.Write, Provider: Provider,
		}, p.create),
		plugins.MustTool(plugins.Tool{
			Name:        "schedule_list",
			Description: "Lists the reminders and the recurring work of the person you act for, with their ids. What they asked for in another channel is only counted, unless this is a direct message.",
			Effect:      plugins.Pure, Access: plugins.Read, Provider: Provider,
		}, p.list),
		plugins.MustTool(plugins.Tool{
			Name:        "schedule_cancel",
			Description: "Cancels a reminder or recurring work of the person you act for.",
			Effect:      plugins.Idempotent, Access: plugins.Write, Provider: Provider,
		}, p.cancel),
	}
}

type createIn struct {
	Text  string `json:"text" jsonschema:"what is to be said or done then, complete in itself: nothing else of this turn is known then"`
	At    string `json:"at" jsonschema:"when, or when first: a local time such as 2026-12-01T09:00, 'in 2 hours', 'tomorrow 9:00', 'friday 17:30'"`
	Every string `json:"every,omitempty" jsonschema:"how it recurs: '30 minutes', 'day', 'weekday', 'monday, thursday', 'month', or FREQ=..."`
	Until string `json:"until,omitempty" jsonschema:"with every: the last day (2026-12-31) or time"`
	Times int    `json:"times,omitempty" jsonschema:"with every: how often in all"`
	Zone  string `json:"zone,omitempty" jsonschema:"IANA time zone or offset (+02:00), only where the person has named another than their own"`
}

func (p *Plugin) create(ctx context.Context, call plugins.Call, in createIn) (plugins.Result, error) {
	j, err := p.jobOf(call, in)
	if err == nil {
		j, err = p.add(ctx, j)
	}
	if why, ok := errors.AsType[problem](err); ok {
		return refused("Nothing was scheduled. " + why.Error()), nil
	}
	if err != nil {
		return plugins.Result{}, err
	}
	p.added(j)
	text := fmt.Sprintf("It is kept as %s. It comes at %s", j.ID, j.shown(j.At))
	if recurs := j.recurs(); recurs != "" {
		text += " and then " + recurs
		if more := j.some(3); len(more) > 0 {
			text += "; next at " + strings.Join(more, ", ")
		}
	}
	return plugins.Result{Text: text + ". It comes in this thread, and you act for nobody then."}, nil
}

// some are a few of a job's times behind its first.
func (j job) some(n int) []string {
	var list []string
	for t := j.next(j.At); !t.IsZero() && len(list) < n; t = j.next(t) {
		list = append(list, j.shown(t))
	}
	return list
}

// jobOf makes a job of what a call says, or a problem of it.
func (p *Plugin) jobOf(call plugins.Call, in createIn) (job, error) {
	now := p.services.Now().UTC().Truncate(time.Second)
	j := job{V: version, ID: idOf(call.Key), By: call.Actor, Conversation: call.Conversation, Text: strings.TrimSpace(in.Text), Created: now, Times: in.Times}
	switch n := utf8.RuneCountInString(j.Text); {
	case !call.Actor.IsPerson():
		return j, problem("This turn acts for no person. Whoever wants it asks you in a message of their own.")
	case n == 0 || !utf8.ValidString(j.Text):
		return j, problem("It has no text.")
	case n > maxText:
		return j, problem(fmt.Sprintf("Its text has %d characters, and may have %d.", n, maxText))
	case plugins.HasSecret(j.Text):
		return j, problem("Its text looks as if it held a password, a key or a token, and those are not kept. Do not repeat it.")
	case in.Times < 0 || in.Times > 10_000:
		return j, problem("\"times\" is a number from 1 to 10000.")
	case in.Every == "" && (in.Times > 0 || in.Until != ""):
		return j, problem("\"until\" and \"times\" are for what recurs: say how in \"every\".")
	}
	zone, err := zoneOf(call.Zone, in.Zone)
	if err != nil {
		return j, err
	}
	first, err := readAt(in.At, now, zone)
	if err != nil {
		return j, err
	}
	if first.zone != nil {
		j.Zone = first.zone.String()
	}
	j.At, j.Wall, j.Every = first.at, first.wall, strings.TrimSpace(in.Every)
	if in.Until != "" {
		if j.Until, err = readUntil(in.Until, now, first.zone); err != nil {
			return j, err
		}
	}
	return j, j.check(now)
}

// check finds the first time, which has to be one to come.
func (j *job) check(now time.Time) error {
	if !j.At.After(now) {
		return problem(fmt.Sprintf("That time is past: it is %s now.", j.shown(now)))
	}
	if j.At.After(now.Add(horizon)) {
		return tooFar
	}
	if len(j.Every) > 200 {
		return problem(howEvery)
	}
	if _, err := j.rule(); err != nil {
		return err
	}
	// The rule may not meet the time that was named: then the first that does.
	next := j.next(now)
	if next.IsZero() {
		return problem("By that rule it would never come.")
	}
	if !next.Equal(j.At) {
		if j.At = next; j.zone() != nil {
			j.Wall = wallOf(next, j.zone())
		}
	}
	return nil
}

func zoneOf(persons, named string) (*time.Location, error) {
	if named != "" {
		zone, err := loadZone(named)
		if err != nil {
			return nil, problem(fmt.Sprintf("There is no time zone %q. Give an IANA name such as Europe/Berlin, or an offset such as +02:00.", cut(named, 60)))
		}
		return zone, nil
	}
	zone, err := loadZone(persons)
	if err != nil {
		return nil, nil //nolint:nilerr // nil is a zone that nobody knows
	}
	return zone, nil
}

// listed is a job and when it comes next.
type listed struct {
	job
	next time.Time
}

func sortListed(list []listed) {
	slices.SortStableFunc(list, func(a, b listed) int { return a.next.Compare(b.next) })
}

func (l listed) line() string {
	s := fmt.Sprintf("%s: %s, next at %s", l.ID, cut(strings.Join(strings.Fields(l.Text), " "), 200), l.shown(l.next))
	if recurs := l.recurs(); recurs != "" {
		s += ", " + recurs
	}
	return s
}

type listIn struct{}

func (p *Plugin) list(ctx context.Context, call plugins.Call, _ listIn) (plugins.Result, error) {
	if !call.Actor.IsPerson() {
		return refused("This turn acts for no person, and nobody else's reminders are listed."), nil
	}
	all, err := p.mine(ctx, call.Actor)
	if err != nil {
		return plugins.Result{}, err
	}
	var lines []string
	elsewhere := 0
	for _, l := range all {
		// What was asked for in a place that others cannot read must not come to
		// stand in one that they can.
		if call.Visibility != chat.DM && l.Conversation.Channel != call.Conversation.Channel {
			elsewhere++
			continue
		}
		line := l.line()
		if l.Conversation != call.Conversation {
			line += " (in another thread)"
		}
		lines = append(lines, line)
	}
	switch {
	case len(all) == 0:
		lines = []string{"There are none."}
	case elsewhere > 0:
		lines = append(lines, fmt.Sprintf("%d asked for in other channels: they see them all in my home tab, or when they ask me in a direct message.", elsewhere))
	}
	return plugins.Result{Text: strings.Join(lines, "\n")}, nil
}

type cancelIn struct {
	ID string `json:"id" jsonschema:"the id that schedule_create or schedule_list gave"`
}

func (p *Plugin) cancel(ctx context.Context, call plugins.Call, in cancelIn) (plugins.Result, error) {
	if !call.Actor.IsPerson() {
		return refused("This turn acts for no person, and nobody else's reminders are cancelled."), nil
	}
	found, err := p.withdraw(ctx, call.Actor, in.ID)
	if err != nil {
		return plugins.Result{}, err
	}
	if !found {
		return refused(fmt.Sprintf("The person you act for has no reminder %q: it is over, was cancelled already, or never was.", cut(in.ID, 40))), nil
	}
	return plugins.Result{Text: in.ID + " is cancelled."}, nil
}

// withdraw cancels a person's own job.
func (p *Plugin) withdraw(ctx context.Context, by chat.Actor, id string) (found bool, err error) {
	if !idForm.MatchString(id) {
		return false, nil
	}
	if _, found, err = p.services.Store(by).Get(ctx, jobKey(id)); err != nil || !found {
		return false, err
	}
	return true, p.remove(ctx, ref{by, id})
}

func refused(why string) plugins.Result { return plugins.Result{Error: true, Text: why} }
