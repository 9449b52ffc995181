package simulator

import "slices"

func (s *Server) userObject(u User, locale bool) map[string]any {
	tz := u.TZ
	if tz == "" {
		tz = "America/Los_Angeles"
	}
	profile := map[string]any{
		"real_name": u.RealName, "display_name": u.DisplayName, "title": u.Title,
		"real_name_normalized": u.RealName, "display_name_normalized": u.DisplayName, "team": u.TeamID,
	}
	out := map[string]any{
		"id": u.ID, "team_id": u.TeamID, "name": u.Name, "real_name": u.RealName, "deleted": u.Deleted,
		"is_bot": u.Bot, "is_app_user": false, "is_restricted": u.Restricted, "is_ultra_restricted": u.UltraRestricted,
		"is_workflow_bot": u.WorkflowBot, "updated": 1, "profile": profile,
	}
	if app, ok := s.botUser(u.ID); ok {
		profile["api_app_id"], profile["bot_id"] = app.AppID, app.BotID
	}
	if u.TeamID != s.world.Bot.TeamID {
		out["is_stranger"] = u.Stranger // foreign accounts alone have it, and no private facts
		return out
	}
	out["tz"] = tz
	if u.Email != "" && slices.Contains(s.o.Scopes, emailScope) {
		profile["email"] = u.Email
		out["is_email_confirmed"] = !u.EmailUnconfirmed
	}
	if locale {
		out["locale"] = "en-US"
	}
	return out
}

func (s *Server) botUser(user string) (App, bool) {
	if user == s.world.Bot.UserID {
		return s.world.Bot, true
	}
	app, ok := s.world.Apps[user]
	return app, ok
}

func (s *Server) usersInfo(a args) (answer, error) {
	u, ok := s.world.Users[a.get("user")]
	if !ok {
		return nil, fail("user_not_found")
	}
	return answer{"user": s.userObject(u, a.yes("include_locale"))}, nil
}

func (s *Server) usersList(a args) (answer, error) {
	var members []map[string]any
	for _, u := range s.world.sortedUsers() {
		members = append(members, s.userObject(u, a.yes("include_locale")))
	}
	page, next, err := paged(members, a, 200)
	return answer{"members": page, "cache_ts": 1, "response_metadata": cursorOf(next)}, err
}

// SetUser adds or changes an account. Someone whose account changes sends
// user_change, as at Slack.
func (s *Server) SetUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.TeamID == "" {
		u.TeamID = s.world.Bot.TeamID
	}
	_, known := s.world.Users[u.ID]
	s.world.AddUser(u)
	if known {
		ts := s.nextTS()
		s.emit("user_change", nil, map[string]any{"type": "user_change", "user": s.userObject(u, true), "event_ts": ts})
	}
}

// SetChannel adds or changes a channel and keeps what was said in it.
func (s *Server) SetChannel(c Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.world.Channels[c.ID]; old != nil {
		c.messages = old.messages
	}
	s.world.AddChannel(c)
}
