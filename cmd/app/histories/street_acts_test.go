package histories

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reeve/cmd/app/apptest"
	"reeve/runtime/chat"
	"reeve/slackapp/simulator"
)

// view implements world.
func (s *street) view() view {
	s.look()
	h := s.h
	h.mu.Lock()
	defer h.mu.Unlock()
	v := view{Running: -1}
	for _, a := range h.waiting() {
		began := s.request(a)
		one := seenAsk{Actor: slices.Index(people, began.Author)}
		for _, before := range h.asks {
			if s.request(before).ID == began.ID {
				one.Calls = append(one.Calls, before.calls...)
			}
		}
		for _, m := range h.said {
			if m.Author != began.Author && strings.Contains(a.text(), m.mark) {
				one.Steers = append(one.Steers, simulator.General+":"+string(m.ID.TS))
			}
		}
		v.Asks, v.Running = append(v.Asks, one), one.Actor
	}
	for _, m := range h.said {
		v.Messages = append(v.Messages, seenMessage{slices.Index(people, m.Author), m.Text})
	}
	for _, c := range s.cards {
		v.Cards = append(v.Cards, seenCard{
			Kind: c.Card.Kind, Actor: c.actor, Calls: c.calls(), Open: c.Card.Kind == chat.ConsentCard && len(c.endings) == 0,
		})
	}
	return v
}

// do implements world. What cannot be done to a process from outside is left out.
func (s *street) do(a act) {
	switch a.Kind {
	case says:
		s.says(a)
	case answers:
		s.h.answer(s.h.waiting()[a.On], a.Reply)
	case edits, deletes, signs:
		s.changes(a)
	case clicks, owns:
		allowed := a.Allowed
		if a.Refuse {
			allowed = nil
		}
		s.press(s.cards[a.On], people[a.Who], allowed)
		if a.Twice {
			s.press(s.cards[a.On], people[a.Who], allowed)
		}
	case dies:
		s.mu.Lock()
		s.dieIn = a.Steps
		s.mu.Unlock()
	}
	s.dies()
}

func (s *street) says(a act) {
	s.marks++
	m := said{words: a.Words, mark: fmt.Sprintf("[m%06d]", s.marks)}
	m.Text, m.Author, m.Stop, m.Addressed = m.mark+" "+words[a.Words].text, people[a.Who], a.Stop, a.Addressed
	if a.Stop {
		m.Text = "stop"
	}
	text, control := m.Text, ""
	if a.Addressed {
		control = "<@" + s.Slack.Bot().UserID + "> "
	}
	if a.Forced && !a.Stop {
		control += "!! "
	}
	// It has to be known before it can come back: nobody answers a message whose
	// timestamp is not known.
	s.h.note(func() { s.h.said = append(s.h.said, m) })
	ts := s.Slack.Say(string(m.Author.User), simulator.General, control+text, simulator.SayOptions{Thread: string(s.h.in.Root)})
	s.h.note(func() {
		if s.h.in.Root == "" {
			s.h.in.Root = chat.TS(ts)
		}
		last := &s.h.said[len(s.h.said)-1]
		last.ID = chat.MessageID{Team: simulator.HomeTeam, Channel: simulator.General, TS: chat.TS(ts)}
		if a.Addressed && !a.Stop && a.Who != robot { // whoever is answered stands in a turn
			last.outcome.Disposition = chat.Start
		}
	})
}

func (s *street) changes(a act) {
	old := s.h.said[a.On]
	ts := string(old.ID.TS)
	if a.Kind == deletes && old.ID.TS == s.h.in.Root && len(s.Slack.Messages(simulator.General, ts)) == 1 {
		return // there would be no thread left to play in
	}
	s.h.note(func() { s.h.said[a.On].changed = true })
	switch {
	case a.Kind == deletes:
		s.Slack.Delete(simulator.General, ts)
	case a.Kind == signs:
		s.Slack.React(string(people[a.Who].User), simulator.General, ts, "octagonal_sign")
	case people[a.Who] == old.Author: // Slack lets nobody else edit it
		text := old.mark + " rather: " + words[a.Words].text
		if a.Stop {
			text = "stop"
		} else {
			s.h.note(func() { s.h.said[a.On].words = -1 })
		}
		if old.Addressed || a.Addressed {
			text = "<@" + s.Slack.Bot().UserID + "> " + text
		}
		s.Slack.Edit(string(old.Author.User), simulator.General, ts, text)
	}
}

// press is a click on a card. One who cannot see it, or on a button that is gone,
// is as if somebody had made it up.
func (s *street) press(c *posted, who chat.Actor, allowed []string) {
	ticked := []string{}
	for _, id := range c.calls() {
		if slices.Contains(allowed, id) {
			ticked = append(ticked, id)
		}
	}
	action := "card:" + string(c.Card.Kind) + ":refuse"
	switch {
	case c.Card.Kind == chat.OfferCard:
		action = "card:offer:own"
	case len(ticked) > 0:
		action = "card:consent:allow"
	}
	if c.Card.Kind == chat.ConsentCard {
		s.h.note(func() {
			s.h.clicked = append(s.h.clicked, click{
				at: int(s.Slack.Mark()), turn: c.Turn, wait: c.Card.Wait, by: who, allowed: ticked, how: chat.ByAnswer,
			})
		})
	}
	if _, err := s.Slack.Click(string(who.User), c.channel, c.ts, action, ticked...); err == nil {
		return
	}
	state := map[string]any{}
	for i, id := range ticked {
		name := fmt.Sprint("tick:", i+1)
		state[name] = map[string]any{"card:consent:" + name: map[string]any{"type": "checkboxes", "selected_options": []any{map[string]any{"value": id}}}}
	}
	payload := map[string]any{
		"type": "block_actions", "api_app_id": s.Slack.Bot().AppID, "user": map[string]any{"id": who.User, "team_id": simulator.HomeTeam},
		"team": map[string]any{"id": simulator.HomeTeam}, "channel": map[string]any{"id": c.channel},
		"container": map[string]any{"type": "message", "channel_id": c.channel, "message_ts": c.ts},
		"state":     map[string]any{"values": state},
		"actions":   []any{map[string]any{"type": "button", "action_id": action, "value": c.value}},
	}
	ctx, cancel := context.WithTimeout(context.Background(), apptest.Patience)
	defer cancel()
	_, _ = s.Slack.DeliverPayload(ctx, "interactive", payload) // if it is lost with the process, he has not clicked
}

// tell is what was seen of a history, for a message.
func (s *street) tell() string {
	var b strings.Builder
	for _, m := range s.Slack.Messages(simulator.General, string(s.h.in.Root)) {
		fmt.Fprintf(&b, "%s %s: %s\n", m.TS, m.User, m.Text)
	}
	for _, c := range s.cards {
		raw, _ := json.Marshal(c.Card)
		fmt.Fprintf(&b, "card of %s to %s: %s, endings %+v\n", c.Turn, people[c.actor].Key(), raw, c.endings)
	}
	for _, c := range s.h.clicked {
		fmt.Fprintf(&b, "click %+v\n", c)
	}
	for _, m := range s.h.made {
		fmt.Fprintf(&b, "call %+v\n", m)
	}
	return b.String()
}
