package slackapp

import (
	"strings"

	"reeve/runtime/chat"
)

// admitChange is for message_changed, which Slack also sends for unfurls,
// counters and the like: an edit is a change of the text that carries the mark
// of one.
func admitChange(raw Raw, self Identity, policy Admission) Verdict {
	now, before := newRawEvent(parseFields(raw.Event.Message)), newRawEvent(parseFields(raw.Event.Previous))
	switch {
	case now.Subtype.value == "tombstone":
		return admitDeletion(raw, self, policy, now.TS, before)
	case !now.Edited || now.Text == before.Text:
		return ignored("changed_without_edit")
	}
	now.Channel, now.ChannelType = raw.Event.Channel, raw.Event.ChannelType
	before.Channel, before.ChannelType = now.Channel, now.ChannelType
	if !isTS(raw.Event.TS) {
		return ignored("malformed")
	}
	v := admitMessage(raw, now, self, policy)
	if v.Kind != KindMessage {
		return v
	}
	v.Kind, v.Rule = KindEdit, "edit"
	// An edit forces nothing; a "!!" has been taken off.
	v.Message.Forced = false
	v.Message.Change = &chat.Change{
		Kind: chat.Edited, TS: chat.TS(raw.Event.TS),
		ByAuthor: now.EditedUser == now.User, Differs: true, ByApp: now.stamped(),
		AddsMention: before.TS != "" && mentions(now, self) && !mentions(before, self),
	}
	return v
}

func mentions(ev rawEvent, self Identity) bool { return readSaid(ev, self.User).mentioned }

// admitDeletion is for a message that is gone. It counts whoever made it, for
// Slack does not say.
func admitDeletion(raw Raw, self Identity, policy Admission, ts string, before rawEvent) Verdict {
	channel := chat.ChannelID(raw.Event.Channel)
	switch {
	case !validID(string(channel)) || !isTS(ts) || !isTS(raw.Event.TS):
		return ignored("malformed")
	case !isDM(raw.Event) && len(policy.Channels) > 0 && !policy.Channels[channel]:
		return ignored("channel_not_allowed")
	}
	root := ts
	if isTS(before.ThreadTS) {
		root = before.ThreadTS
	}
	m := chat.Message{
		ID:           chat.MessageID{Team: self.Team, Channel: channel, TS: chat.TS(ts)},
		Conversation: chat.Conversation{Team: self.Team, Channel: channel, Root: chat.TS(root)},
		Change:       &chat.Change{Kind: chat.Deleted, TS: chat.TS(raw.Event.TS)},
	}
	if isDM(rawEvent{Channel: string(channel)}) {
		m.Visibility = chat.DM // its order is the whole DM's
	}
	return Verdict{Kind: KindDeletion, Rule: "deletion", Message: m, About: m.ID, Thread: m.Conversation.Root}
}

// admitSign is for a stop that is no message: a reaction to one, or Slack's own
// Stop button in a thread. It counts from its own time on. What kind of channel
// it is no event of these says, nor whose organisation the person belongs to: in
// a channel shared with another one it is nobody's who may instruct.
func admitSign(raw Raw, self Identity, policy Admission, kind Kind, channel, on string) Verdict {
	ev := raw.Event
	switch {
	case !validID(channel) || !isTS(on) || !isTS(ev.EventTS):
		return ignored("malformed")
	case !strings.HasPrefix(channel, "D") && len(policy.Channels) > 0 && !policy.Channels[chat.ChannelID(channel)]:
		return ignored("channel_not_allowed")
	}
	author := authorOf(raw, ev, self)
	if !author.actor.IsPerson() {
		return ignored("no_author")
	}
	m := chat.Message{
		ID:           chat.MessageID{Team: self.Team, Channel: chat.ChannelID(channel), TS: chat.TS(ev.EventTS)},
		Conversation: chat.Conversation{Team: self.Team, Channel: chat.ChannelID(channel), Root: chat.TS(on)},
		Author:       author.actor, Stop: true,
		Change: &chat.Change{Kind: chat.StopSign, TS: chat.TS(ev.EventTS)},
	}
	if isDM(rawEvent{Channel: channel}) {
		m.Visibility = chat.DM
	}
	m.Standing, m.Name, _ = standingOf(author, policy)
	if kind == KindStopReaction {
		m.Change.On = chat.TS(on)
	}
	return Verdict{Kind: kind, Rule: string(kind), Message: m, About: chat.MessageID{Team: self.Team, Channel: chat.ChannelID(channel), TS: chat.TS(on)}, Thread: chat.TS(on)}
}
