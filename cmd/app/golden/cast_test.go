package golden

import (
	"fmt"
	"regexp"
	"strings"

	"reeve/slackapp/simulator"
)

// cast is the people and channels of one conversation. Many conversations are
// held side by side in one workspace, and what one of them is told (once a day,
// say) must not depend on the others: each has an Alice of its own.
type cast struct{ number string }

const botID = "UBOT"

// people by name. Eve is of another organisation, Gwen is a guest.
var people = []string{"Alice", "Bob", "Carol", "Gwen", "Eve"}

func castOf(i int) cast { return cast{fmt.Sprintf("%02d", i)} }

func (c cast) id(name string) string {
	switch name {
	case "BOT":
		return botID
	case "Deploybot":
		return simulator.Deploybot
	}
	return "U" + strings.ToUpper(name) + c.number
}

// channel finds a channel by its kind: "channel", "private", "shared", or "dm"
// of a person.
func (c cast) channel(kind, person string) string {
	switch kind {
	case "", "channel":
		return "C" + c.number
	case "private":
		return "G" + c.number
	case "shared":
		return "CX" + c.number
	case "dm":
		return "D" + strings.ToUpper(person) + c.number
	}
	panic("no channel of the kind " + kind)
}

// owns reports whether a channel is the cast's own.
func (c cast) owns(channel string) bool { return strings.HasSuffix(channel, c.number) }

// join gives the cast its place in the world.
func (c cast) join(w *simulator.World) {
	var all []string
	for _, name := range people {
		u := simulator.User{ID: c.id(name), Name: strings.ToLower(name) + c.number, RealName: name, DisplayName: name, TZ: "Europe/Berlin"}
		switch name {
		case "Gwen":
			u.Restricted, u.UltraRestricted = true, true
		case "Eve":
			u.TeamID = simulator.ForeignTeam
		}
		w.AddUser(u)
		all = append(all, u.ID)
		w.AddChannel(simulator.Channel{ID: c.channel("dm", name), Kind: simulator.DirectMessage, Members: []string{u.ID, botID}})
	}
	all = append(all, botID, simulator.Deploybot)
	w.AddChannel(simulator.Channel{ID: c.channel("channel", ""), Name: "room" + c.number, Members: all})
	w.AddChannel(simulator.Channel{ID: c.channel("private", ""), Name: "den" + c.number, Kind: simulator.PrivateChannel, Members: all})
	w.AddChannel(simulator.Channel{ID: c.channel("shared", ""), Name: "fair" + c.number, Shared: true, Members: all})
}

var mentioned = regexp.MustCompile(`<@(BOT|[A-Z][a-z]+)>`)

// wire is a text of a conversation as Slack puts it on the wire: names in
// mentions become ids.
func (c cast) wire(text string) string {
	return mentioned.ReplaceAllStringFunc(text, func(at string) string {
		return "<@" + c.id(at[2:len(at)-1]) + ">"
	})
}

// plain writes names for the ids that only this run has. An id becomes the name
// in capitals, so that it cannot pass for a display name.
func (c cast) plain(text string) string {
	var pairs []string
	for _, name := range people {
		pairs = append(pairs, c.channel("dm", name), "the DM", c.id(name), strings.ToUpper(name))
	}
	pairs = append(pairs, c.channel("private", ""), "the private channel", c.channel("shared", ""), "the shared channel", botID, "BOT", simulator.Deploybot, "DEPLOYBOT")
	return strings.NewReplacer(pairs...).Replace(text)
}
