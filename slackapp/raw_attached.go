package slackapp

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"reeve/runtime/chat"
)

const (
	// maxText is what one piece of a message may hold, in bytes.
	maxText = 64 << 10
	// maxAttached bounds the pieces of one message.
	maxAttached = 50
	maxName     = 255 // of a file, in bytes
)

// readAttached is what came with a message and was not typed by its author:
// quotes of nobody known, forwards with whom Slack names as their author,
// unfurls, and files.
func readAttached(ev rawEvent, quotes []string, home chat.TeamID) []chat.Attached {
	var all []chat.Attached
	add := func(a chat.Attached) {
		if len(all) < maxAttached && (a.Text != "" || a.File != nil) {
			a.Text = cutMiddle(a.Text, maxText)
			all = append(all, a)
		}
	}
	for _, q := range quotes {
		add(chat.Attached{Origin: chat.Quoted, Text: readable(q)})
	}
	for _, b := range ev.Attachments {
		a := parseFields(b)
		forwarded := forwardAuthor(a, home)
		add(chat.Attached{Origin: chat.Quoted, Author: forwarded, Text: attachmentText(a)})
		for _, f := range a.list("files") {
			add(fileOf(parseFields(f), forwarded, home))
		}
	}
	for _, b := range ev.Files {
		add(fileOf(parseFields(b), nil, home))
	}
	return all
}

// forwardAuthor is whom Slack stamps on a forwarded message; nil on a web page
// or an app's post.
func forwardAuthor(a fields, home chat.TeamID) *chat.Actor {
	if !a.stamp("is_share").set && !a.stamp("is_msg_unfurl").set || a.stamp("bot_id").set || a.stamp("app_id").set {
		return nil
	}
	team := home
	for _, key := range [...]string{"author_team_id", "channel_team"} {
		if t := a.text(key); t != "" {
			team = chat.TeamID(t)
			break
		}
	}
	return personOrNil(team, a.text("author_id"))
}

func attachmentText(a fields) string {
	text := a.text("text")
	if text == "" {
		text = a.text("fallback")
	}
	var lines []string
	for _, line := range [...]string{a.text("pretext"), a.text("title"), text, a.text("from_url")} {
		if line = strings.TrimSpace(readable(line)); line != "" && (len(lines) == 0 || lines[len(lines)-1] != line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func fileOf(f fields, author *chat.Actor, home chat.TeamID) chat.Attached {
	if !validID(f.text("id")) {
		return chat.Attached{}
	}
	if author == nil {
		team := home
		if t := f.text("user_team"); t != "" {
			team = chat.TeamID(t)
		}
		author = personOrNil(team, f.text("user"))
	}
	name := f.text("name")
	if name == "" {
		name = f.text("title")
	}
	return chat.Attached{Origin: chat.FileOrigin, Author: author, File: &chat.File{
		ID: f.text("id"), Name: cutEnd(name, maxName), Mime: cutEnd(f.text("mimetype"), maxName),
		Size: max(f.number("size"), 0),
	}}
}

func personOrNil(team chat.TeamID, user string) *chat.Actor {
	if !validID(string(team)) || !isUserID(user) {
		return nil
	}
	who := chat.Person(team, chat.UserID(user))
	return &who
}

// cutMiddle keeps the two ends of a text that is longer than limit bytes, with
// a note between them.
func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	note := "\n[… " + strconv.Itoa(len(s)-limit) + " bytes left out here …]\n"
	keep := max(limit-len(note), 0)
	head, tail := keep/2, len(s)-(keep-keep/2)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + note + s[tail:]
}

func cutEnd(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
