package simulator

import (
	"encoding/json"
	"slices"
)

// Message is one message as Slack stores it. Its JSON is nearly Slack's own;
// what depends on the rest of the channel is added where it is sent.
type Message struct {
	Channel     string          `json:"channel"`
	TS          string          `json:"ts"`
	ThreadTS    string          `json:"thread_ts,omitempty"`
	Subtype     string          `json:"subtype,omitempty"`
	User        string          `json:"user,omitempty"`
	BotID       string          `json:"bot_id,omitempty"`
	AppID       string          `json:"app_id,omitempty"`
	Username    string          `json:"username,omitempty"`
	Team        string          `json:"team,omitempty"`
	UserTeam    string          `json:"user_team,omitempty"`
	SourceTeam  string          `json:"source_team,omitempty"`
	ClientMsgID string          `json:"client_msg_id,omitempty"`
	Text        string          `json:"text"`
	Blocks      json.RawMessage `json:"blocks,omitempty"`
	Attachments json.RawMessage `json:"attachments,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Files       []File          `json:"files,omitempty"`
	Reactions   []Reaction      `json:"reactions,omitempty"`
	Edited      *Edited         `json:"edited,omitempty"`
	// Unfurl are the flags as the post gave them; nil when it gave none.
	UnfurlLinks *bool `json:"unfurl_links,omitempty"`
	UnfurlMedia *bool `json:"unfurl_media,omitempty"`
	// Stream is "open" while the message is streamed, then "stopped",
	// "stopped_by_user" or "expired".
	Stream string `json:"stream,omitempty"`
	// Chunks are the chunks that were streamed, in their order.
	Chunks []json.RawMessage `json:"chunks,omitempty"`

	own bool // by the app under test
}

// Edited says by whom and when a message was last edited.
type Edited struct {
	User string `json:"user"`
	TS   string `json:"ts"`
}

// Reaction is one emoji on a message.
type Reaction struct {
	Name  string   `json:"name"`
	Users []string `json:"users"`
	Count int      `json:"count"`
}

// Reacted is one person's reaction, as an event.
type Reacted struct {
	User    string `json:"user"`
	Name    string `json:"name"`
	Channel string `json:"channel"`
	TS      string `json:"ts"`
}

// Ephemeral is a message that one person sees.
type Ephemeral struct {
	Channel  string          `json:"channel"`
	ThreadTS string          `json:"thread_ts,omitempty"`
	TS       string          `json:"ts"`
	User     string          `json:"user"` // who sees it
	Text     string          `json:"text"`
	Blocks   json.RawMessage `json:"blocks,omitempty"`
}

// root is the ts of the message's thread, itself when it began none.
func (m *Message) root() string {
	if m.ThreadTS != "" {
		return m.ThreadTS
	}
	return m.TS
}

// isReply: it stands below another message.
func (m *Message) isReply() bool { return m.ThreadTS != "" && m.ThreadTS != m.TS }

func (m *Message) clone() *Message {
	c := *m
	c.Files = slices.Clone(m.Files)
	c.Chunks = slices.Clone(m.Chunks)
	c.Reactions = slices.Clone(m.Reactions)
	for i := range c.Reactions {
		c.Reactions[i].Users = slices.Clone(c.Reactions[i].Users)
	}
	if m.Edited != nil {
		e := *m.Edited
		c.Edited = &e
	}
	return &c
}

// find is the message with a ts, and its place; nil when there is none.
func (c *Channel) find(ts string) (*Message, int) {
	i, found := slices.BinarySearchFunc(c.messages, ts, func(m *Message, ts string) int { return compareStrings(m.TS, ts) })
	if !found {
		return nil, i
	}
	return c.messages[i], i
}

// replies are the replies below a root, oldest first.
func (c *Channel) replies(root string) []*Message {
	var below []*Message
	for _, m := range c.messages {
		if m.ThreadTS == root && m.isReply() {
			below = append(below, m)
		}
	}
	return below
}

// wire is the message as Slack's answers and events carry it.
func (s *Server) wire(c *Channel, m *Message) map[string]any {
	raw, _ := json.Marshal(m)
	fields := map[string]json.RawMessage{} // blocks and metadata stay as they were given
	_ = json.Unmarshal(raw, &fields)
	out := map[string]any{}
	for name, value := range fields {
		out[name] = value
	}
	for _, ours := range []string{"channel", "unfurl_links", "unfurl_media", "stream", "chunks"} {
		delete(out, ours)
	}
	out["type"] = "message"
	if m.Stream == "open" {
		out["streaming_state"] = "in_progress"
	}
	if app, ok := s.world.appOf(m.BotID); ok && m.Subtype == "" {
		out["bot_profile"] = map[string]any{
			"id": app.BotID, "app_id": app.AppID, "name": app.Name, "team_id": app.TeamID, "deleted": false, "updated": 1,
		}
	}
	if m.isReply() {
		if parent, _ := c.find(m.ThreadTS); parent != nil {
			out["parent_user_id"] = parent.User
		}
		return out
	}
	if below := c.replies(m.TS); len(below) > 0 {
		var users []string
		for _, r := range below {
			if r.User != "" && !slices.Contains(users, r.User) {
				users = append(users, r.User)
			}
		}
		out["thread_ts"], out["reply_count"] = m.TS, len(below)
		out["reply_users"], out["reply_users_count"] = users, len(users)
		out["latest_reply"] = below[len(below)-1].TS
	}
	return out
}

// Messages are copies of the messages of a channel, oldest first: of one
// thread with its root first, or with an empty thread all that are no replies.
func (s *Server) Messages(channel, thread string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.world.Channels[channel]
	if c == nil {
		return nil
	}
	var out []Message
	for _, m := range c.messages {
		if (thread == "" && !m.isReply()) || (thread != "" && m.root() == thread) {
			out = append(out, *m.clone())
		}
	}
	return out
}

// Ephemerals are the ephemeral messages that a person was sent.
func (s *Server) Ephemerals(user string) []Ephemeral {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Ephemeral
	for _, e := range s.ephemerals {
		if e.User == user {
			out = append(out, e)
		}
	}
	return out
}
