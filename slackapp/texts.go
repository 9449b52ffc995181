package slackapp

import (
	"fmt"
	"strings"

	"reeve/runtime/chat"
)

// Every sentence that Reeve itself says to people in Slack stands here, or, of
// cards, in the other files whose names begin so; but for those about a turn that
// failed, which stand with the agent. Notices go to one person alone and are
// Slack's own markup; answers are Markdown.

// TextNoAnswer stands for an answer with nothing in it.
func TextNoAnswer() string {
	return "I came to an end without anything to say. Please ask again, perhaps in other words."
}

// TextWaiting tells an author that his message waits behind another's turn.
func TextWaiting(runs chat.Actor) string {
	return "I am working for " + mention(runs) + " here right now. Your message is kept; its turn comes next, after those that wait already. " +
		"If it belongs to the work under way, write it again with `!!` in front: then your words reach that work at once, as information."
}

// TextFull tells an author that his message was not taken for want of room.
func TextFull() string {
	return "I could not take your message: too many are waiting here already. Nothing of it is kept, so please send it again later."
}

// TextNotYours tells somebody that he may not stop another's turn.
func TextNotYours(runs chat.Actor) string {
	if runs.IsZero() {
		return "Only the person for whom I work here may stop it."
	}
	return "I am working for " + mention(runs) + " here, and only they may stop it."
}

// TextNothingRunning answers a stop when there is nothing to stop; newer: what
// runs now is newer than the stop.
func TextNothingRunning(newer bool) string {
	if newer {
		return "Your stop came when its turn had ended already. What runs here now began after it; write `stop` again to stop that."
	}
	return "Nothing is running here."
}

// TextNotAllowed tells an author why he may not instruct: by a rule of
// admission, or in our own words, such as "a guest account".
func TextNotAllowed(why string) string {
	switch why {
	case "":
		return "I may not act on your messages here."
	case "external_channel":
		return "I do not work in channels that are shared with another organisation."
	case "user_not_allowed":
		return "I may not act on your messages: you are not among the people for whom I was set up to work."
	case "external_author", "unknown_organisation":
		why = "another organisation"
	}
	return "I may not act on your messages, because you write from " + escapeMrkdwn(why) + "."
}

// TextRefused tells the actor of a turn that Slack will not take a part of its
// answer. code is Slack's own word for why, if it gave one.
func TextRefused(turn chat.TurnID, code string) string {
	why := ""
	if code = onlyWord(code); code != "" {
		why = " (`" + code + "`)"
	}
	return "I could not post all of my answer to your request (turn " + turn.Short() + "): Slack will not take it" + why +
		". What is missing is kept for whoever runs me. If you still need it, ask me again elsewhere, or here once Slack takes it."
}

// TextLate tells the actor of a turn that its answer comes too late.
func TextLate(turn chat.TurnID) string {
	return "I could not post all of my answer to your request (turn " + turn.Short() + ") for so long that I do not post it any more. " +
		"What is missing is kept for whoever runs me. If you still need it, please ask again."
}

// TextMoved goes before an answer that is given to its turn's actor alone.
func TextMoved(answer string) string {
	return "*More people can read where you asked than when I began, so I give this to you alone:*\n\n" + answer
}

// onlyWord keeps what can be an error code of Slack's.
func onlyWord(code string) string {
	if len(code) > 60 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return code
}

// mention is an actor as Slack shows people: by id, never by name.
func mention(a chat.Actor) string {
	switch {
	case a.IsPerson() && isUserID(string(a.User)):
		return "<@" + string(a.User) + ">"
	case a.System != "":
		return "the " + escapeMrkdwn(a.System)
	}
	return "somebody else"
}

func escapeMrkdwn(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// Sentences of the home tab.

// TextHomeBroken stands where a list could not be read.
func TextHomeBroken() string {
	return "This list cannot be shown right now. Please open this tab again in a few minutes."
}

// TextHomeMore stands for what has no room.
func TextHomeMore(n int) string {
	return fmt.Sprintf("There are %d more. Ask me in a direct message to see them all.", n)
}

// TextHomeNotSent says that what a button was to send did not go out.
func TextHomeNotSent() string {
	return "I could not send you the direct message. Please press the button again."
}

// TextHomeYes and TextHomeNo are the answers to what a button asks.
func TextHomeYes() string { return "Yes" }

// TextHomeNo is the other answer.
func TextHomeNo() string { return "No" }
