// Package chat holds the nouns that every other package shares: who speaks,
// where, what was said, and with which authority it counts. It has no
// behaviour beyond naming and telling apart, and imports the standard library
// alone.
package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Ids as Slack stamps them. Each has a type of its own, so that a user can
// never be passed where a channel is meant.
type (
	TeamID    string
	UserID    string
	ChannelID string
	// TS is a Slack timestamp ("1700000000.000100"): the id of a message
	// within its channel. All have the same form and are compared as strings.
	TS string
	// TurnID is "t_" and a lower-case ULID.
	TurnID string
)

// Short is how a turn is named to people: the last six characters of its id.
func (t TurnID) Short() string {
	if len(t) <= 6 {
		return string(t)
	}
	return string(t[len(t)-6:])
}

// Actor is who originates or executes work: a person (team and user id) or a
// named system actor. Identity is ids, never a display name.
type Actor struct {
	Team   TeamID `json:"team,omitempty"`
	User   UserID `json:"user,omitempty"`
	System string `json:"system,omitempty"`
}

// Person is the actor of a human being in Slack.
func Person(team TeamID, user UserID) Actor { return Actor{Team: team, User: user} }

// SystemActor is a named actor that is nobody's person, such as "scheduler".
func SystemActor(name string) Actor { return Actor{System: name} }

// Scheduler is the system actor whose turns do what people have asked for at a
// time that has come.
var Scheduler = SystemActor("scheduler")

// IsPerson reports whether a is a whole person: both ids and no system name.
func (a Actor) IsPerson() bool { return a.Team != "" && a.User != "" && a.System == "" }

// IsZero reports whether a names nobody.
func (a Actor) IsZero() bool { return a == Actor{} }

// IsWhole reports whether a names somebody: a whole person, or a system actor.
func (a Actor) IsWhole() bool {
	read, ok := ParseActor(a.Key())
	return ok && read == a
}

// UnmarshalJSON reads an actor. What is none is nobody, so that whatever names
// its author in another form has no author.
func (a *Actor) UnmarshalJSON(raw []byte) error {
	type plain Actor
	var read plain
	if json.Unmarshal(raw, &read) != nil {
		read = plain{}
	}
	*a = Actor(read)
	return nil
}

// Key is the actor as one string for keys and logs: "TEAM:USER" or "system:NAME".
func (a Actor) Key() string {
	if a.System != "" {
		return "system:" + a.System
	}
	if a.IsZero() {
		return ""
	}
	return string(a.Team) + ":" + string(a.User)
}

// ParseActor reads what Key wrote; ok is false for anything else.
func ParseActor(key string) (a Actor, ok bool) {
	first, second, found := strings.Cut(key, ":")
	if !found || first == "" || second == "" || strings.Contains(second, ":") {
		return Actor{}, false
	}
	if first == "system" {
		return SystemActor(second), true
	}
	return Person(TeamID(first), UserID(second)), true
}

// Conversation is one Slack thread, in a channel or in a DM.
type Conversation struct {
	Team    TeamID    `json:"team"`
	Channel ChannelID `json:"channel"`
	Root    TS        `json:"root"`
}

// Key is "TEAM:CHANNEL:ROOT_TS".
func (c Conversation) Key() string {
	return string(c.Team) + ":" + string(c.Channel) + ":" + string(c.Root)
}

// ParseConversation reads what Key wrote; ok is false for anything else.
func ParseConversation(key string) (c Conversation, ok bool) {
	parts := strings.Split(key, ":")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Conversation{}, false
	}
	return Conversation{TeamID(parts[0]), ChannelID(parts[1]), TS(parts[2])}, true
}

// MessageID names one message of a team.
type MessageID struct {
	Team    TeamID    `json:"team"`
	Channel ChannelID `json:"channel"`
	TS      TS        `json:"ts"`
}

// Visibility says who can read a conversation.
type Visibility string

const (
	DM      Visibility = "dm"      // one person and the bot
	Private Visibility = "private" // a private channel or a group DM
	Public  Visibility = "public"
	Shared  Visibility = "shared" // with another organisation
)

// Standing says whether the author of a message may instruct.
type Standing string

