package slackapp

import (
	"context"

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
}

// Clicks does what buttons say.
type Clicks interface {
	// Click is called before the click is acknowledged, and makes durable what
	// it changes. Slack repeats a click that is not acknowledged. What follows
	// (a view shown anew) is left to a function, which may be nil.
	Click(ctx context.Context, c Click) (after func(context.Context), err error)
}

// parseClick reads an interactive payload. ok is false for what is no press of
// a button by a person of our workspace.
func parseClick(payload []byte, self Identity) (c Click, ok bool) {
	f := parseFields(payload)
	user, actions := parseFields(f["user"]), f.list("actions")
	if f.text("type") != "block_actions" || len(actions) != 1 {
		return Click{}, false
	}
	// Slack stamps the person's own workspace on him, which of a stranger is
	// another one than the installation's.
	team := user.text("team_id")
	if team == "" {
		team = parseFields(f["team"]).text("id")
	}
	if chat.TeamID(team) != self.Team || !validID(user.text("id")) || isSystemAuthor(user.text("id")) {
		return Click{}, false
	}
	action := parseFields(actions[0])
	return Click{
		By:     chat.Person(chat.TeamID(team), chat.UserID(user.text("id"))),
		Action: action.text("action_id"), Value: action.text("value"),
		Home: parseFields(f["container"]).text("type") == "view" && parseFields(f["view"]).text("type") == "home",
	}, true
}

// addClick hands a click on, without keeping up what else arrives.
func (e *Edge) addClick(ctx context.Context, d Delivery) {
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
