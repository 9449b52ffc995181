package slack

import (
	"fmt"
	"strings"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	// maxText bounds a whole result, maxMessage one text in it, in bytes.
	maxText    = 48 << 10
	maxMessage = 6 << 10
)

// sheet is a result while it is written. What people wrote is indented, so that
// a line that begins at the margin is never theirs.
type sheet struct {
	strings.Builder
	call plugins.Call
}

// write puts messages on a sheet, the newest of them where not all fit.
func write(call plugins.Call, in plugins.SlackPlace, messages []plugins.SlackMessage, more bool) string {
	s := sheet{call: call}
	if len(messages) == 0 {
		if in.Before == "" {
			return "There are no messages there that anybody wrote."
		}
		return "There are no messages there before " + string(in.Before) + "."
	}
	pieces, size, from := make([]string, len(messages)), 0, len(messages)
	for i := len(messages) - 1; i >= 0; i-- {
		one := sheet{call: call}
		one.message(messages[i])
		if size += one.Len(); size > maxText && i < len(messages)-1 {
			more = true
			break
		}
		pieces[i], from = one.String(), i
	}
	s.place(messages[0].Conversation.Channel, messages[0].Visibility)
	what := "Top-level messages"
	if in.Thread != "" {
		what = "Messages of the thread " + string(in.Thread)
	}
	fmt.Fprintf(&s, "%s, oldest first: %d.", what, len(messages)-from)
	if more {
		fmt.Fprintf(&s, " There are older ones: ask with before=%s.", messages[from].ID.TS)
	}
	s.WriteString("\n\n")
	for _, piece := range pieces[from:] {
		s.WriteString(piece)
	}
	return s.String()
}

// place says where something stands, and who can read it there.
func (s *sheet) place(channel chat.ChannelID, visibility chat.Visibility) {
	kind := map[chat.Visibility]string{
		chat.DM: "a direct message", chat.Private: "a private channel or group message", chat.Public: "a public channel",
		chat.Shared: "a channel shared with another organisation",
	}[visibility]
	fmt.Fprintf(s, "From %s, %s.", channel, kind)
	if channel != s.call.Conversation.Channel && visibility != chat.Public && s.call.Visibility != chat.DM {
		s.WriteString(" Not everybody who reads your answer here may be able to read there: tell no more of it than you were asked for.")
	}
	s.WriteString("\n")
}

// message writes one message with what came with it.
func (s *sheet) message(m plugins.SlackMessage) {
	fmt.Fprintf(s, "[%s] %s, %s:\n", m.ID.TS, s.clock(m.ID.TS), who(m.Author, m.Name))
	s.text(m.Text, "    ")
	for _, a := range m.Attached {
		switch {
		case a.File != nil:
			fmt.Fprintf(s, "  file: %s (%s, %d bytes)\n", flat(a.File.Name), flat(a.File.Mime), a.File.Size)
		default:
			by := ""
			if a.Author != nil {
				by = " of " + a.Author.Key()
			}
			fmt.Fprintf(s, "  quoted or attached%s:\n", by)
			s.text(a.Text, "      ")
		}
	}
	if m.Replies > 0 {
		fmt.Fprintf(s, "  replies: %d; read_thread with channel=%s and thread=%s reads them\n", m.Replies, m.ID.Channel, m.ID.TS)
	}
}

// breaks are all that may be shown as the end of a line.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// text writes what somebody wrote, each line of it indented.
func (s *sheet) text(text, indent string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(breaks.Replace(plugins.CutMiddle(text, maxMessage)), "\n") {
		s.WriteString(indent + line + "\n")
	}
}

// clock is when a message was sent, by the actor's own clock.
func (s *sheet) clock(ts chat.TS) string {
	zone, err := time.LoadLocation(s.call.Zone)
	if err != nil || s.call.Zone == "" || s.call.Zone == "Local" {
		zone = time.UTC
	}
	return ts.Time().In(zone).Format("2006-01-02 15:04 -07:00")
}

// who names an author by his id, and by the name that he has given himself.
func who(author chat.Actor, name string) string {
	id := string(author.User)
	switch {
	case author.System != "":
		id = author.System
	case id == "":
		id = "unknown"
	}
	if name = flat(name); name != "" {
		return fmt.Sprintf("%s (called %q)", id, name)
	}
	return id
}

// flat makes one short line of what somebody chose.
func flat(text string) string {
	line := plugins.CutMiddle(strings.Join(strings.Fields(text), " "), 300)
	return strings.Join(strings.Fields(line), " ") // the note of the cut has lines of its own
}

// describe is what is told of a person.
func describe(p plugins.SlackPerson) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Person %s", p.ID)
	line := func(key, value string) {
		if value = flat(value); value != "" {
			fmt.Fprintf(&b, "\n  %s: %s", key, value)
		}
	}
	line("display name", p.Name)
	line("full name", p.RealName)
	line("title", p.Title)
	line("time zone", p.Zone)
	switch {
	case p.Bot:
		line("account", "a bot's, not a person's")
	case p.Guest:
		line("account", "a guest's")
	default:
		line("account", "a member's")
	}
	if p.Deactivated {
		line("state", "deactivated")
	}
	return b.String()
}
