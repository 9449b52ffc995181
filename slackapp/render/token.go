package render

import (
	"strings"

	"reeve/runtime/chat"
)

// token writes what was read as one of Slack's tokens.
func (w *writer) token(t *token) string {
	switch {
	case w.form == asSource:
		return t.source()
	case t.kind == 'b':
		return w.breakLine()
	case t.kind == 'u':
		return w.link(t, t.body, escapeText(t.label, w.form), t.label)
	case t.kind == '@' && !w.inLink && w.mentions[chat.UserID(t.body)]:
		return w.hold("<@" + t.body + ">")
	}
	return escapeText(w.words(t), w.form)
}

// words is a token as plain words, which ping nobody.
func (w *writer) words(t *token) string {
	word, _, _ := strings.Cut(t.body, "^")
	switch {
	case t.kind == 'b':
		return " "
	case t.kind == '@':
		return "@" + w.nameOf(chat.UserID(t.body))
	case t.kind == '#' && t.label != "":
		return "#" + strings.TrimLeft(t.label, "#")
	case t.kind == '#':
		return "#" + t.body
	case t.label != "" && t.kind == '!' && word != "date":
		return "@" + strings.TrimLeft(t.label, "@")
	case t.label != "":
		return t.label
	case t.kind == '!':
		return "@" + word
	}
	return t.body
}

// source is the token as it was read.
func (t *token) source() string {
	label := ""
	if t.label != "" {
		label = "|" + t.label
	}
	switch t.kind {
	case 'b':
		return "<br>"
	case 'u':
		return "<" + t.body + label + ">"
	}
	return "<" + string(t.kind) + t.body + label + ">"
}

// nameOf is how a person is called without a ping.
func (w *writer) nameOf(id chat.UserID) string {
	if w.name == nil {
		return string(id)
	}
	name := strings.Join(strings.Fields(clean(w.name(id))), " ")
	if name == "" {
		return string(id)
	}
	return name[:byteOffset(name, 40)]
}
