package simulator

import "unicode/utf8"

// Session is an agent session: the status and title that a thread shows.
type Session struct {
	Channel  string `json:"channel"`
	ThreadTS string `json:"thread_ts"`
	Status   string `json:"status"`
	Title    string `json:"title,omitempty"`
}

var sessionStatuses = map[string]bool{"active": true, "processing": true, "suspended": true, "closed": true}

func (s *Server) setSession(channel, thread, status, title string) Session {
	key := channel + " " + thread
	now := s.sessions[key]
	now.Channel, now.ThreadTS = channel, thread
	if status != "" {
		now.Status = status
	}
	if title != "" {
		now.Title = title
	}
	if now != s.sessions[key] {
		s.sessions[key] = now
		s.record(Event{Kind: SessionChanged, Session: &now})
	}
	return now
}

func (s *Server) sessionStatus(a args) (answer, error) {
	c, err := s.postTarget(a.get("channel_id"))
	if err != nil {
		return nil, err
	}
	if !sessionStatuses[a.get("status")] {
		return nil, fail("invalid_arguments", "[ERROR] unknown status")
	}
	if root := a.get("thread_ts"); root != "" {
		if m, _ := c.find(root); m == nil {
			return nil, fail("thread_not_found")
		}
	}
	now := s.setSession(c.ID, a.get("thread_ts"), a.get("status"), a.get("title"))
	return answer{"status": now.Status, "agent_status": now.Status, "title": now.Title}, nil
}

func (s *Server) sessionRename(a args) (answer, error) {
	c, err := s.postTarget(a.get("channel_id"))
	if err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(a.get("title")); n < 1 || n > 200 {
		return nil, fail("invalid_arguments", "[ERROR] title must have 1 to 200 characters")
	}
	now := s.setSession(c.ID, a.get("thread_ts"), "", a.get("title"))
	return answer{"title": now.Title}, nil
}

func (s *Server) suggestedPrompts(a args) (answer, error) {
	_, err := s.postTarget(a.get("channel_id"))
	return answer{}, err
}

// Sessions are the agent sessions of a channel, by thread.
func (s *Server) Sessions(channel string) map[string]Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Session{}
	for _, one := range s.sessions {
		if one.Channel == channel {
			out[one.ThreadTS] = one
		}
	}
	return out
}

// StopSession is a person pressing the native Stop button of a thread. Slack
// halts the thread's streams; the rest is the bot's to do.
func (s *Server) StopSession(user, channel, thread string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.world.Channels[channel]
	if c == nil {
		return false
	}
	streams := []string{}
	for _, m := range c.messages {
		if m.root() == thread && m.Stream == "open" {
			streams = append(streams, m.TS)
			s.endStream(c, m, "stopped_by_user")
		}
	}
	s.emit("agent_session_stopped", c, map[string]any{
		"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user,
		"streaming_message_ts": streams, "event_ts": s.nextTS(),
	})
	return true
}

// OpenHome is a person opening the app: its "home" or its "messages" tab.
func (s *Server) OpenHome(user, tab string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inner := map[string]any{"type": "app_home_opened", "user": user, "tab": tab, "event_ts": s.nextTS()}
	c := s.world.directWith(user)
	if c != nil {
		inner["channel"] = c.ID
	}
	if v, ok := s.views["home "+user]; ok && tab == "home" {
		inner["view"] = s.viewObject(v)
	}
	s.emit("app_home_opened", c, inner)
}
