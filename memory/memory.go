// Package memory is the plugin that remembers: for a person what he has said of
// himself, for a public channel what was found out there.
//
// A model proposes memories and code decides, since a model that has read other
// people's words can be talked into anything. What a model reads before it
// proposes is chosen by who wrote it:
//
//   - a personal memory comes from what its owner typed in a turn of his own,
//     and from nothing else; a turn into which anybody else has steered makes
//     none;
//   - a shared memory comes from what everybody in a public channel could read,
//     and never says anything personal about anybody.
//
// Each proposal cites the entries that it rests on, with words that must stand
// in them. One wrong citation drops it; nothing is mended or taken as something
// less.
package memory

import (
	"strings"
	"time"

	"reeve/runtime/chat"
)

// Kind is what sort of thing is remembered; it decides for how long.
type Kind string

const (
	Preference Kind = "preference" // how somebody likes things
	Fact       Kind = "fact"       // what is so about somebody
	Knowledge  Kind = "knowledge"  // what is so about the work
	Procedure  Kind = "procedure"  // how something is done
	TaskKind   Kind = "task"       // what somebody means to do
	Event      Kind = "event"      // what happens at some time
)

// Owner is whom a memory belongs to: a person, or a channel.
type Owner struct {
	Person  chat.Actor
	Team    chat.TeamID
	Channel chat.ChannelID
}

// Personal is a person's own. ok is false for whoever is no person.
func Personal(actor chat.Actor) (o Owner, ok bool) {
	return Owner{Person: actor}, actor.IsPerson()
}

// Shared is a channel's. ok is false where a part is missing.
func Shared(c chat.Conversation) (o Owner, ok bool) {
	return Owner{Team: c.Team, Channel: c.Channel}, c.Team != "" && c.Channel != ""
}

// IsPersonal reports whether the owner is a person.
func (o Owner) IsPersonal() bool { return o.Person.IsPerson() }

// Key is the owner as a string of ids.
func (o Owner) Key() string {
	if o.IsPersonal() {
		return "person:" + o.Person.Key()
	}
	return "channel:" + string(o.Team) + ":" + string(o.Channel)
}

// ParseOwner reads what Key wrote.
func ParseOwner(key string) (o Owner, ok bool) {
	parts := strings.Split(key, ":")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return Owner{}, false
	}
	switch parts[0] {
	case "person":
		return Owner{Person: chat.Person(chat.TeamID(parts[1]), chat.UserID(parts[2]))}, true
	case "channel":
		return Owner{Team: chat.TeamID(parts[1]), Channel: chat.ChannelID(parts[2])}, true
	}
	return Owner{}, false
}

// Memory is one thing that is remembered.
type Memory struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Topic is what it is about, in a few words: a later memory of the same
	// kind and topic replaces it.
	Topic    string   `json:"topic"`
	Text     string   `json:"text"`
	Evidence Evidence `json:"evidence"`
	// Asked: somebody asked to have it remembered; else it was found after a turn.
	Asked bool `json:"asked,omitempty"`
	// By is the call or the task that has written it: each writes once.
	By      string    `json:"by,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	// ReplacedBy is the memory that has taken its place.
	ReplacedBy string `json:"replaced_by,omitempty"`
	// Forgotten is when it was; for a day it can be brought back. ForgottenBy is
	// the call that did it; empty: a button.
	Forgotten   time.Time `json:"forgotten,omitzero"`
	ForgottenBy string    `json:"forgotten_by,omitempty"`
	// Schema is the version of this record.
	Schema int `json:"v"`
}

// Evidence is what a memory rests on.
type Evidence struct {
	Turn  chat.TurnID `json:"turn"`
	Spans []Span      `json:"spans"`
}

// Span is a piece of an entry, word for word.
type Span struct {
	Entry  string     `json:"entry"`
	Author chat.Actor `json:"author"`
	Text   string     `json:"text"`
}

// schema is the version of the records that this code writes.
const schema = 1

// holds reports whether the memory counts at a moment.
func (m Memory) holds(now time.Time) bool {
	return m.ReplacedBy == "" && m.Forgotten.IsZero() && now.Before(m.Expires)
}

// returns reports whether the memory was forgotten and can be brought back.
func (m Memory) returns(now time.Time) bool {
	return m.ReplacedBy == "" && !m.Forgotten.IsZero() && now.Sub(m.Forgotten) < undo && now.Before(m.Expires)
}

// Authors are the distinct authors of the evidence, first cited first.
func (m Memory) Authors() []chat.Actor {
	var authors []chat.Actor
	seen := map[chat.Actor]bool{}
	for _, s := range m.Evidence.Spans {
		if !seen[s.Author] {
			seen[s.Author] = true
			authors = append(authors, s.Author)
		}
	}
	return authors
}