const (
	// MayInstruct: a member who passed every check.
	MayInstruct Standing = "may_instruct"
	// Unchecked: a person by the event's own stamps, whose account facts
	// (guest, bot, deleted, stranger) are not known yet. It is decided like
	// MayInstruct, and checked before a model call can read it.
	Unchecked Standing = "unchecked"
	// ContextOnly: bots, workflows, apps acting for a person, external or
	// unknown people, and guests unless allowed.
	ContextOnly Standing = "context_only"
)

// Message is one inbound utterance, as admission understood it.
type Message struct {
	ID           MessageID    `json:"id"`
	Conversation Conversation `json:"conversation"`
	Visibility   Visibility   `json:"visibility,omitempty"`
	Author       Actor        `json:"author"`
	// Name is the author's display name when it was known: for showing only.
	Name     string   `json:"name,omitempty"`
	Standing Standing `json:"standing,omitempty"`
	// Rule is why the message is only context, as admission names it or in
	// words ("a guest account").
	Rule string `json:"-"`
	// Addressed: it mentions the bot outside code and quotes, or stands in a
	// 1:1 DM.
	Addressed bool `json:"addressed,omitempty"`
	// Forced: it begins with "!!".
	Forced bool `json:"forced,omitempty"`
	// Stop: it is a stop word alone.
	Stop bool `json:"stop,omitempty"`
	// Text is what its author typed outside quote blocks, with the control
	// prefix and leading mentions of the bot taken off and Slack's escapes
	// undone. Mentions stay as <@U...>.
	Text string `json:"text,omitempty"`
	// Attached is what came with the text and was not typed by the author:
	// quotes, forwards, unfurls, files. Never an instruction.
	Attached []Attached `json:"attached,omitempty"`
	// Edited is the ts of the edit that this text comes from, if any.
	Edited TS `json:"edited,omitempty"`
	// Corrects is the message whose new text this is, when an edit joins the
	// turn that has read the old one.
	Corrects *MessageID `json:"corrects,omitempty"`
	// Due is set when nobody has sent this message: its time has come.
	Due *Due `json:"due,omitempty"`
	// Change is set when this is no new message but a change of one, or a stop
	// that is no message.
	Change *Change `json:"-"`
}

// ChangeKind says what has happened to a message.
type ChangeKind string

const (
	// Edited: the message's text is another one; the Message holds the new.
	Edited ChangeKind = "edit"
	// Deleted: the message is gone; the Message holds its id alone.
	Deleted ChangeKind = "deletion"
	// StopSign: a reaction to the message, or Slack's own Stop button in its
	// thread. The Message is the stop: its id is the sign's own.
	StopSign ChangeKind = "stop_sign"
)

// Change is what has happened to a message, as Slack stamps it.
type Change struct {
	Kind ChangeKind
	// TS is the change's own, which no message has.
	TS TS
	// Of an edit: whether its author made it, its text differs, an app made
	// it, and its text before had no mention of the bot while this one has.
	ByAuthor, Differs, ByApp, AddsMention bool
	// On is the message that a reaction stands on; empty: Slack's own button.
	On TS
	// Turn is whose post that is, where the post is in another place.
	Turn TurnID
}

// Attached is one piece of a message that its author did not type.
type Attached struct {
	Origin Origin `json:"origin"` // Quoted or FileOrigin
	// Author is whom Slack stamps on the piece, or nil.
	Author *Actor `json:"author,omitempty"`
	Text   string `json:"text,omitempty"`
	File   *File  `json:"file,omitempty"`
}

// File is a file in Slack, kept by id.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	Mime string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes
}

// TSOf writes a time in the form of a Slack timestamp.
func TSOf(t time.Time) TS {
	return TS(fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000))
}

// Time is when a Slack timestamp says that its message was sent.
func (ts TS) Time() time.Time {
	sec, frac, _ := strings.Cut(string(ts), ".")
	var s, us int64
	for _, r := range sec {
		if r < '0' || r > '9' {
			return time.Time{}
		}
		s = s*10 + int64(r-'0')
	}
	for i, r := range frac {
		if r < '0' || r > '9' {
			return time.Time{}
		}
		if i < 6 { // what stands behind is no time: see DueTS
			us = us*10 + int64(r-'0')
		}
	}
	return time.Unix(s, us*1000).UTC()
}
