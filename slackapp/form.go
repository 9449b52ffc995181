package slackapp

import (
	"context"
	"encoding/json"
	"time"

	"reeve/runtime/chat"
)

// Form is what a person hands in with a window of ours. Who did is Slack's
// word; which window it was is ours, as it went out.
type Form struct {
	By     chat.Actor
	Window string // its callback id
	// Values are what he wrote, by the names of the fields.
	Values map[string]string
}

// Forms does what people hand in.
type Forms interface {
	// Form is called before the acknowledgement, and makes durable what it
	// changes. Its answer goes along with that and says what becomes of the
	// window; nil closes it. Slack does not deliver a form again: what could not
	// be done is said in the window.
	Form(ctx context.Context, f Form) (answer any)
}

// formTime bounds what a form may take: Slack waits three seconds.
const formTime = 2500 * time.Millisecond

// parseForm reads an interactive payload. ok is false for what is no form of a
// person of our workspace.
func parseForm(payload []byte, self Identity) (Form, bool) {
	f := parseFields(payload)
	by, ok := interactor(f, self)
	view := parseFields(f["view"])
	if !ok || f.text("type") != "view_submission" || view == nil {
		return Form{}, false
	}
	var state struct {
		Values map[string]map[string]struct {
			Value string `json:"value"`
		} `json:"values"`
	}
	form := Form{By: by, Window: view.text("callback_id"), Values: map[string]string{}}
	if json.Unmarshal(view["state"], &state) == nil {
		for _, block := range state.Values {
			for name, element := range block {
				form.Values[name] = element.Value
			}
		}
	}
	return form, true
}

// addForm hands a form on, and its answer back.
func (e *Edge) addForm(ctx context.Context, d Delivery, f Form) {
	select {
	case e.clicks <- struct{}{}:
	default:
		e.log.Warn("too many forms at once, its person sees an error", "actor", f.By.Key())
		e.letGo(d)
		return
	}
	e.work.Go(func() {
		defer func() { <-e.clicks }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), formTime)
		defer cancel()
		answer := e.opts.Forms.Form(ctx, f)
		if answer == nil || d.Answer == nil {
			e.finish(d)
			return
		}
		e.inFlight.Add(-1)
		d.Answer(answer)
	})
}
