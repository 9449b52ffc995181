package agent

import (
	"strconv"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// noteOrigin is that of what Reeve itself says between entries.
const noteOrigin chat.Origin = "note"

// elements shows an entry as foreign text: its text, and each of its calls.
func (p prompt) elements(e chat.Entry) []Element {
	if e.Origin == noteOrigin {
		return []Element{{Origin: string(noteOrigin), Note: e.Text}}
	}
	base := Element{Origin: string(e.Origin), Author: p.author(e), Tool: e.Tool}
	if base.Author != "you" {
		base.Name = e.Name
	}
	if e.Message != nil {
		base.ID = string(e.Message.Channel) + ":" + string(e.Message.TS)
	}
	when := e.Time
	if when.IsZero() && e.Message != nil {
		when = e.Message.TS.Time()
	}
	if !when.IsZero() {
		base.Time = when.UTC().Format(time.RFC3339)
	}
	var notes []string
	if e.Corrects {
		notes = append(notes, "what the message says since an edit")
	}
	if e.Origin == chat.Steer && e.Author() != p.turn.Actor {
		notes = append(notes, "information from somebody for whom this turn does not act")
	}
	base.Note = strings.Join(notes, "; ")
	if e.File != nil {
		base.File, base.Mime = e.File.Name, e.File.Mime
		if base.File == "" {
			base.File = e.File.ID
		}
		base.Size = strconv.FormatInt(e.File.Size, 10)
	}
	var elements []Element
	if e.Text != "" || len(e.Calls) == 0 {
		said := base
		said.Text = p.seen(e.Text)
		elements = append(elements, said)
	}
	for _, c := range e.Calls {
		asked := base
		asked.Tool, asked.Text, asked.Note = c.Tool, c.Arguments, "a call that you made"
		elements = append(elements, asked)
	}
	return elements
}

// author is an id, or a word where nobody's id is meant.
func (p prompt) author(e chat.Entry) string {
	author := e.Author()
	switch {
	case e.Role == chat.AssistantRole, e.Origin == chat.Summary, p.turn.Bot != "" && author.User == p.turn.Bot:
		return "you"
	case e.Role == chat.ToolRole, e.Origin == chat.Section && author.IsZero():
		return "tool"
	case author.IsZero():
		return "unknown"
	}
	return author.Key()
}
