package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// ClickMade is a person's click on an element of a message, as an event.
type ClickMade struct {
	User     string `json:"user"`
	Channel  string `json:"channel"`
	TS       string `json:"ts"`
	ActionID string `json:"action_id"`
	Value    string `json:"value,omitempty"`
	// Ticked are the values of the boxes that were ticked then.
	Ticked []string `json:"ticked,omitempty"`
}

// element is an interactive element somewhere in blocks.
type element struct {
	raw     map[string]any
	blockID string
}

// findElement looks an element up by its action id, wherever it stands.
func findElement(blocks json.RawMessage, actionID string) (element, bool) {
	all := elements(blocks)
	i := slices.IndexFunc(all, func(e element) bool { return e.raw["action_id"] == actionID })
	if i < 0 {
		return element{}, false
	}
	return all[i], true
}

// elements are all elements of blocks. A block without an id has one by its
// place, as Slack gives it one by chance.
func elements(blocks json.RawMessage) []element {
	var list []map[string]any
	_ = json.Unmarshal(blocks, &list)
	var out []element
	for i, b := range list {
		blockID, _ := b["block_id"].(string)
		if blockID == "" {
			blockID = fmt.Sprint("b", i)
		}
		candidates, _ := b["elements"].([]any)
		for _, name := range []string{"accessory", "element"} {
			if one, ok := b[name]; ok {
				candidates = append(candidates, one)
			}
		}
		for _, c := range candidates {
			if e, ok := c.(map[string]any); ok {
				out = append(out, element{e, blockID})
			}
		}
	}
	return out
}

func (s *Server) personObject(user string) map[string]any {
	u := s.world.Users[user]
	return map[string]any{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.TeamID}
}

// interaction is what all interactive payloads have.
func (s *Server) interaction(kind, user string) map[string]any {
	bot := s.world.Bot
	team := s.world.Teams[bot.TeamID]
	return map[string]any{
		"type": kind, "user": s.personObject(user), "api_app_id": bot.AppID, "token": "simulated",
		"team": map[string]any{"id": team.ID, "domain": team.Domain}, "enterprise": nil, "is_enterprise_install": false,
	}
}

// Click is a person clicking a button of the message, or of the ephemeral
// message, with this ts, while the boxes with the values of ticked are ticked in
// it. Where the element is a box, its own new state is among them. It returns
// the envelope's id. The click reaches the app that posted the message, and no
// other.
func (s *Server) Click(user, channel, ts, actionID string, ticked ...string) (envelopeID string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	blocks, container, message, err := s.clickable(user, channel, ts)
	if err != nil {
		return "", err
	}
	e, ok := findElement(blocks, actionID)
	if !ok {
		return "", fmt.Errorf("click %s on %s: no such element", actionID, ts)
	}
	action := s.pressed(e)
	value, _ := e.raw["value"].(string)
	c := s.world.Channels[channel]
	payload := s.interaction("block_actions", user)
	payload["container"], payload["actions"] = container, []any{action}
	payload["channel"] = map[string]any{"id": c.ID, "name": c.Name}
	payload["trigger_id"], payload["response_url"] = s.newTrigger(user), s.newResponseURL(user, channel, ts)
	payload["state"] = stateOf(blocks, ticked)
	if e.raw["type"] == "checkboxes" {
		action["selected_options"] = selected(e, ticked)
	}
	if message != nil {
		payload["message"] = message
	}
	s.record(Event{Kind: Clicked, Click: &ClickMade{User: user, Channel: channel, TS: ts, ActionID: actionID, Value: value, Ticked: ticked}})
	return s.sendPayload("interactive", payload, false).ID, nil
}

// stateOf is the state of a message's elements that have one, by block and
// action id.
func stateOf(blocks json.RawMessage, ticked []string) map[string]any {
	values := map[string]any{}
	for _, e := range elements(blocks) {
		action, _ := e.raw["action_id"].(string)
		if e.raw["type"] != "checkboxes" {
			continue
		}
		block, ok := values[e.blockID].(map[string]any)
		if !ok {
			block = map[string]any{}
			values[e.blockID] = block
		}
		block[action] = map[string]any{"type": "checkboxes", "selected_options": selected(e, ticked)}
	}
	return map[string]any{"values": values}
}

