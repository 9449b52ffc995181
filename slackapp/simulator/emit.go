package simulator

import (
	"encoding/json"
	"slices"
	"strings"
)

// emit sends an event as an Events API envelope. subscription is the event's
// name in a manifest, and c its channel or nil. The lock is held.
func (s *Server) emit(subscription string, c *Channel, inner map[string]any) {
	if s.o.BotEvents != nil && !slices.Contains(s.o.BotEvents, subscription) {
		return
	}
	if c != nil && !c.has(s.world.Bot.UserID) {
		return
	}
	s.sendPayload("events_api", s.eventCallback(c, inner), false)
}

func (s *Server) eventCallback(c *Channel, inner map[string]any) map[string]any {
	bot := s.world.Bot
	return map[string]any{
		"token": "simulated", "type": "event_callback", "team_id": bot.TeamID, "context_team_id": bot.TeamID,
		"context_enterprise_id": nil, "api_app_id": bot.AppID, "event": inner,
		"event_id": s.nextID("Ev"), "event_time": s.o.Now().Unix(), "event_context": "4-" + randomHex(8),
		"is_ext_shared_channel": c != nil && c.Shared,
		"authorizations": []any{map[string]any{
			"enterprise_id": nil, "team_id": bot.TeamID, "user_id": bot.UserID, "is_bot": true, "is_enterprise_install": false,
		}},
	}
}

func (s *Server) sendPayload(kind string, payload any, acceptsResponse bool) *Envelope {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err) // built from our own values
	}
	return s.dispatch(&Envelope{ID: uuid(), Type: kind, Payload: raw, AcceptsResponse: acceptsResponse})
}

// emitPost sends a new message's events.
func (s *Server) emitPost(c *Channel, m *Message, o SayOptions) {
	twin := c.Kind != DirectMessage && !m.own && mentions(m.Text, s.world.Bot.UserID)
	message := func() { s.emitMessage(c, m) }
	mention := func() { s.emitMention(c, m) }
	var order []func()
	switch {
	case !twin:
		order = []func(){message}
	case o.Twin == MessageFirst:
		order = []func(){message, mention}
	case o.Twin == MentionFirst:
		order = []func(){mention, message}
	case o.Twin == MessageOnly:
		order = []func(){message}
	case o.Twin == MentionOnly:
		order = []func(){mention}
	}
	order[0]()
	if len(order) < 2 {
		return
	}
	if o.TwinDelay > 0 {
		s.after(o.TwinDelay, order[1])
		return
	}
	order[1]()
}

func (s *Server) emitMessage(c *Channel, m *Message) {
	inner := s.wire(c, m)
	inner["channel"], inner["channel_type"], inner["event_ts"] = c.ID, string(c.Kind), m.TS
	if m.Subtype == "thread_broadcast" {
		if root, _ := c.find(m.ThreadTS); root != nil {
			inner["root"] = s.wire(c, root)
		}
	}
	s.emit("message."+eventGroup(c), c, inner)
}

// emitMention sends the app_mention twin, which has the message's ts and less
// in it: no channel_type and no subtype.
func (s *Server) emitMention(c *Channel, m *Message) {
	inner := s.wire(c, m)
	inner["type"], inner["channel"], inner["event_ts"] = "app_mention", c.ID, m.TS
	for _, absent := range []string{"subtype", "reply_count", "reply_users", "reply_users_count", "latest_reply", "reactions"} {
		delete(inner, absent)
	}
	s.emit("app_mention", c, inner)
}

// emitSubtype sends a hidden message event: a change or a deletion.
func (s *Server) emitSubtype(c *Channel, subtype string, inner map[string]any) {
	ts := s.nextTS()
	inner["type"], inner["subtype"], inner["hidden"] = "message", subtype, true
	inner["channel"], inner["channel_type"], inner["ts"], inner["event_ts"] = c.ID, string(c.Kind), ts, ts
	s.emit("message."+eventGroup(c), c, inner)
}

func eventGroup(c *Channel) string { return scopeGroup[c.Kind] }

// mentions reports whether text mentions a user, as Slack sees it: in code
// a mention is plain text.
func mentions(text, user string) bool {
	for _, piece := range outsideCode(text) {
		if strings.Contains(piece, "<@"+user+">") || strings.Contains(piece, "<@"+user+"|") {
			return true
		}
	}
	return false
}
