package simulator

import (
	"encoding/base64"
	"slices"
	"strings"
)

// scopeGroup is how scopes and event types name a kind of channel.
var scopeGroup = map[ChannelKind]string{
	PublicChannel: "channels", PrivateChannel: "groups", DirectMessage: "im", GroupMessage: "mpim",
}

// readable is a channel that the bot may read, with the scope for what it asks
// ("history" or "read").
func (s *Server) readable(id, what string) (*Channel, error) {
	c := s.world.Channels[id]
	if c == nil || (!c.has(s.world.Bot.UserID) && c.Kind != PublicChannel) {
		return nil, fail("channel_not_found")
	}
	if err := s.needScope(scopeGroup[c.Kind] + ":" + what); err != nil {
		return nil, err
	}
	if what == "history" && !c.has(s.world.Bot.UserID) {
		return nil, fail("not_in_channel")
	}
	return c, nil
}

func (s *Server) channelObject(c *Channel) map[string]any {
	out := map[string]any{
		"id": c.ID, "created": 1, "is_archived": c.Archived, "is_member": c.has(s.world.Bot.UserID),
		"is_channel": c.Kind == PublicChannel || c.Kind == PrivateChannel, "is_group": c.Kind == PrivateChannel,
		"is_im": c.Kind == DirectMessage, "is_mpim": c.Kind == GroupMessage,
		"is_private": c.Kind != PublicChannel, "is_general": c.ID == General,
		"is_shared": c.Shared, "is_ext_shared": c.Shared, "is_org_shared": false,
		"context_team_id": c.TeamID, "num_members": len(c.Members),
	}
	if c.Kind == DirectMessage {
		for _, u := range c.Members {
			if u != s.world.Bot.UserID {
				out["user"] = u
			}
		}
		return out
	}
	out["name"], out["name_normalized"] = c.Name, c.Name
	out["topic"] = map[string]any{"value": c.Topic, "creator": "", "last_set": 0}
	out["purpose"] = map[string]any{"value": "", "creator": "", "last_set": 0}
	return out
}

func (s *Server) conversationsInfo(a args) (answer, error) {
	c, err := s.readable(a.get("channel"), "read")
	if err != nil {
		return nil, err
	}
	return answer{"channel": s.channelObject(c)}, nil
}

func (s *Server) conversationsList(a args) (answer, error) {
	return s.channelPage(a, func(c *Channel) bool { return c.Kind == PublicChannel || c.has(s.world.Bot.UserID) })
}

// usersConversations lists where the bot is a member.
func (s *Server) usersConversations(a args) (answer, error) {
	if user := a.get("user"); user != "" && user != s.world.Bot.UserID {
		return nil, fail("user_not_found")
	}
	return s.channelPage(a, func(c *Channel) bool { return c.has(s.world.Bot.UserID) })
}

// channelPage lists the channels of the asked types that are seen.
func (s *Server) channelPage(a args, seen func(*Channel) bool) (answer, error) {
	kinds := a.get("types")
	if kinds == "" {
		kinds = "public_channel"
	}
	asked := strings.Split(kinds, ",")
	names := map[ChannelKind]string{
		PublicChannel: "public_channel", PrivateChannel: "private_channel", DirectMessage: "im", GroupMessage: "mpim",
	}
	for kind, name := range names {
		if slices.Contains(asked, name) {
			if err := s.needScope(scopeGroup[kind] + ":read"); err != nil {
				return nil, err
			}
		}
	}
	var list []map[string]any
	for _, c := range s.world.sortedChannels() {
		if seen(c) && slices.Contains(asked, names[c.Kind]) && !(c.Archived && a.yes("exclude_archived")) {
			list = append(list, s.channelObject(c))
		}
	}
	page, next, err := paged(list, a, 100)
	return answer{"channels": page, "response_metadata": cursorOf(next)}, err
}

func (s *Server) conversationsMembers(a args) (answer, error) {
	c, err := s.readable(a.get("channel"), "read")
	if err != nil {
		return nil, err
	}
	page, next, err := paged(c.Members, a, 100)
	return answer{"members": page, "response_metadata": cursorOf(next)}, err
}

func (s *Server) conversationsOpen(a args) (answer, error) {
	if id := a.get("channel"); id != "" {
		c, err := s.readable(id, "read")
		if err != nil {
			return nil, err
		}
		return answer{"no_op": true, "already_open": true, "channel": s.channelObject(c)}, nil
	}
	users := strings.FieldsFunc(a.get("users"), func(r rune) bool { return r == ',' || r == ' ' })
	switch len(users) {
	case 0:
		return nil, fail("users_list_not_supplied")
	case 1:
		if err := s.needScope("im:write"); err != nil {
			return nil, err
		}
		c, err := s.openDM(users[0])
		if err != nil {
			return nil, err
		}
		return answer{"channel": s.channelObject(c)}, nil
	}
	return s.openGroup(users)
}

// openDM finds or makes the bot's DM with a person.
func (s *Server) openDM(user string) (*Channel, error) {
	u, ok := s.world.Users[user]
	switch {
	case !ok:
		return nil, fail("user_not_found")
	case u.Deleted:
		return nil, fail("user_disabled")
	case u.Bot:
		return nil, fail("cannot_dm_bot")
	}
	if c := s.world.directWith(user); c != nil {
		return c, nil
	}
	id := s.nextID("D")
	s.world.AddChannel(Channel{ID: id, Kind: DirectMessage, Members: []string{user, s.world.Bot.UserID}})
	return s.world.Channels[id], nil
}

func (s *Server) openGroup(users []string) (answer, error) {
	if err := s.needScope("mpim:write"); err != nil {
		return nil, err
	}
	for _, u := range users {
		if _, ok := s.world.Users[u]; !ok {
			return nil, fail("user_not_found")
		}
	}
	members := slices.Sorted(slices.Values(append(slices.Clone(users), s.world.Bot.UserID)))
	for _, c := range s.world.Channels {
		if c.Kind == GroupMessage && slices.Equal(slices.Sorted(slices.Values(c.Members)), members) {
			return answer{"channel": s.channelObject(c)}, nil
		}
	}
	id := s.nextID("G")
	s.world.AddChannel(Channel{ID: id, Name: "mpdm-" + strings.ToLower(strings.Join(members, "--")), Kind: GroupMessage, Members: members})
	return answer{"channel": s.channelObject(s.world.Channels[id])}, nil
}

func cursorOf(next string) map[string]any { return map[string]any{"next_cursor": next} }

func encodeCursor(at string) string {
	return base64.StdEncoding.EncodeToString([]byte("next:" + at))
}

func decodeCursor(cursor string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(cursor)
	at, ok := strings.CutPrefix(string(raw), "next:")
	if err != nil || !ok {
		return "", fail("invalid_cursor")
	}
	return at, nil
}
