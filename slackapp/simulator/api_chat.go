package simulator

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// maxText is where chat.postMessage cuts its text.
const maxText = 40_000

// postTarget is the channel that a post goes to. A user id means his DM.
func (s *Server) postTarget(id string) (*Channel, error) {
	if strings.HasPrefix(id, "U") || strings.HasPrefix(id, "W") {
		return s.openDM(id)
	}
	c := s.world.Channels[id]
	switch {
	case c == nil:
		return nil, fail("channel_not_found")
	case !c.has(s.world.Bot.UserID) && c.Kind != PublicChannel:
		return nil, fail("channel_not_found") // what one may not see does not exist
	case !c.has(s.world.Bot.UserID):
		return nil, fail("not_in_channel")
	case c.Archived:
		return nil, fail("is_archived")
	}
	return c, nil
}

func (s *Server) postMessage(a args) (answer, error) {
	c, err := s.postTarget(a.get("channel"))
	if err != nil {
		return nil, err
	}
	m, err := s.ownMessage(c, a)
	if err != nil {
		return nil, err
	}
	out := answer{}
	if utf8.RuneCountInString(m.Text) > maxText {
		m.Text = string([]rune(m.Text)[:maxText])
		out["warning"] = "message_truncated"
		out["response_metadata"] = map[string]any{"warnings": []string{"message_truncated"}}
	}
	if root := a.get("thread_ts"); root != "" {
		if m.ThreadTS, err = s.threadFor(c, root); err != nil {
			return nil, err
		}
		if m.ThreadTS != "" && a.yes("reply_broadcast") {
			m.Subtype = "thread_broadcast"
		}
	}
	s.post(c, m, nil)
	out["channel"], out["ts"], out["message"] = c.ID, m.TS, s.wire(c, m)
	return out, nil
}

// threadFor is the thread in which a reply to root is posted. Below a message
// that was deleted Slack posts it outside any thread.
func (s *Server) threadFor(c *Channel, root string) (string, error) {
	parent, _ := c.find(root)
	switch {
	case parent == nil && s.wasDeleted(c.ID, root):
		return "", nil
	case parent == nil:
		return "", fail("thread_not_found")
	case parent.isReply():
		return "", fail("cannot_reply_to_message")
	}
	return root, nil
}

func (s *Server) wasDeleted(channel, ts string) bool {
	for _, e := range s.log.events {
		if e.Kind == MessageDeleted && e.Previous.Channel == channel && e.Previous.TS == ts {
			return true
		}
	}
	return false
}

// ownMessage is a message of the app under test from a call's content.
func (s *Server) ownMessage(c *Channel, a args) (*Message, error) {
	bot := s.world.Bot
	m := &Message{
		Channel: c.ID, User: bot.UserID, BotID: bot.BotID, AppID: bot.AppID, Team: bot.TeamID, own: true,
		Text: a.get("text"), UnfurlLinks: a.flag("unfurl_links"), UnfurlMedia: a.flag("unfurl_media"),
	}
	content, err := readContent(a)
	if err != nil {
		return nil, err
	}
	m.Blocks, m.Attachments, m.Metadata = content.blocks, content.attachments, content.metadata
	if m.Text == "" {
		m.Text = content.fallback
	}
	if m.Text == "" && m.Blocks == nil && m.Attachments == nil {
		return nil, fail("no_text")
	}
	return m, nil
}

// ownPost finds a message that the app under test may change.
func (s *Server) ownPost(a args, notOwn string) (*Channel, *Message, error) {
	c, err := s.postTarget(a.get("channel"))
	if err != nil {
		return nil, nil, err
	}
	m, _ := c.find(a.get("ts"))
	switch {
	case m == nil || m.Subtype == "tombstone":
		return nil, nil, fail("message_not_found")
	case !m.own:
		return nil, nil, fail(notOwn)
	}
	return c, m, nil
}

// maxUpdate is the limit of chat.update's text: a hard one, unlike a post's.
const maxUpdate = 4_000

func (s *Server) chatUpdate(a args) (answer, error) {
	c, m, err := s.ownPost(a, "cant_update_message")
	if err != nil {
		return nil, err
	}
	if m.Stream == "open" {
		return nil, fail("streaming_state_conflict")
	}
	if utf8.RuneCountInString(a.get("text")) > maxUpdate {
		return nil, fail("msg_too_long")
	}
	changed, err := s.ownMessage(c, a)
	if err != nil {
		return nil, err
	}
	before := m.clone()
	m.Text = changed.Text
	// With text and without blocks the blocks go, and only then is the
	// message marked as edited.
	m.Blocks = changed.Blocks
	if changed.Attachments != nil || a.has("attachments") {
		m.Attachments = changed.Attachments
	}
	if changed.Metadata != nil {
		m.Metadata = changed.Metadata
	}
	if changed.Blocks == nil {
		m.Edited = &Edited{User: m.User, TS: s.nextTS()}
	}
	s.changed(c, m, before)
	return answer{"channel": c.ID, "ts": m.TS, "text": m.Text, "message": s.wire(c, m)}, nil
}

func (s *Server) chatDelete(a args) (answer, error) {
	c, m, err := s.ownPost(a, "cant_delete_message")
	if err != nil {
		return nil, err
	}
	s.remove(c, m)
	return answer{"channel": c.ID, "ts": m.TS}, nil
}

func (s *Server) postEphemeral(a args) (answer, error) {
	c, err := s.postTarget(a.get("channel"))
	if err != nil {
		return nil, err
	}
	user, known := s.world.Users[a.get("user")]
	switch {
	case a.get("user") == "":
		return nil, fail("invalid_arguments", "[ERROR] missing required field: user")
	case !known || user.Deleted || !c.has(user.ID):
		return nil, fail("user_not_in_channel")
	}
	m, err := s.ownMessage(c, a)
	if err != nil {
		return nil, err
	}
	e := Ephemeral{Channel: c.ID, ThreadTS: a.get("thread_ts"), TS: s.nextTS(), User: user.ID, Text: m.Text, Blocks: m.Blocks}
	s.showEphemeral(e)
	return answer{"message_ts": e.TS}, nil
}

func (s *Server) showEphemeral(e Ephemeral) {
	s.ephemerals = trimmed(append(s.ephemerals, e))
	s.record(Event{Kind: EphemeralPosted, Ephemeral: &e})
}

func (s *Server) chatPermalink(a args) (answer, error) {
	c := s.world.Channels[a.get("channel")]
	if c == nil {
		return nil, fail("channel_not_found")
	}
	m, _ := c.find(a.get("message_ts"))
	if m == nil {
		return nil, fail("message_not_found")
	}
	team := s.world.Teams[s.world.Bot.TeamID]
	link := "https://" + team.Domain + ".slack.com/archives/" + c.ID + "/p" + strings.ReplaceAll(m.TS, ".", "")
	return answer{"channel": c.ID, "permalink": link}, nil
}

// rawOrNil is a JSON argument that an empty text leaves away.
func rawOrNil(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
