package slackapp

import (
	"strings"

	"reeve/runtime/chat"
)

// said is what the author of a message typed, told apart from what he quoted.
// Its strings are still in Slack's escaped form, in which a raw "<" can only
// come from Slack itself.
type said struct {
	body      string
	quotes    []string
	mentioned bool // the bot, outside code and quotes
}

// readSaid takes a message apart: by its rich text where it has any, for that
// says what is code and what is quoted, and by its text otherwise.
func readSaid(ev rawEvent, bot chat.UserID) said {
	if s, ok := saidInBlocks(ev.Blocks, channelNames(ev.Text), bot); ok {
		return s
	}
	return saidInText(ev.Text, bot)
}

// saidInText reads Slack's own markup: ``` fences, `code`, lines that begin
// with > and the rest of a message after >>>. A fence or a backtick that is
// never closed is none.
func saidInText(text string, bot chat.UserID) said {
	var s said
	var body strings.Builder
	quoting, lineStart := false, true
	for i := 0; i < len(text); {
		rest := text[i:]
		if lineStart {
			if line, quote, all := quoteLine(rest); quote != "" || line > 0 {
				if quoting && !all {
					s.quotes[len(s.quotes)-1] += "\n" + quote
				} else {
					s.quotes = append(s.quotes, quote)
				}
				quoting = true
				i += line
				continue
			}
		}
		n := 1
		switch {
		case strings.HasPrefix(rest, "```"):
			n = 3
			if end := strings.Index(rest[3:], "```"); end >= 0 {
				n = end + 6
			}
		case rest[0] == '`':
			if end := strings.IndexAny(rest[1:], "`\n"); end > 0 && rest[1+end] == '`' {
				n = end + 2
			}
		case rest[0] == '<':
			if end := strings.IndexAny(rest[1:], "<>\n"); end > 0 && rest[1+end] == '>' {
				n = end + 2
				s.mentioned = s.mentioned || isMention(rest[:n], bot)
			}
		}
		body.WriteString(rest[:n])
		quoting, lineStart = false, rest[n-1] == '\n'
		i += n
	}
	s.body = body.String()
	return s
}

// quoteLine reads one quoted line at the start of s: how long it is with its
// line break, and what is quoted. all says that the quote goes on to the end.
func quoteLine(s string) (length int, quote string, all bool) {
	for _, mark := range [...]string{"&gt;&gt;&gt;", ">>>"} {
		if strings.HasPrefix(s, mark) {
			return len(s), strings.TrimSpace(s[len(mark):]), true
		}
	}
	for _, mark := range [...]string{"&gt;", ">"} {
		if strings.HasPrefix(s, mark) {
			line, _, found := strings.Cut(s, "\n")
			length = len(line)
			if found {
				length++
			}
			return length, strings.TrimSpace(line[len(mark):]), false
		}
	}
	return 0, "", false
}

// isMention reports whether token is <@BOT> or <@BOT|name>.
func isMention(token string, bot chat.UserID) bool {
	inner, ok := strings.CutPrefix(token, "<@")
	if !ok || bot == "" {
		return false
	}
	id, _, _ := strings.Cut(strings.TrimSuffix(inner, ">"), "|")
	return id == string(bot)
}

// unescape undoes Slack's three escapes, each once.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace

// escape is its inverse, for text that blocks hold unescaped.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// readable undoes the escapes and writes links, channels and groups as people
// read them. Mentions of people stay, as <@U...>.
func readable(s string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "<")
		out.WriteString(unescape(before))
		if !found {
			return out.String()
		}
		end := strings.IndexAny(rest, "<>\n")
		if end <= 0 || rest[end] != '>' {
			out.WriteByte('<')
			s = rest
			continue
		}
		out.WriteString(readToken(rest[:end]))
		s = rest[end+1:]
	}
}

func readToken(inner string) string {
	target, label, _ := strings.Cut(inner, "|")
	target, label = unescape(target), unescape(label)
	switch target[:min(1, len(target))] {
	case "@":
		return "<" + target + ">"
	case "#":
		if label != "" {
			return "#" + label
		}
		return target
	case "!":
		if label != "" {
			return "@" + strings.TrimPrefix(label, "@")
		}
		return "@" + strings.TrimPrefix(target[1:], "subteam^")
	}
	address := strings.TrimPrefix(target, "mailto:")
	bare := strings.TrimPrefix(strings.TrimPrefix(target, "https://"), "http://")
	switch label {
	case "", target, address, bare, strings.TrimSuffix(bare, "/"):
		return address
	}
	return label + " (" + address + ")"
}

// channelNames are the names that a text gives to its channels; the blocks
// hold ids alone.
func channelNames(text string) map[string]string {
	var names map[string]string
	for {
		_, rest, found := strings.Cut(text, "<#")
		if !found {
			return names
		}
		inner, after, closed := strings.Cut(rest, ">")
		if id, name, labelled := strings.Cut(inner, "|"); closed && labelled && name != "" {
			if names == nil {
				names = map[string]string{}
			}
			names[id] = name
		}
		text = after
	}
}
