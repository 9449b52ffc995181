package slackapp

import (
	"encoding/json"
	"strings"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// Admission is what an operator allows, and what is known of people. Lists
// hold ids, never names; an empty list allows everybody.
type Admission struct {
	AllowExternal bool
	// Channels are those in which the bot takes part. 1:1 DMs are no channels:
	// who may write there is said by Users alone.
	Channels map[chat.ChannelID]bool
	// Users are those who may instruct; what others say is context.
	Users map[chat.UserID]bool
	// StopReaction is the emoji that stops a turn, without colons.
	StopReaction string
	// Known looks a person's account facts up without asking Slack. Nil knows
	// nobody.
	Known func(chat.Actor) (runtime.Facts, bool)
}

// Kind says what an event is to us.
type Kind string

const (
	KindIgnored Kind = "ignored" // acknowledged, and nothing more
	KindMessage Kind = "message"
	// KindMention is an app_mention: its message event is the better copy.
	KindMention      Kind = "mention"
	KindEdit         Kind = "edit"
	KindDeletion     Kind = "deletion"
	KindStopClick    Kind = "stop_click"
	KindStopReaction Kind = "stop_reaction"
	// KindHome: the Message's author has opened the home tab.
	KindHome Kind = "home"
)

// Verdict is what admission says of one event.
type Verdict struct {
	Kind Kind
	// Rule is why an event is ignored, or why a message is only context.
	Rule string
	// Message of a KindMessage; of the kinds after it, with its Change.
	Message chat.Message
	// About is the message that the event is about; for a KindStopClick, the root
	// of its thread.
	About  chat.MessageID
	Thread chat.TS
}

func ignored(rule string) Verdict { return Verdict{Kind: KindIgnored, Rule: rule} }

// Admit decides what an event is, from its raw form and what is known without
// asking anybody. It is the only place where that is decided.
func Admit(raw Raw, self Identity, policy Admission) Verdict {
	ev := raw.Event
	switch {
	case !self.whole():
		return ignored("own_identity_unknown")
	case !raw.Callback:
		return ignored("not_an_event_callback")
	case raw.Team != self.Team:
		return ignored("other_workspace")
	}
	switch ev.Type {
	case "message":
		switch ev.Subtype.value {
		case "message_changed":
			return admitChange(raw, self, policy)
		case "message_deleted":
			return admitDeletion(raw, self, policy, ev.DeletedTS, newRawEvent(parseFields(ev.Previous)))
		}
		return admitMessage(raw, ev, self, policy)
	case "app_mention":
		return admitMention(raw, self, policy)
	case "app_home_opened":
		if ev.Tab != "home" || !validID(ev.User) || isSystemAuthor(ev.User) {
			return ignored("tab")
		}
		return Verdict{Kind: KindHome, Message: chat.Message{Author: chat.Person(self.Team, chat.UserID(ev.User))}}
	case "agent_session_stopped":
		return admitSign(raw, self, policy, KindStopClick, ev.Channel, ev.ThreadTS)
	case "reaction_added":
		// A hand in another skin is the same sign.
		name, _, _ := strings.Cut(ev.Reaction, "::")
		if policy.StopReaction == "" || name != policy.StopReaction {
			return ignored("reaction")
		}
		return admitSign(raw, self, policy, KindStopReaction, ev.ItemChannel, ev.ItemTS)
	}
	return ignored("event_type")
}

// admitMessage is for a message of a channel, a group or a DM, whether it came
// as an event or was read from Slack.
func admitMessage(raw Raw, ev rawEvent, self Identity, policy Admission) Verdict {
	switch {
	case !validID(ev.Channel) || !isTS(ev.TS) || ev.ThreadTS != "" && !isTS(ev.ThreadTS):
		return ignored("malformed")
	case self.posted(raw, ev):
		return ignored("own_post")
	case !sayingSubtype(ev):
		return ignored("subtype")
	case isSystemAuthor(ev.User):
		return ignored("system_author")
	case !isDM(ev) && len(policy.Channels) > 0 && !policy.Channels[chat.ChannelID(ev.Channel)]:
		return ignored("channel_not_allowed")
	}
	author := authorOf(raw, ev, self)
	if author.actor.IsZero() {
		return ignored("no_author")
	}
	m := newMessage(ev, self)
	m.Author = author.actor
	m.Visibility = visibilityOf(raw, ev)
	var rule string
	m.Standing, m.Name, rule = standingOf(author, policy)
	if raw.ExtShared && !policy.AllowExternal {
		m.Standing, rule = chat.ContextOnly, "external_channel"
	}
	if m.Standing == chat.ContextOnly {
		m.Forced, m.Stop = false, false
		// A person is told why he may not instruct; an app never is.
		m.Rule = rule
		m.Addressed = m.Addressed && m.Author.IsPerson()
	}
	return Verdict{Kind: KindMessage, Rule: rule, Message: m, About: m.ID, Thread: m.Conversation.Root}
}

// newMessage reads what a message says, whoever its author is.
func newMessage(ev rawEvent, self Identity) chat.Message {
	s := readSaid(ev, self.User)
	control := ParseControl(s.body, self.User)
	root := ev.ThreadTS
	if root == "" {
		root = ev.TS
	}
	m := chat.Message{
		ID: chat.MessageID{Team: self.Team, Channel: chat.ChannelID(ev.Channel), TS: chat.TS(ev.TS)},
		Conversation: chat.Conversation{
			Team: self.Team, Channel: chat.ChannelID(ev.Channel), Root: chat.TS(root),
		},
		Addressed: s.mentioned || isDM(ev),
		Forced:    control.Forced,
		Stop:      control.Stop,
		Text:      cutMiddle(readable(control.Text), maxText),
		Attached:  readAttached(ev, s.quotes, self.Team),
	}
	if ev.Edited && isTS(ev.EditedTS) {
		m.Edited = chat.TS(ev.EditedTS)
	}
	return m
}

// admitMention is for an app_mention. In DMs of any kind the message event is
// enough; one that an edit caused is no first mention of its own.
func admitMention(raw Raw, self Identity, policy Admission) Verdict {
	ev := raw.Event
	switch {
	case isDM(ev) || ev.ChannelType == "mpim":
		return ignored("mention_in_dm")
	case ev.Edited:
		return ignored("mention_by_edit") // its message_changed says more
	}
	v := admitMessage(raw, ev, self, policy)
	if v.Kind == KindMessage {
		v.Kind, v.Message = KindMention, chat.Message{}
	}
	return v
}

// AdmitFetched admits the message that Slack gave for a held mention.
func AdmitFetched(raw Raw, message json.RawMessage, self Identity, policy Admission) Verdict {
	ev := newRawEvent(parseFields(message))
	if ev.TS != raw.Event.TS {
		return ignored("fetched_another")
	}
	ev.Channel, ev.ChannelType = raw.Event.Channel, raw.Event.ChannelType
	return admitMessage(raw, ev, self, policy)
}

// AdmitMention admits a mention for want of its message. An event of this kind
// does not carry all that Slack stamps on a message, so one that carries
// anything of an app is not taken at all.
func AdmitMention(raw Raw, self Identity, policy Admission) Verdict {
	if raw.Event.stamped() {
		return ignored("mention_by_app")
	}
	return admitMessage(raw, raw.Event, self, policy)
}

// ReadMessage understands one message of a thread that was read from Slack, by
// the same rules. ok is false for our own posts and for what nobody said.
func ReadMessage(message json.RawMessage, in chat.Conversation, visibility chat.Visibility, self Identity, policy Admission) (m chat.Message, ok bool) {
	if !self.whole() {
		return chat.Message{}, false
	}
	ev := newRawEvent(parseFields(message))
	ev.Channel = string(in.Channel)
	raw := Raw{Team: in.Team, ExtShared: visibility == chat.Shared}
	v := admitMessage(raw, ev, self, policy)
	if v.Kind != KindMessage {
		return chat.Message{}, false
	}
	v.Message.Conversation, v.Message.Visibility = in, visibility
	return v.Message, true
}
