package github

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// mark is how a text of ours is known again by the call that wrote it: nobody
// sees it in the page, and nobody can know it before.
func mark(key string) string {
	hash := sha256.Sum256([]byte(key))
	return "<!-- reeve " + hex.EncodeToString(hash[:12]) + " -->"
}

// credited is a text as it is written: the mark, a line that says for whom, and
// then the text. The line stands in front because a text can swallow what comes
// behind it, with a comment or a fold that it does not close.
func credited(key string, who user, run plugins.Run, body string) string {
	return mark(key) + "\n" + credit(who, run) + "\n\n" + body
}

// credit names the person for whom something was written, and everybody whose
// words were steered into that, each once. GitHub accounts of those are not
// known, and their names in Slack are what they choose: they stand as code, in
// which nothing is a mention, a link or a command.
func credit(who user, run plugins.Run) string {
	line := fmt.Sprintf("Reeve wrote this for @%s, who asked for it in Slack.", who.Login)
	var others []string
	for _, person := range run.Contributors {
		if person == run.Actor {
			continue
		}
		others = append(others, named(person, run.Transcript))
	}
	const most = 10
	switch more := len(others) - most; {
	case more > 0:
		line += fmt.Sprintf(" Words of others went into it: %s, and %d more.", strings.Join(others[:most], ", "), more)
	case len(others) > 0:
		line += " Words of others went into it: " + strings.Join(others, ", ") + "."
	}
	return line
}

func named(person chat.Actor, transcript []plugins.Entry) string {
	id := plain(string(person.User))
	switch {
	case person.System != "":
		id = plain(person.System)
	case id == "":
		return "somebody whom Slack does not name"
	}
	name := ""
	for _, e := range transcript {
		if e.Author == person && plain(e.Name) != "" {
			name = plain(e.Name)
		}
	}
	if name == "" {
		return "`" + id + "` in Slack"
	}
	return "`" + name + "` (`" + id + "` in Slack)"
}

// plain is a name without anything that means something on GitHub, or to what
// reads there: letters, digits, and what joins them.
func plain(name string) string {
	const longest = 40
	var b strings.Builder
	count, marks := 0, 0
	for _, r := range strings.ToValidUTF8(name, "") {
		switch {
		case unicode.Is(unicode.M, r):
			if marks++; marks > 2 || count == 0 {
				continue
			}
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(".-_'’()+", r):
			marks = 0
		default:
			r, marks = ' ', 0
		}
		b.WriteRune(r)
		if count++; count == longest {
			break
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
