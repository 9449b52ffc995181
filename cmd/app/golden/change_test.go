package golden

import (
	"encoding/json"
	"fmt"
	"slices"

	"reeve/slackapp/simulator"
)

// sign is a stop that is no message: what was done, and the ts of its event.
type sign struct{ what, ts string }

// changed is the part of an event that tells of a change.
type changed struct {
	Event struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Channel string `json:"channel"`
		User    string `json:"user"`
		Item    struct {
			Channel string `json:"channel"`
		} `json:"item"`
		EventTS string `json:"event_ts"`
	} `json:"event"`
}

// changes are the events of the story's channels that are no new messages.
func (f *performance) changes() (events []changed, settled bool) {
	settled = true
	for _, e := range f.place.Slack.Envelopes() {
		var c changed
		if json.Unmarshal(e.Payload, &c) != nil {
			continue
		}
		ev := c.Event
		is := ev.Subtype == "message_changed" || ev.Subtype == "message_deleted" || ev.Type == "reaction_added" || ev.Type == "agent_session_stopped"
		if !is || ev.User == botID || !f.cast.owns(ev.Channel) && !f.cast.owns(ev.Item.Channel) {
			continue
		}
		events = append(events, c)
		settled = settled && e.State == simulator.Acknowledged
	}
	return events, settled
}

// change does what a step does to a message, and waits until the bot has
// acknowledged it.
func (f *performance) change(one step) error {
	before, _ := f.changes()
	slack := f.place.Slack
	if one.Repeat {
		slack.DuplicateNext(1)
	}
	on, who, ok := f.target(one)
	if !ok {
		return fmt.Errorf("no such message: %+v", one)
	}
	user := f.cast.id(who)
	did, isSign := false, ""
	switch {
	case one.Edit != "":
		did = slack.Edit(user, on.Channel, on.TS, f.cast.wire(one.Text))
	case one.Unfurl != "":
		did = slack.Unfurl(on.Channel, on.TS, `[{"from_url":"https://example.com","text":"a preview","id":1}]`)
	case one.Delete != "":
		did = slack.Delete(on.Channel, on.TS)
	case one.React != "":
		name := one.Text
		if name == "" {
			name = "octagonal_sign"
		}
		did, isSign = slack.React(user, on.Channel, on.TS, name), fmt.Sprintf("%s reacts to %s with %s", who, one.React, name)
	case one.Press != "":
		did, isSign = slack.StopSession(user, on.Channel, on.TS), fmt.Sprintf("%s presses Stop below %s", who, one.Press)
	}
	if !did {
		return fmt.Errorf("it cannot be done: %+v", one)
	}
	if one.Along {
		return nil
	}
	err := f.await(func() bool {
		after, settled := f.changes()
		return settled && len(after) > len(before)
	})
	if after, _ := f.changes(); err == nil && isSign != "" {
		f.signs = append(f.signs, sign{isSign, after[len(after)-1].Event.EventTS})
	}
	return err
}

// target is the message to which a step does something, and who does it: its
// author when nobody is named. "post" is the bot's last one.
func (f *performance) target(one step) (on simulator.Message, who string, ok bool) {
	label := one.Edit + one.Unfurl + one.Delete + one.React + one.Press
	if posts := f.posts(); label == "post" && len(posts) > 0 {
		return posts[len(posts)-1], one.Who, true
	}
	i := slices.IndexFunc(f.said, func(s saying) bool { return s.label == label })
	if i < 0 {
		return on, "", false
	}
	on.Channel, on.TS = f.said[i].channel, f.said[i].ts
	if who = one.Who; who == "" {
		who = f.said[i].who
	}
	return on, who, true
}
