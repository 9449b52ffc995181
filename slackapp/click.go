package slackapp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"reeve/runtime/chat"
)

// Click is a person's press of a button of ours. Who pressed is Slack's word;
// what the button says is ours, as it went out.
type Click struct {
	By     chat.Actor
	Action string
	Value  string
	// Home: the button stands in the person's own home tab.
	Home bool
	// Channel, Thread and TS are the message that holds it.
	Channel    chat.ChannelID
	Thread, TS chat.TS
	// Trigger opens a window once, within three seconds.
	Trigger string
	// Ticked are the values of the message's boxes that are ticked.
	Ticked []string
}

// Clicks does what buttons say.
type Clicks interface {
	// Click is called before the click is acknowledged, and makes durable what
	// it changes. Slack repeats a click that is not acknowledged. What follows
	// (a view shown anew) is left to a function, which may be nil.
	Click(ctx context.Context, c Click) (after func(context.Context), err error)
}

// interactor is the person of our workspace whom an interactive payload names;
// ok is false for anybody else.
func interactor(f fields, self Identity) (who chat.Actor, ok bool) {
	user := parseFields(f["user"])
	// Slack stamps the person's own workspace on him, which of a stranger is
	// another one than the installation's.
	team := user.text("team_id")
	if team == "" {
		team = parseFields(f["team"]).text("id")
	}
	if chat.TeamID(team) != self.Team || !validID(user.text("id")) || isSystemAuthor(user.text("id")) {
		return chat.Actor{}, false
	}
	return chat.Person(chat.TeamID(team), chat.UserID(user.text("id"))), true
}

// parseClick reads an interactive payload. ok is false for what is no press of
// a button by a person of our workspace.
func parseClick(payload []byte, self Identity) (c Click, ok bool) {
	f := parseFields(payload)
	actions := f.list("actions")
	by, ok := interactor(f, self)
	if !ok || f.text("type") != "block_actions" || len(actions) != 1 {
		return Click{}, false
	}
	action, container := parseFields(actions[0]), parseFields(f["container"])
	c = Click{
		By:     by,
		Action: action.text("action_id"), Value: action.text("value"),
		Home:    container.text("type") == "view" && parseFields(f["view"]).text("type") == "home",
		Trigger: f.text("trigger_id"), Ticked: ticked(f["state"]),
	}
	if channel, ts := container.text("channel_id"), container.text("message_ts"); validID(channel) && isTS(ts) {
		c.Channel, c.TS = chat.ChannelID(channel), chat.TS(ts)
		if thread := container.text("thread_ts"); isTS(thread) {
			c.Thread = chat.TS(thread)
		}
	}
	return c, true
}

// tickedMost bounds how many boxes count.
const tickedMost = 100

// ticked are the values of a card's boxes that are ticked, in the order of
// their names.
func ticked(state json.RawMessage) []string {
	var read struct {
		Values map[string]map[string]struct {
			Type     string `json:"type"`
			Selected []struct {
				Value string `json:"value"`
			} `json:"selected_options"`
		} `json:"values"`
	}
	if json.Unmarshal(state, &read) != nil {
		return nil
	}
	var out []string
	for _, block := range slices.Sorted(maps.Keys(read.Values)) {
		for _, action := range slices.Sorted(maps.Keys(read.Values[block])) {
			if element := read.Values[block][action]; element.Type == "checkboxes" && strings.HasPrefix(action, cardPrefix+":") {
				for _, o := range element.Selected {
					out = append(out, o.Value)
				}
			}
		}
	}
	return out[:min(len(out), tickedMost)]
}

// addClick hands a click on, without keeping up what else arrives.
func (e *Edge) addClick(ctx context.Context, d Delivery) {
	if f, ok := parseForm(d.Payload, e.opts.Self); ok && e.opts.Forms != nil {
		e.addForm(ctx, d, f)
		return
	}
	c, ok := parseClick(d.Payload, e.opts.Self)
	if !ok || e.opts.Clicks == nil {
		e.ignore(d, "interactive")
		return
	}
	select {
	case e.clicks <- struct{}{}:
	default:
		e.log.Warn("too many clicks at once, left to slack's retry", "actor", c.By.Key())
		e.letGo(d)
		return
	}
	e.work.Go(func() {
		defer func() { <-e.clicks }()
		// What has begun is finished, also when the process is told to end.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opts.DeliverTimeout)
		defer cancel()
		after, err := e.opts.Clicks.Click(ctx, c)
		if err != nil {
			e.log.Warn("click not durable, left to slack's retry", "actor", c.By.Key(), "action", c.Action, "attempt", d.Attempt, "err", err)
			e.letGo(d)
			return
		}
		e.finish(d)
		if after != nil {
			after(ctx)
		}
	})
}

// openHome shows a home tab, unless too much is under way: it is opened again.
func (e *Edge) openHome(ctx context.Context, person chat.Actor) {
	if e.opts.Home == nil {
		return
	}
	select {
	case e.clicks <- struct{}{}:
	default:
		return
	}
	e.work.Go(func() {
		defer func() { <-e.clicks }()
		e.opts.Home(ctx, person)
	})
}
