package slackapp

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"reeve/runtime/chat"
)

// Raw is the payload of an events_api envelope, decoded by ourselves: the
// types of slack-go drop fields on which admission stands (app_id, team,
// subtype of a mention), and refuse a whole event for one odd block. No
// well-formed JSON object is refused here; what has the wrong type counts as
// the worse of what it may mean.
type Raw struct {
	// Team is the workspace of the installation that the event is for.
	Team chat.TeamID
	// App is our own app's id, as the envelope names it.
	App string
	// ExtShared: the channel is shared with another organisation.
	ExtShared bool
	Callback  bool // of type event_callback
	EventID   string
	Event     rawEvent
}

// rawEvent is the inner event, or a message that stands in one or was read
// from a channel.
type rawEvent struct {
	Type        string
	Subtype     stamp
	Channel     string
	ChannelType string
	User        string
	TS          string
	EventTS     string // the event's own, which of a reaction is no message's
	ThreadTS    string
	Text        string

	// What Slack stamps on everything that an app posts, under whosever token.
	BotID, AppID, BotProfile, WorkflowID stamp
	// ProfileApp is the app named in bot_profile.
	ProfileApp string

	// Where the author belongs.
	Team, UserTeam, SourceTeam stamp

	Edited      bool
	EditedTS    string
	EditedUser  string
	ClientMsgID string

	Blocks, Attachments, Files []json.RawMessage

	// Of message_changed and message_deleted.
	Message, Previous json.RawMessage
	DeletedTS         string

	// Of reaction_added.
	Reaction    string
	ItemChannel string
	ItemTS      string

	// Of app_home_opened.
	Tab string
}

var errNoObject = errors.New("not a JSON object")

// ParseRaw decodes the payload of an events_api envelope.
func ParseRaw(payload []byte) (Raw, error) {
	f := parseFields(payload)
	if f == nil {
		return Raw{}, errNoObject
	}
	raw := Raw{
		Team:      chat.TeamID(f.text("team_id")),
		App:       f.text("api_app_id"),
		ExtShared: f.stamp("is_ext_shared_channel").set,
		Callback:  f.text("type") == "event_callback",
		EventID:   f.text("event_id"),
		Event:     newRawEvent(parseFields(f["event"])),
	}
	// In a channel shared between organisations the outer team_id may be the
	// other side's; the first authorization is the installation's.
	if list := f.list("authorizations"); len(list) > 0 {
		if team := parseFields(list[0]).text("team_id"); team != "" {
			raw.Team = chat.TeamID(team)
		}
	}
	return raw, nil
}

func newRawEvent(f fields) rawEvent {
	item, edited := parseFields(f["item"]), parseFields(f["edited"])
	return rawEvent{
		Type:        f.text("type"),
		Subtype:     f.stamp("subtype"),
		Channel:     f.text("channel"),
		ChannelType: f.text("channel_type"),
		User:        f.text("user"),
		TS:          f.text("ts"),
		EventTS:     f.text("event_ts"),
		ThreadTS:    f.text("thread_ts"),
		Text:        f.text("text"),
		BotID:       f.stamp("bot_id"),
		AppID:       f.stamp("app_id"),
		BotProfile:  f.stamp("bot_profile"),
		WorkflowID:  f.stamp("workflow_id"),
		ProfileApp:  parseFields(f["bot_profile"]).text("app_id"),
		Team:        f.stamp("team"),
		UserTeam:    f.stamp("user_team"),
		SourceTeam:  f.stamp("source_team"),
		Edited:      f.stamp("edited").set,
		EditedTS:    edited.text("ts"),
		EditedUser:  edited.text("user"),
		ClientMsgID: f.text("client_msg_id"),
		Blocks:      f.list("blocks"),
		Attachments: f.list("attachments"),
		Files:       f.list("files"),
		Message:     f["message"],
		Previous:    f["previous_message"],
		DeletedTS:   f.text("deleted_ts"),
		Reaction:    f.text("reaction"),
		ItemChannel: item.text("channel"),
		ItemTS:      item.text("ts"),
		Tab:         f.text("tab"),
	}
}

// stamped reports whether an app posted the message: a bot, a workflow, or an
// app that holds a person's own token.
func (ev rawEvent) stamped() bool {
	return ev.BotID.set || ev.AppID.set || ev.BotProfile.set || ev.WorkflowID.set ||
		ev.Subtype.value == "bot_message"
}

// stamp is a field whose presence already says something: set, with a value
// that is no string, counts as set.
type stamp struct {
	set   bool
	value string
}

// fields is a JSON object whose fields are looked at one by one, so that one
// of an unexpected type spoils nothing else. Names are case-sensitive.
type fields map[string]json.RawMessage

// parseFields is nil for anything but an object.
func parseFields(b []byte) fields {
	var f fields
	if len(b) == 0 || json.Unmarshal(b, &f) != nil {
		return nil
	}
	return f
}

// text is the field's string, "" when it is none.
func (f fields) text(key string) string {
	b, ok := f[key]
	if !ok {
		return ""
	}
	s, _ := stringOf(b)
	return s
}

// stringOf decodes a JSON value that is a string. One without escapes, as
// nearly all are, stands as it is between its quotes.
func stringOf(b []byte) (s string, ok bool) {
	if n := len(b); n >= 2 && b[0] == '"' && b[n-1] == '"' && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return string(b[1 : n-1]), true
	}
	err := json.Unmarshal(b, &s)
	return s, err == nil
}

// number is the field's whole number, 0 when it is none.
func (f fields) number(key string) int64 {
	var n int64
	if b, ok := f[key]; !ok || json.Unmarshal(b, &n) != nil {
		return 0
	}
	return n
}

// list is the field's array, nil when it is none.
func (f fields) list(key string) []json.RawMessage {
	var l []json.RawMessage
	if b, ok := f[key]; !ok || json.Unmarshal(b, &l) != nil {
		return nil
	}
	return l
}

// stamp is set unless the field is absent, null, false or "".
func (f fields) stamp(key string) stamp {
	b := bytes.TrimSpace(f[key])
	switch string(b) {
	case "", "null", "false", `""`:
		return stamp{}
	}
	s, ok := stringOf(b)
	if !ok {
		s = string(b)
	}
	return stamp{set: true, value: s}
}
