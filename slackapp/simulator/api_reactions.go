package simulator

import (
	"regexp"
	"slices"
)

var emojiName = regexp.MustCompile(`^[a-z0-9_+'-]+(::skin-tone-[2-6])?$`)

// reactable finds the message of a reactions call.
func (s *Server) reactable(a args) (*Channel, *Message, error) {
	c, err := s.postTarget(a.get("channel"))
	if err != nil {
		return nil, nil, err
	}
	if a.get("timestamp") == "" {
		return nil, nil, fail("no_item_specified")
	}
	m, _ := c.find(a.get("timestamp"))
	if m == nil {
		return nil, nil, fail("message_not_found")
	}
	return c, m, nil
}

func (s *Server) reactionsAdd(a args) (answer, error) {
	c, m, err := s.reactable(a)
	if err != nil {
		return nil, err
	}
	if !emojiName.MatchString(a.get("name")) {
		return nil, fail("invalid_name")
	}
	if !s.react(c, m, s.world.Bot.UserID, a.get("name")) {
		return nil, fail("already_reacted")
	}
	return answer{}, nil
}

func (s *Server) reactionsRemove(a args) (answer, error) {
	c, m, err := s.reactable(a)
	if err != nil {
		return nil, err
	}
	if !s.unreact(c, m, s.world.Bot.UserID, a.get("name")) {
		return nil, fail("no_reaction")
	}
	return answer{}, nil
}

func (s *Server) reactionsGet(a args) (answer, error) {
	c, m, err := s.reactable(a)
	if err != nil {
		return nil, err
	}
	return answer{"type": "message", "channel": c.ID, "message": s.wire(c, m)}, nil
}

// react adds a reaction; false when the person had made it already.
func (s *Server) react(c *Channel, m *Message, user, name string) bool {
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Name == name })
	if i < 0 {
		m.Reactions = append(m.Reactions, Reaction{Name: name})
		i = len(m.Reactions) - 1
	}
	r := &m.Reactions[i]
	if slices.Contains(r.Users, user) {
		return false
	}
	r.Users = append(r.Users, user)
	r.Count = len(r.Users)
	s.reacted(ReactionAdded, c, m, user, name)
	return true
}

func (s *Server) unreact(c *Channel, m *Message, user, name string) bool {
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Name == name })
	if i < 0 || !slices.Contains(m.Reactions[i].Users, user) {
		return false
	}
	r := &m.Reactions[i]
	r.Users = slices.DeleteFunc(r.Users, func(u string) bool { return u == user })
	if r.Count = len(r.Users); r.Count == 0 {
		m.Reactions = slices.Delete(m.Reactions, i, i+1)
	}
	s.reacted(ReactionRemoved, c, m, user, name)
	return true
}

func (s *Server) reacted(kind Kind, c *Channel, m *Message, user, name string) {
	s.record(Event{Kind: kind, Message: m.clone(), Reaction: &Reacted{User: user, Name: name, Channel: c.ID, TS: m.TS}})
	inner := map[string]any{
		"type": string(kind), "user": user, "reaction": name, "event_ts": s.nextTS(),
		"item": map[string]any{"type": "message", "channel": c.ID, "ts": m.TS},
	}
	if m.User != "" {
		inner["item_user"] = m.User
	}
	s.emit(string(kind), c, inner)
}

// React is a person's reaction. It returns false when he had made it already
// or there is no such message.
func (s *Server) React(user, channel, ts, name string) bool {
	return s.withMessage(channel, ts, func(c *Channel, m *Message) bool { return s.react(c, m, user, name) })
}

// Unreact takes a person's reaction back.
func (s *Server) Unreact(user, channel, ts, name string) bool {
	return s.withMessage(channel, ts, func(c *Channel, m *Message) bool { return s.unreact(c, m, user, name) })
}

func (s *Server) withMessage(channel, ts string, f func(*Channel, *Message) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.world.Channels[channel]
	if c == nil {
		return false
	}
	m, _ := c.find(ts)
	return m != nil && f(c, m)
}
