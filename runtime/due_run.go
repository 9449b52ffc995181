package runtime

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// dues are what made a turn of the Scheduler's: several, when they waited
// together.
func dues(log []mailbox.Item) []chat.Message {
	var all []chat.Message
	for _, item := range log {
		var m chat.Message
		if item.Taken == mailbox.TakenRequest && json.Unmarshal(item.Body, &m) == nil && m.Due != nil {
			all = append(all, m)
		}
	}
	return all
}

// creators are who asked for it, each once.
func creators(of []chat.Message) []chat.Actor {
	var all []chat.Actor
	for _, m := range of {
		if who := m.Due.CreatedBy; who.IsPerson() && !slices.Contains(all, who) {
			all = append(all, who)
		}
	}
	return all
}

// heading is what code says in front of a due turn's first answer: whose wish it
// was, and when. The model has no part in it.
func (l *turnLog) heading() string {
	of := dues(l.claimed.Log)
	if len(of) == 0 || l.headed || slices.ContainsFunc(l.read().log(0, l.claimed.Log), isAnswer) {
		return ""
	}
	l.headed = true
	for _, who := range creators(of) {
		l.mentions = append(l.mentions, who.User)
	}
	var lines []string
	for _, m := range of {
		if !m.Due.Privately {
			lines = append(lines, dueLine(m))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n\n") + "\n\n"
}

func isAnswer(e chat.Entry) bool { return e.Origin == chat.Answer }

// report ends a due turn of which nothing but notes is to be said. closed=false:
// it is no such turn, or somebody has steered into it meanwhile; then what was
// said and the steers are answered.
func (l *turnLog) report(ctx context.Context) (more []chat.Entry, closed bool, err error) {
	of := dues(l.claimed.Log)
	if len(of) == 0 || slices.ContainsFunc(of, func(m chat.Message) bool { return !m.Due.Report }) {
		return nil, false, nil
	}
	said := chat.Entry{
		Turn: l.h.ref.Turn, Role: chat.AssistantRole, Origin: chat.Answer, Time: time.Now().UTC(),
		Provenance: &chat.Provenance{Authority: chat.Context},
	}
	var parts []chat.Part
	if said.Text = strings.TrimSpace(l.heading()); said.Text != "" {
		said.Posted = true
		parts = l.parts(l.r.opts.Slack.Split(said.Text))
	}
	for _, m := range of {
		if m.Due.Privately {
			parts = append(parts, l.toCreator(m.Due.CreatedBy, dueLine(m), len(parts))...)
		}
	}
	entries, err := encode([]chat.Entry{said})
	if err != nil {
		return nil, false, err
	}
	steers, closed, err := l.finish(ctx, entries, parts)
	if closed || err != nil {
		return nil, closed, err
	}
	return append([]chat.Entry{said}, steers...), false, nil
}

// failedDue tells those who asked for it, each by direct message, that it was not
// done: the turn's actor has none.
func (l *turnLog) failedDue(outcome mailbox.Outcome, sentence string, others int) []chat.Part {
	if outcome != mailbox.Failed {
		return nil
	}
	var parts []chat.Part
	for _, m := range dues(l.claimed.Log) {
		parts = append(parts, l.toCreator(m.Due.CreatedBy, dueLine(m)+"\n\n"+sentence, others+len(parts))...)
	}
	return parts
}

func (l *turnLog) toCreator(who chat.Actor, text string, others int) []chat.Part {
	var parts []chat.Part
	for _, piece := range l.r.opts.Slack.Split(text) {
		parts = append(parts, chat.Part{
			ID: partID(l.h.ref.Turn, l.commits+1, others+len(parts)), Turn: l.h.ref.Turn,
			To: chat.Destination{DM: who.User}, Markdown: piece, Mentions: []chat.UserID{who.User},
		})
	}
	return parts
}

// abandonedDue is what those are told who asked for a due turn that has lost all
// its workers.
func (r *Runtime) abandonedDue(ctx context.Context, e *mailbox.Exhausted) []chat.Part {
	t, found, err := r.opts.Box.ReadTurn(ctx, e.Conversation, e.Turn)
	if err != nil || !found {
		r.opts.Logger.Warn("who asked for an abandoned turn not told", "turn", e.Turn, "err", err)
		return nil
	}
	var parts []chat.Part
	for _, m := range dues(t.Log) {
		parts = append(parts, chat.Part{
			ID: partID(e.Turn, 0, len(parts)), Turn: e.Turn, To: chat.Destination{DM: m.Due.CreatedBy.User},
			Markdown: dueLine(m) + "\n\nI had to give it up (turn " + e.Turn.Short() + "): every attempt at it broke off.",
		})
	}
	return parts
}

// dueLine is one line of a heading, as Markdown. A report quotes what it is about.
func dueLine(m chat.Message) string {
	d := m.Due
	line := "_Reminder that <@" + string(d.CreatedBy.User) + "> asked for on " + dueDate(d) + "_"
	if d.Note != "" {
		line += " " + d.Note
	}
	if d.Report {
		text := m.Text
		if _, asked, ok := strings.Cut(text, dueEnd); ok {
			text = asked
		}
		line += "\n> " + strings.Join(strings.Fields(plugins.CutMiddle(text, 600)), " ")
	}
	return line
}

// dueEnd ends what code says in front of the text that the model is given.
const dueEnd = ":)\n\n"

// dueRequest goes in front of what the model is asked to do.
func dueRequest(d *chat.Due, name string) string {
	who := string(d.CreatedBy.User)
	// The name is its owner's choice: it must not end what code says.
	if name = strings.Join(strings.Fields(strings.ReplaceAll(name, dueEnd[:2], "")), " "); name != "" {
		who = plugins.CutMiddle(name, 80) + " (" + who + ")"
	}
	text := "(Reminder asked for by " + who + " on " + dueDate(d) + ", due on " + dueTime(d, d.At)
	if d.Note != "" {
		text += ". " + d.Note
	}
	if d.Report {
		text += " This has been said already: do nothing about it"
	}
	return text + dueEnd
}

func dueDate(d *chat.Due) string { return d.Created.In(dueZone(d)).Format("Mon 2 Jan 2006") }

func dueTime(d *chat.Due, t time.Time) string {
	zone := dueZone(d)
	return t.In(zone).Format("Mon 2 Jan 2006, 15:04") + " (" + zone.String() + ")"
}

func dueZone(d *chat.Due) *time.Location {
	if t, err := time.Parse("-07:00", d.Zone); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(d.Zone, offset)
	}
	zone, err := time.LoadLocation(d.Zone)
	if err != nil || d.Zone == "Local" {
		return time.UTC
	}
	return zone
}
