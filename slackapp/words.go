package slackapp

import (
	"slices"
	"strings"
	"unicode"

	"reeve/runtime/chat"
)

// stopWords stop the running turn when one of them stands alone.
var stopWords = []string{"stop", "cancel", "abort"}

// force makes a message steer the running turn, whatever the mode says.
const force = "!!"

// Control is what the start of a message asks of the bot itself, and what is
// left of the message.
type Control struct {
	Forced bool
	Stop   bool
	Text   string
}

// ParseControl takes off mentions of the bot and one "!!", at the start only
// and in either order, and compares what remains with the stop words, case and
// trailing punctuation aside. A "!!" that a third "!" follows is none. text is
// in Slack's escaped form.
func ParseControl(text string, bot chat.UserID) Control {
	var c Control
	for {
		text = strings.TrimSpace(text)
		if rest, ok := cutMention(text, bot); ok {
			text = rest
			continue
		}
		rest, ok := strings.CutPrefix(text, force)
		if !ok || c.Forced || strings.HasPrefix(rest, "!") {
			break
		}
		c.Forced, text = true, rest
	}
	c.Text = text
	c.Stop = isStop(text)
	return c
}

// cutMention takes one mention of the bot off the start, with the comma or
// colon that people write behind a name.
func cutMention(text string, bot chat.UserID) (rest string, ok bool) {
	if !strings.HasPrefix(text, "<@") {
		return text, false
	}
	end := strings.IndexByte(text, '>')
	if end < 0 || !isMention(text[:end+1], bot) {
		return text, false
	}
	rest = text[end+1:]
	for _, mark := range [...]string{", ", ": ", ",\n", ":\n"} {
		if after, found := strings.CutPrefix(rest, mark); found {
			return after, true
		}
	}
	if rest == "," || rest == ":" {
		rest = ""
	}
	return rest, true
}

func isStop(text string) bool {
	word := strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsPunct(r) || unicode.IsSpace(r)
	})
	return slices.Contains(stopWords, strings.ToLower(word))
}
