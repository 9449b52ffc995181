package apptest

import (
	"encoding/json"
	"strings"
	"testing"

	"reeve/slackapp/simulator"
)

// Found waits for the newest message of a channel, threads left aside, that is
// the one.
func (p *Place) Found(t testing.TB, what, channel string, is func(simulator.Message) bool) (found simulator.Message) {
	t.Helper()
	p.Until(t, what, func() bool {
		for _, m := range p.Slack.Messages(channel, "") {
			if is(m) {
				found = m
			}
		}
		return found.TS != ""
	})
	return found
}

// Card waits for the newest card of a channel whose blocks hold a text.
func (p *Place) Card(t testing.TB, channel, text string) simulator.Message {
	t.Helper()
	return p.Found(t, "a card in "+channel+" that says "+text, channel, func(m simulator.Message) bool {
		return strings.Contains(string(m.Blocks), text)
	})
}

// Becomes waits until a card says something.
func (p *Place) Becomes(t testing.TB, card simulator.Message, text string) {
	t.Helper()
	p.Found(t, "the card becomes "+text, card.Channel, func(m simulator.Message) bool {
		return m.TS == card.TS && strings.Contains(string(m.Blocks), text)
	})
}

// Clicks is somebody's press of a button on a card, with calls ticked.
func (p *Place) Clicks(t testing.TB, who string, card simulator.Message, action string, ticked ...string) {
	t.Helper()
	if _, err := p.Slack.Click(who, card.Channel, card.TS, action, ticked...); err != nil {
		t.Fatal(err)
	}
}

// ClicksUnseen is a press, with calls ticked, of a button on a card that who
// presses it cannot see: it was made to look like his.
func (p *Place) ClicksUnseen(t testing.TB, who string, card simulator.Message, action string, ticked ...string) {
	t.Helper()
	var blocks []struct {
		Elements []struct {
			ID    string `json:"action_id"`
			Value string `json:"value"`
		} `json:"elements"`
	}
	if err := json.Unmarshal(card.Blocks, &blocks); err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	boxes := []object{}
	for _, call := range ticked {
		boxes = append(boxes, object{"value": call})
	}
	for _, b := range blocks {
		for _, e := range b.Elements {
			if e.ID != action {
				continue
			}
			_, err := p.Slack.DeliverPayload(t.Context(), "interactive", object{
				"type": "block_actions", "api_app_id": p.Slack.Bot().AppID, "user": object{"id": who, "team_id": simulator.HomeTeam},
				"team": object{"id": simulator.HomeTeam}, "channel": object{"id": card.Channel},
				"container": object{"type": "message", "channel_id": card.Channel, "message_ts": card.TS},
				"actions":   []object{{"type": "button", "action_id": e.ID, "value": e.Value}},
				"state":     object{"values": object{"tick:1": object{"card:consent:tick:1": object{"type": "checkboxes", "selected_options": boxes}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("the card has no button %s: %s", action, card.Blocks)
}

// EntersCode opens the window of a card that offers to connect an account, and
// enters a code. It answers what the window then says.
func (p *Place) EntersCode(t testing.TB, who string, card simulator.Message, code string) string {
	t.Helper()
	had := map[string]bool{}
	for _, v := range p.Slack.Views(who) {
		had[v.ID] = true
	}
	p.Clicks(t, who, card, "card:connect:code")
	var view simulator.View
	p.Until(t, "the window", func() bool {
		for _, v := range p.Slack.Views(who) {
			if !had[v.ID] && strings.Contains(string(v.View), `"code:`) {
				view = v
			}
		}
		return view.ID != ""
	})
	e, err := p.Slack.SubmitView(t.Context(), who, view.ID, map[string]map[string]any{"code": {"code": map[string]any{"type": "plain_text_input", "value": code}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(e.Response)
}