// selected are the options of an element whose values are given.
func selected(e element, values []string) []any {
	out := []any{}
	options, _ := e.raw["options"].([]any)
	for _, o := range options {
		if option, ok := o.(map[string]any); ok {
			if value, _ := option["value"].(string); slices.Contains(values, value) {
				out = append(out, option)
			}
		}
	}
	return out
}

// pressed is an element as a payload names it when it was pressed.
func (s *Server) pressed(e element) map[string]any {
	action := map[string]any{"action_id": e.raw["action_id"], "block_id": e.blockID, "type": e.raw["type"], "action_ts": s.nextTS()}
	for _, k := range []string{"text", "value", "style"} {
		if v, ok := e.raw[k]; ok {
			action[k] = v
		}
	}
	return action
}

// ClickHome is a person clicking a button of his home tab. It returns the
// envelope's id.
func (s *Server) ClickHome(user, actionID string) (envelopeID string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.views["home "+user]
	if !ok {
		return "", fmt.Errorf("click %s as %s: no home tab", actionID, user)
	}
	var shown struct {
		Blocks json.RawMessage `json:"blocks"`
	}
	_ = json.Unmarshal(v.View, &shown)
	e, ok := findElement(shown.Blocks, actionID)
	if !ok {
		return "", fmt.Errorf("click %s in the home tab of %s: no such element", actionID, user)
	}
	action := s.pressed(e)
	payload := s.interaction("block_actions", user)
	payload["container"], payload["actions"] = map[string]any{"type": "view", "view_id": v.ID}, []any{action}
	payload["view"], payload["trigger_id"] = s.viewObject(v), s.newTrigger(user)
	s.record(Event{Kind: Clicked, Click: &ClickMade{User: user, ActionID: actionID}})
	return s.sendPayload("interactive", payload, false).ID, nil
}

// clickable finds what was posted by the app and the user sees.
func (s *Server) clickable(user, channel, ts string) (blocks json.RawMessage, container, message map[string]any, err error) {
	c := s.world.Channels[channel]
	if c == nil || !c.has(user) {
		return nil, nil, nil, fmt.Errorf("click in %s as %s: not a member", channel, user)
	}
	container = map[string]any{"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": false}
	if m, _ := c.find(ts); m != nil && m.own {
		if m.ThreadTS != "" {
			container["thread_ts"] = m.ThreadTS
		}
		return m.Blocks, container, s.wire(c, m), nil
	}
	i := slices.IndexFunc(s.ephemerals, func(e Ephemeral) bool { return e.TS == ts && e.Channel == channel && e.User == user })
	if i < 0 {
		return nil, nil, nil, fmt.Errorf("click on %s in %s: no message of the app", ts, channel)
	}
	container["is_ephemeral"] = true
	if e := s.ephemerals[i]; e.ThreadTS != "" {
		container["thread_ts"] = e.ThreadTS
	}
	return s.ephemerals[i].Blocks, container, nil, nil
}

// Command is a person's slash command. It returns the acknowledged envelope.
func (s *Server) Command(ctx context.Context, user, channel, command, text string) (Envelope, error) {
	s.mu.Lock()
	u, c, bot := s.world.Users[user], s.world.Channels[channel], s.world.Bot
	if c == nil {
		s.mu.Unlock()
		return Envelope{}, fmt.Errorf("command in %s: no such channel", channel)
	}
	payload := map[string]any{
		"token": "simulated", "team_id": bot.TeamID, "team_domain": s.world.Teams[bot.TeamID].Domain,
		"channel_id": channel, "channel_name": c.Name, "user_id": user, "user_name": u.Name, "command": command, "text": text,
		"api_app_id": bot.AppID, "is_enterprise_install": "false",
		"response_url": s.newResponseURL(user, channel, ""), "trigger_id": s.newTrigger(user),
	}
	s.mu.Unlock()
	raw, _ := json.Marshal(payload)
	return s.deliver(ctx, &Envelope{ID: uuid(), Type: "slash_commands", Payload: raw, AcceptsResponse: true})
}
