package simulator

import "net/url"

func (s *Server) authTest(args) (answer, error) {
	bot := s.world.Bot
	team := s.world.Teams[bot.TeamID]
	return answer{
		"url": "https://" + team.Domain + ".slack.com/", "team": team.Name, "team_id": team.ID,
		"user": bot.Name, "user_id": bot.UserID, "bot_id": bot.BotID, "is_enterprise_install": false,
	}, nil
}

func (s *Server) teamInfo(args) (answer, error) {
	return answer{"team": s.world.Teams[s.world.Bot.TeamID]}, nil
}

func (s *Server) botsInfo(a args) (answer, error) {
	app, ok := s.world.appOf(a.get("bot"))
	if !ok {
		return nil, fail("bot_not_found")
	}
	return answer{"bot": map[string]any{
		"id": app.BotID, "app_id": app.AppID, "user_id": app.UserID, "name": app.Name, "deleted": false, "updated": 1,
	}}, nil
}

// connectionsOpen hands out the address of a socket with a ticket that is good
// for one connection.
func (s *Server) connectionsOpen(args) (answer, error) {
	if s.network.linkDisabled {
		return nil, fail("forbidden_team")
	}
	ticket := randomHex(12)
	s.tickets[ticket] = true
	query := url.Values{"ticket": {ticket}, "app_id": {s.world.Bot.AppID}}
	return answer{"url": "ws://" + s.ln.Addr().String() + "/link/?" + query.Encode()}, nil
}
