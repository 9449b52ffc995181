package simulator

import (
	"maps"
	"slices"
)

// Ids of the default world. They are plain strings here, as on the wire: the
// simulator stands on Slack's side of it.
const (
	HomeTeam    = "T1"
	ForeignTeam = "T2"

	Alice = "UALICE"
	Bob   = "UBOB"
	Carol = "UCAROL"
	Guest = "UGUEST" // Gwen, a single-channel guest
	Eve   = "UEVE"   // of ForeignTeam; meets the team in Partners
	// Deploybot is another app's bot user in the home team.
	Deploybot = "UDEPLOY"

	General  = "CGENERAL"  // public; all of the home team and the bot
	Random   = "CRANDOM"   // public; the bot is no member
	Planning = "CPLANNING" // private; Alice, Bob and the bot
	Trio     = "GTRIO"     // a group DM of Alice, Bob and the bot
	Partners = "CPARTNERS" // shared with ForeignTeam; Alice, Eve and the bot

	AliceDM = "DALICE"
	BobDM   = "DBOB"
	CarolDM = "DCAROL"
	GuestDM = "DGUEST"
)

// World is who and what exists.
type World struct {
	Bot      App
	Teams    map[string]Team
	Users    map[string]User
	Channels map[string]*Channel
	// Apps are other apps, by their bot user's id.
	Apps map[string]App
}

// App is an app installed in a team.
type App struct {
	AppID  string `json:"app_id"`
	BotID  string `json:"bot_id"`
	UserID string `json:"user_id"`
	TeamID string `json:"team_id"`
	Name   string `json:"name"`
}

// Team is a workspace.
type Team struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Domain is its part of the address before .slack.com.
	Domain string `json:"domain"`
}

// User is an account, of a person or of a bot.
type User struct {
	ID          string
	TeamID      string
	Name        string // the handle
	RealName    string
	DisplayName string
	Title       string // what he does
	TZ          string // IANA; America/Los_Angeles when empty, as at Slack
	Email       string
	// EmailUnconfirmed: nobody has shown that the address is his.
	EmailUnconfirmed bool
	Bot              bool
	Restricted       bool // a guest
	UltraRestricted,
	Stranger, // of another team, and shares no channel
	WorkflowBot,
	Deleted bool
}

// ChannelKind is a channel's channel_type in events.
type ChannelKind string

const (
	PublicChannel  ChannelKind = "channel"
	PrivateChannel ChannelKind = "group"
	DirectMessage  ChannelKind = "im"
	GroupMessage   ChannelKind = "mpim"
)

// Channel is a conversation in Slack's sense.
type Channel struct {
	ID       string
	Name     string
	Kind     ChannelKind
	TeamID   string
	Members  []string // user ids; the bot's own among them
	Shared   bool     // with another organisation
	Archived bool
	Topic    string

	messages []*Message // by ts
}

func (c *Channel) has(user string) bool { return slices.Contains(c.Members, user) }

// DefaultWorld is the world that the constants of this package name.
func DefaultWorld() *World {
	bot := App{AppID: "ABOT", BotID: "BBOT", UserID: "UBOT", TeamID: HomeTeam, Name: "reeve"}
	deploy := App{AppID: "ADEPLOY", BotID: "BDEPLOY", UserID: Deploybot, TeamID: HomeTeam, Name: "deploybot"}
	w := &World{
		Bot:   bot,
		Teams: map[string]Team{},
		Users: map[string]User{}, Channels: map[string]*Channel{},
		Apps: map[string]App{Deploybot: deploy},
	}
	w.AddTeam(Team{ID: HomeTeam, Name: "Home", Domain: "home"})
	w.AddTeam(Team{ID: ForeignTeam, Name: "Elsewhere", Domain: "elsewhere"})
	w.AddUser(User{ID: Alice, Name: "alice", RealName: "Alice Adams", DisplayName: "Alice", TZ: "Europe/Berlin"})
	w.AddUser(User{ID: Bob, Name: "bob", RealName: "Bob Brown", DisplayName: "Bob", TZ: "America/New_York"})
	w.AddUser(User{ID: Carol, Name: "carol", RealName: "Carol Clark", DisplayName: "Carol", TZ: "Asia/Tokyo"})
	w.AddUser(User{ID: Guest, Name: "gwen", RealName: "Gwen Guest", DisplayName: "Gwen", Restricted: true, UltraRestricted: true})
	w.AddUser(User{ID: Eve, TeamID: ForeignTeam, Name: "eve", RealName: "Eve Else", DisplayName: "Eve"})
	w.AddUser(User{ID: bot.UserID, Name: bot.Name, RealName: bot.Name, Bot: true})
	w.AddUser(User{ID: Deploybot, Name: deploy.Name, RealName: deploy.Name, Bot: true})

	b := bot.UserID
	w.AddChannel(Channel{ID: General, Name: "general", Members: []string{Alice, Bob, Carol, Guest, Deploybot, b}})
	w.AddChannel(Channel{ID: Random, Name: "random", Members: []string{Alice, Bob, Carol}})
	w.AddChannel(Channel{ID: Planning, Name: "planning", Kind: PrivateChannel, Members: []string{Alice, Bob, b}})
	w.AddChannel(Channel{ID: Trio, Name: "mpdm-alice--bob--reeve-1", Kind: GroupMessage, Members: []string{Alice, Bob, b}})
	w.AddChannel(Channel{ID: Partners, Name: "partners", Shared: true, Members: []string{Alice, Eve, b}})
	for id, user := range map[string]string{AliceDM: Alice, BobDM: Bob, CarolDM: Carol, GuestDM: Guest} {
		w.AddChannel(Channel{ID: id, Kind: DirectMessage, Members: []string{user, b}})
	}
	return w
}

// AddTeam adds or replaces a team.
func (w *World) AddTeam(t Team) { w.Teams[t.ID] = t }

// AddUser adds or replaces an account; without TeamID it is of the bot's team.
func (w *World) AddUser(u User) {
	if u.TeamID == "" {
		u.TeamID = w.Bot.TeamID
	}
	w.Users[u.ID] = u
}

// AddChannel adds or replaces a channel; it is public when no Kind is given.
func (w *World) AddChannel(c Channel) {
	if c.TeamID == "" {
		c.TeamID = w.Bot.TeamID
	}
	if c.Kind == "" {
		c.Kind = PublicChannel
	}
	c.Members = slices.Clone(c.Members)
	w.Channels[c.ID] = &c
}

// sortedUsers are the accounts by id, for answers in a steady order.
func (w *World) sortedUsers() []User {
	users := slices.Collect(maps.Values(w.Users))
	slices.SortFunc(users, func(a, b User) int { return compareStrings(a.ID, b.ID) })
	return users
}

func (w *World) sortedChannels() []*Channel {
	channels := slices.Collect(maps.Values(w.Channels))
	slices.SortFunc(channels, func(a, b *Channel) int { return compareStrings(a.ID, b.ID) })
	return channels
}

// appOf finds an app by its bot id.
func (w *World) appOf(botID string) (App, bool) {
	if botID == w.Bot.BotID {
		return w.Bot, true
	}
	for _, a := range w.Apps {
		if a.BotID == botID {
			return a, true
		}
	}
	return App{}, false
}

// directWith is the bot's DM with a user.
func (w *World) directWith(user string) *Channel {
	for _, c := range w.Channels {
		if c.Kind == DirectMessage && c.has(user) && c.has(w.Bot.UserID) {
			return c
		}
	}
	return nil
}
