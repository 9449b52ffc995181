package remembering

import (
	"encoding/json"
	"strings"

	"reeve/slackapp/simulator"
)

// card waits for a card in a direct message that can be answered.
func (p place) card(dm string) (found simulator.Message) {
	p.Helper()
	p.Until(p.T, "a card in "+dm, func() bool {
		for _, m := range p.Slack.Messages(dm, "") {
			if strings.Contains(string(m.Blocks), `"card:consent:allow"`) {
				found = m
			}
		}
		return found.TS != ""
	})
	return found
}

// becomes waits until a card says something.
func (p place) becomes(dm string, card simulator.Message, text string) {
	p.Helper()
	p.Until(p.T, "the card says "+text, func() bool {
		for _, m := range p.Slack.Messages(dm, "") {
			if m.TS == card.TS && strings.Contains(string(m.Blocks), text) {
				return true
			}
		}
		return false
	})
}

func (p place) clicks(who, dm string, card simulator.Message, action string, ticked ...string) {
	p.Helper()
	if _, err := p.Slack.Click(who, dm, card.TS, action, ticked...); err != nil {
		p.Fatal(err)
	}
}

// pressesHers is a press, with a call ticked, of a button on a card that who
// presses it cannot see: it was made to look like his.
func (p place) pressesHers(who, dm string, card simulator.Message, action, ticked string) {
	p.Helper()
	var blocks []struct {
		Elements []struct {
			ID    string `json:"action_id"`
			Value string `json:"value"`
		} `json:"elements"`
	}
	if err := json.Unmarshal(card.Blocks, &blocks); err != nil {
		p.Fatal(err)
	}
	type object = map[string]any
	for _, b := range blocks {
		for _, e := range b.Elements {
			if e.ID != action {
				continue
			}
			box := object{"type": "checkboxes", "selected_options": []object{{"value": ticked}}}
			_, err := p.Slack.DeliverPayload(p.Context(), "interactive", object{
				"type": "block_actions", "api_app_id": p.Slack.Bot().AppID, "user": object{"id": who, "team_id": simulator.HomeTeam},
				"team": object{"id": simulator.HomeTeam}, "channel": object{"id": dm},
				"container": object{"type": "message", "channel_id": dm, "message_ts": card.TS},
				"actions":   []object{{"type": "button", "action_id": e.ID, "value": e.Value}},
				"state":     object{"values": object{"tick:1": object{"card:consent:tick:1": box}}},
			})
			if err != nil {
				p.Fatal(err)
			}
			return
		}
	}
	p.Fatalf("the card has no button %s: %s", action, card.Blocks)
}
