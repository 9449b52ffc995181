package golden

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
)

// shown is what came of the story, as its "expect" section says it: each
// message's fate, the turns, what the model was sent, and what stands in Slack.
func (f *performance) shown() string {
	var b strings.Builder
	turns := f.turns()
	fmt.Fprintf(&b, "messages\n")
	for _, s := range f.said {
		fmt.Fprintf(&b, "  %s %s: %s\n", s.label, s.who, f.fate(s, turns))
	}
	for _, s := range f.signs {
		fmt.Fprintf(&b, "  %s: %s\n", s.what, f.became(s.ts, turns))
	}
	fmt.Fprintf(&b, "turns\n")
	for _, id := range turns {
		fmt.Fprintf(&b, "  %s %s\n", name(turns, id), f.turn(id))
	}
	for i, r := range f.play.asked() {
		fmt.Fprintf(&b, "request %d\n", i+1)
		for _, text := range requestLines(r) {
			fmt.Fprintf(&b, "  %s\n", f.normal(text, turns))
		}
	}
	fmt.Fprintf(&b, "posts\n")
	for _, m := range f.posts() {
		fmt.Fprintf(&b, "  %s, %s: %s\n", name(turns, apptest.TurnOf(m)), f.where(m.Channel, m.ThreadTS), f.normal(apptest.ShownText(m), turns))
	}
	fmt.Fprintf(&b, "private\n")
	for _, e := range f.ephemerals() {
		fmt.Fprintf(&b, "  to %s, %s: %s\n", f.normal(e.User, turns), f.where(e.Channel, e.ThreadTS), f.normal(e.Text, turns))
	}
	if slices.Contains(f.settings, receiptsSetting) {
		fmt.Fprintf(&b, "receipts\n")
		for _, s := range f.said {
			fmt.Fprintf(&b, "  %s: %s\n", s.label, strings.Join(f.reactions(s.ts), " "))
		}
	}
	return b.String()
}

// receiptsSetting marks the stories that show receipts. They have a replica of
// their own, since one sets fifty reactions a minute and no more.
const receiptsSetting = "RECEIPTS=shown"

// turns are the story's turns, first seen first.
func (f *performance) turns() []string {
	var ids []string
	for _, l := range f.place.Journal.All() {
		parts := strings.Split(l.Text("conversation"), ":")
		id := l.Text("turn")
		if id != "" && len(parts) == 3 && f.cast.owns(parts[1]) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// name is a turn's short name in a story: t1 is its first.
func name(turns []string, id string) string {
	if i := slices.Index(turns, id); i >= 0 {
		return fmt.Sprintf("t%d", i+1)
	}
	return "no turn"
}

// behind are the dispositions for which it matters whose turn runs.
var behind = map[string]bool{"wait": true, "refused": true, "withdraw_own": true}

// fate is what became of a message.
func (f *performance) fate(s saying, turns []string) string {
	if s.before && len(f.fates(s.ts)) == 0 {
		return "before the bot's time"
	}
	return f.became(s.ts, turns)
}

// became is all that the log says of a message, or of a stop that is none.
func (f *performance) became(ts string, turns []string) string {
	var said []string
	for _, l := range f.fates(ts) {
		text := l.Text("disposition")
		if what := l.Text("change"); what != "" && what != "stop_sign" {
			text = what + ": " + text
		}
		if first := l.Text("first"); first != "" {
			text += " of " + first
		}
		if id := l.Text("turn"); id != "" {
			text += " " + name(turns, id)
		}
		if l["forced"] == true {
			text += ", forced"
		}
		if who := l.Text("runs"); who != "" && behind[l.Text("disposition")] {
			text += ", behind " + who
		}
		if n, ok := l["withdrawn"].(float64); ok {
			text += fmt.Sprintf(", %d withdrawn", int(n))
		}
		said = append(said, text)
	}
	if len(said) == 0 {
		return "nothing"
	}
	return f.normal(strings.Join(said, "; then "), turns)
}

// turn is whose a turn is, how it ended, and which messages it took in.
func (f *performance) turn(id string) string {
	of := func(msg string) []apptest.Line {
		return slices.DeleteFunc(f.lines(msg), func(l apptest.Line) bool { return l.Text("turn") != id })
	}
	text := "never ran"
	for i, l := range of("turn runs") {
		if i == 0 {
			text = "of " + f.normal(l.Text("actor"), nil)
		}
	}
	outcome, messages := "not ended", []string{}
	for _, l := range of("turn ended") {
		outcome = l.Text("outcome")
		for _, ts := range l.List("messages") {
			messages = append(messages, f.label(ts))
		}
	}
	return text + " " + outcome + ": " + strings.Join(messages, " ")
}

func (f *performance) label(ts string) string {
	for label, known := range f.labels {
		if known == ts {
			return label
		}
	}
	return ts
}

// where is where a post stands.
func (f *performance) where(channel, thread string) string {
	where := "at the top"
	if thread != "" {
		where = "below " + f.label(thread)
	}
	if channel != f.cast.channel("channel", "") {
		where += " of " + f.normal(channel, nil)
	}
	return where
}

// requestLines is what the model was sent, a line for each thing: the request
// itself, the model's own words, and information with its origin and author.
func requestLines(r scripted.Request) []string {
	rules := strings.Split(strings.TrimSpace(r.Messages[0].Content), "\n")
	lines := []string{rules[len(rules)-1]} // for whom, and where
	for _, m := range r.Messages[1:] {
		switch {
		case m.Role == "user" && agent.IsBlock(m.Content):
			elements, err := agent.DecodeBlock(m.Content)
			if err != nil {
				lines = append(lines, "information that cannot be read: "+err.Error())
			}
			for _, e := range elements {
				lines = append(lines, information(e))
			}
		case m.Role == "user":
			lines = append(lines, "asked: "+m.Content)
		case m.Role == "tool":
			e, err := agent.DecodeElement(m.Content)
			if err != nil {
				lines = append(lines, "result that cannot be read: "+err.Error())
			}
			lines = append(lines, "result of "+e.Tool)
		default:
			text := m.Role + ": " + m.Content
			for _, c := range m.ToolCalls {
				text += " calls " + c.Function.Name
			}
			lines = append(lines, text)
		}
	}
	return lines
}

func information(e agent.Element) string {
	text := fmt.Sprintf("information, %s of %s", e.Origin, e.Author)
	if e.Name != "" {
		text += fmt.Sprintf(" (%s)", e.Name)
	}
	if e.Note != "" {
		text += " [" + e.Note + "]"
	}
	if e.Tool != "" {
		text += " " + e.Tool
	}
	if e.File != "" {
		text += " file " + e.File
	}
	return text + ": " + timeOfDay.ReplaceAllString(e.Text, "[the time]")
}

// timeOfDay is what current_time says.
var timeOfDay = regexp.MustCompile(`\d{4}-\d\d-\d\dT\S+, [A-Z][a-z]+, \S+`)

var shortTurn = regexp.MustCompile(`turn ([0-9a-z]{6})\b`)

// normal writes names for what only this run has, on one line.
func (f *performance) normal(text string, turns []string) string {
	text = shortTurn.ReplaceAllStringFunc(text, func(found string) string {
		for _, id := range turns {
			if strings.HasSuffix(id, found[len("turn "):]) {
				return "turn " + name(turns, id)
			}
		}
		return found
	})
	return strings.ReplaceAll(f.cast.plain(text), "\n", `\n`)
}
