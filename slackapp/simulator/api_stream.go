package simulator

import (
	"encoding/json"
	"unicode/utf8"
)

// chunk is one piece of a streamed message.
type chunk struct {
	Type   string            `json:"type"`
	Text   string            `json:"text"`
	ID     string            `json:"id"`
	Title  string            `json:"title"`
	Status string            `json:"status"`
	Blocks []json.RawMessage `json:"blocks"`
}

func (c chunk) bad() error {
	switch c.Type {
	case "markdown_text":
		if utf8.RuneCountInString(c.Text) > maxMarkdown {
			return fail("msg_too_long")
		}
		return nil
	case "task_update":
		if c.ID == "" || c.Title == "" || utf8.RuneCountInString(c.Title) > 256 {
			return fail("invalid_chunks")
		}
		return nil
	case "plan_update":
		if c.Title == "" || utf8.RuneCountInString(c.Title) > 256 {
			return fail("invalid_chunks")
		}
		return nil
	case "blocks":
		if len(c.Blocks) > maxBlocks {
			return fail("invalid_chunks")
		}
		return nil
	}
	return fail("invalid_chunks")
}

// readChunks takes markdown_text or chunks, not both.
func readChunks(a args) (text string, raw []json.RawMessage, err error) {
	if markdown := a.get("markdown_text"); markdown != "" {
		if a.get("chunks") != "" {
			return "", nil, fail("invalid_arguments", "[ERROR] markdown_text and chunks exclude each other")
		}
		one := chunk{Type: "markdown_text", Text: markdown}
		if err := one.bad(); err != nil {
			return "", nil, err
		}
		encoded, _ := json.Marshal(map[string]any{"type": one.Type, "text": markdown})
		return markdown, []json.RawMessage{encoded}, nil
	}
	if a.get("chunks") == "" {
		return "", nil, nil
	}
	if json.Unmarshal([]byte(a.get("chunks")), &raw) != nil {
		return "", nil, fail("invalid_chunks")
	}
	for _, r := range raw {
		var c chunk
		if json.Unmarshal(r, &c) != nil {
			return "", nil, fail("invalid_chunks")
		}
		if err := c.bad(); err != nil {
			return "", nil, err
		}
		if c.Type == "markdown_text" {
			text += c.Text
		}
	}
	return text, raw, nil
}

func (s *Server) startStream(a args) (answer, error) {
	c, err := s.postTarget(a.get("channel"))
	if err != nil {
		return nil, err
	}
	switch {
	case a.get("recipient_user_id") == "":
		return nil, fail("missing_recipient_user_id")
	case a.get("recipient_team_id") == "":
		return nil, fail("missing_recipient_team_id")
	case a.get("thread_ts") == "" && c.Kind == DirectMessage:
		return nil, fail("invalid_arguments", "[ERROR] missing required field: thread_ts")
	}
	text, chunks, err := readChunks(a)
	if err != nil {
		return nil, err
	}
	bot := s.world.Bot
	m := &Message{
		Channel: c.ID, User: bot.UserID, BotID: bot.BotID, AppID: bot.AppID, Team: bot.TeamID, own: true,
		Text: text, Chunks: chunks, Stream: "open",
	}
	if root := a.get("thread_ts"); root != "" {
		if m.ThreadTS, err = s.threadFor(c, root); err != nil {
			return nil, err
		}
	}
	s.post(c, m, nil)
	s.setSession(c.ID, m.root(), "processing", "")
	s.after(s.o.StreamLifetime, func() { s.endStream(c, m, "expired") })
	return answer{"channel": c.ID, "ts": m.TS}, nil
}

// streaming finds an open stream of ours.
func (s *Server) streaming(a args) (*Channel, *Message, error) {
	c, m, err := s.ownPost(a, "message_not_owned_by_app")
	if err != nil {
		return nil, nil, err
	}
	switch m.Stream {
	case "open":
		return c, m, nil
	case "stopped_by_user":
		return nil, nil, fail("stopped_by_user")
	}
	return nil, nil, fail("message_not_in_streaming_state")
}

func (s *Server) appendStream(a args) (answer, error) {
	c, m, err := s.streaming(a)
	if err != nil {
		return nil, err
	}
	text, chunks, err := readChunks(a)
	if err != nil {
		return nil, err
	}
	if len(chunks) == 0 {
		return nil, fail("no_text")
	}
	s.grow(c, m, text, chunks)
	return answer{"channel": c.ID, "ts": m.TS}, nil
}

// grow adds to a stream. What is streamed comes as no event until its end.
func (s *Server) grow(c *Channel, m *Message, text string, chunks []json.RawMessage) {
	before := m.clone()
	m.Text += text
	m.Chunks = append(m.Chunks, chunks...)
	s.record(Event{Kind: MessageChanged, Message: m.clone(), Previous: before})
}

func (s *Server) stopStream(a args) (answer, error) {
	c, m, err := s.streaming(a)
	if err != nil {
		return nil, err
	}
	text, chunks, err := readChunks(a)
	if err != nil {
		return nil, err
	}
	end, err := readContent(args{map[string]string{"blocks": a.get("blocks"), "metadata": a.get("metadata")}})
	if err != nil {
		return nil, err
	}
	status := a.get("session_status")
	if status != "" && !sessionStatuses[status] {
		return nil, fail("invalid_arguments", "[ERROR] unknown session_status")
	}
	if len(chunks) > 0 {
		s.grow(c, m, text, chunks)
	}
	m.Blocks, m.Metadata = end.blocks, end.metadata
	s.endStream(c, m, "stopped")
	if status != "" {
		s.setSession(c.ID, m.root(), status, "")
	}
	return answer{"channel": c.ID, "ts": m.TS, "message": s.wire(c, m)}, nil
}

// endStream closes a stream, if it is still open, and tells of the message as
// it now stands.
func (s *Server) endStream(c *Channel, m *Message, how string) {
	if m.Stream != "open" {
		return
	}
	before := m.clone()
	m.Stream = how
	s.setSession(c.ID, m.root(), "active", "")
	s.changed(c, m, before)
}
