package slackapp

import (
	"strings"

	"reeve/runtime/chat"
)

// Every sentence that Reeve itself says to people in Slack stands here, but
// for those about a turn that failed, which stand with the agent. Notices go to
// one person alone and are Slack's own markup; answers are Markdown.

// TextNoAnswer stands for an answer with nothing in it.
func TextNoAnswer() string {
	return "I came to an end without anything to say. Please ask again, perhaps in other words."
}

// TextWaiting tells an author that his message waits behind another's turn.
func TextWaiting(runs chat.Actor) string {
	return "I am working for " + mention(runs) + " here right now. Your message is kept and comes next. " +
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

// TextNothingRunning answers a stop when there is nothing to stop.
func TextNothingRunning() string { return "Nothing is running here." }

// TextNotAllowed tells an author why he may not instruct. why is in our own
// words, such as "a guest account".
func TextNotAllowed(why string) string {
	if why == "" {
		return "I may not act on your messages here."
	}
	return "I may not act on your messages, because you write from " + escapeMrkdwn(why) + "."
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
