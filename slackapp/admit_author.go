package slackapp

import (
	"strings"

	"reeve/runtime/chat"
)

// author is who wrote a message, by what Slack stamps on it alone.
type author struct {
	actor chat.Actor // zero: nobody is known
	// app: an app posted it, be it with a person's own token.
	app      bool
	external bool // he belongs to another organisation
	// unsaid: whose he is stands nowhere, in a channel where that matters.
	unsaid bool
}

// authorOf is the one function that takes an actor from an event. Names,
// profiles and icons are not looked at: anybody may choose those.
func authorOf(raw Raw, ev rawEvent, self Identity) author {
	if ev.stamped() {
		return author{actor: appActor(ev), app: true}
	}
	if !isUserID(ev.User) || isSystemAuthor(ev.User) {
		return author{}
	}
	user := chat.UserID(ev.User)
	if user == self.User {
		return author{}
	}
	known := false
	// source_team says where a message was sent from, not whose author it has.
	for _, team := range [...]stamp{ev.UserTeam, ev.Team} {
		switch {
		case !team.set:
		case self.home(team.value):
			known = true
		case validID(team.value):
			return author{actor: chat.Person(chat.TeamID(team.value), user), external: true}
		default:
			return author{}
		}
	}
	return author{actor: chat.Person(self.Team, user), unsaid: raw.ExtShared && !known}
}

// appActor names the app behind a post. The person whose token it may hold is
// not its author: he did not write it.
func appActor(ev rawEvent) chat.Actor {
	for _, id := range [...]string{ev.BotID.value, ev.AppID.value, ev.ProfileApp} {
		if validID(id) {
			return chat.SystemActor("app-" + id)
		}
	}
	return chat.SystemActor("app")
}

// standingOf says whether an author may instruct, his name if it is known, and
// by which rule he may not.
func standingOf(a author, policy Admission) (chat.Standing, string, string) {
	var name string
	standing, rule := chat.Unchecked, ""
	if a.actor.IsPerson() && policy.Known != nil {
		if facts, ok := policy.Known(a.actor); ok && facts.Standing != "" {
			name, standing, rule = facts.Name, facts.Standing, facts.Why
		}
	}
	switch {
	case a.app:
		return chat.ContextOnly, name, "app"
	case a.unsaid:
		return chat.ContextOnly, name, "unknown_organisation"
	case a.external && !policy.AllowExternal:
		return chat.ContextOnly, name, "external_author"
	case len(policy.Users) > 0 && !policy.Users[a.actor.User]:
		return chat.ContextOnly, name, "user_not_allowed"
	}
	return standing, name, rule
}

// sayingSubtype reports whether somebody says something with a message of this
// subtype; all others tell of something that happened.
func sayingSubtype(ev rawEvent) bool {
	switch ev.Subtype.value {
	case "file_share", "me_message", "thread_broadcast", "bot_message":
		return true
	}
	return !ev.Subtype.set
}

// isSystemAuthor is for Slack's own accounts.
func isSystemAuthor(user string) bool {
	return user == "USLACK" || user == "USLACKBOT" || user == "UREVOKEDU"
}

// isDM reports whether the event stands in a 1:1 DM. A mention does not say
// the type of its channel, but the id of a DM tells.
func isDM(ev rawEvent) bool {
	if ev.ChannelType == "" {
		return strings.HasPrefix(ev.Channel, "D")
	}
	return ev.ChannelType == "im"
}

// visibilityOf is empty when the event does not say.
func visibilityOf(raw Raw, ev rawEvent) chat.Visibility {
	switch {
	case raw.ExtShared:
		return chat.Shared
	case isDM(ev):
		return chat.DM
	case ev.ChannelType == "channel":
		return chat.Public
	case ev.ChannelType == "group", ev.ChannelType == "mpim", strings.HasPrefix(ev.Channel, "G"):
		return chat.Private
	}
	return ""
}

// validID reports whether s can be an id of Slack's: letters, digits and "_".
// Ids become parts of keys, so nothing else may.
func validID(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

func isUserID(s string) bool {
	return validID(s) && (s[0] == 'U' || s[0] == 'W')
}

// isTS reports whether s has the form of a Slack timestamp: ten digits, a dot,
// six digits. Timestamps are compared as strings, so all must have it.
func isTS(s string) bool {
	if len(s) != 17 || s[10] != '.' {
		return false
	}
	for i := range len(s) {
		if i != 10 && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}
