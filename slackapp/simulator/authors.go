package simulator

// Author is who Slack says wrote a message, where that is not simply a person
// of the team typing in his client. The zero value is.
type Author struct {
	kind string
	app  App
	name string
}

// AsBot is a post of a modern app's bot user: user, bot_id, app_id and
// bot_profile, no subtype. Say's user is the bot's own.
func AsBot() Author { return Author{kind: "bot"} }

// AsWorkflow is a post of a workflow or an incoming webhook: subtype
// bot_message, a bot_id and no user. Say's user is "".
func AsWorkflow(name string) Author {
	return Author{kind: "workflow", name: name, app: App{AppID: "AWORKFLOW", BotID: "BWORKFLOW"}}
}

// AsAppFor is a post that some app made with a person's token: it carries the
// person's user id, and the app's stamps.
func AsAppFor(app App) Author { return Author{kind: "app_for", app: app} }

// stamp writes the author's fields. The lock is held.
func (s *Server) stamp(m *Message, user string, c *Channel, author Author) {
	m.User = user
	u := s.world.Users[user]
	m.Team = u.TeamID
	switch app, isBot := s.botUser(user); {
	case author.kind == "workflow":
		m.User, m.Team = "", ""
		m.Subtype, m.Username = "bot_message", author.name
		m.BotID, m.AppID = author.app.BotID, author.app.AppID
	case author.kind == "app_for":
		m.BotID, m.AppID = author.app.BotID, author.app.AppID
	case isBot:
		m.BotID, m.AppID = app.BotID, app.AppID
		m.own = user == s.world.Bot.UserID
	case m.Subtype == "" || m.Subtype == "file_share" || m.Subtype == "me_message":
		m.ClientMsgID = uuid()
	}
	if u.TeamID != "" && u.TeamID != c.TeamID {
		m.UserTeam, m.SourceTeam = u.TeamID, u.TeamID
	}
}

func uuid() string {
	h := randomHex(16)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}
