package simulator_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"reeve/slackapp/simulator"
)

const boxes = `[{"type":"rich_text","elements":[]},
	{"type":"actions","elements":[{"type":"checkboxes","action_id":"tick:1","options":[{"text":{"type":"plain_text","text":"One"},"value":"c1"}]}]},
	{"type":"actions","block_id":"two","elements":[{"type":"checkboxes","action_id":"tick:2","options":[{"text":{"type":"plain_text","text":"Two"},"value":"c2"}]}]},
	{"type":"actions","elements":[{"type":"button","action_id":"go","text":{"type":"plain_text","text":"Go"}}]}]`

// values is the state of a payload as block, action and values.
type values map[string]map[string]struct {
	Selected []struct{ Value string } `json:"selected_options"`
}

func (v values) ticked() (out []string) {
	for _, block := range v {
		for _, element := range block {
			for _, o := range element.Selected {
				out = append(out, o.Value)
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestAClickSaysWhichBoxesAreTicked(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	var posted result
	call(t, s, "chat.postMessage", url.Values{"channel": {simulator.AliceDM}, "text": {"x"}, "blocks": {boxes}}, &posted)
	for _, c := range []struct {
		action string
		ticked []string
		want   []string
	}{{"go", nil, nil}, {"tick:1", []string{"c1"}, []string{"c1"}}, {"go", []string{"c2", "c1", "none"}, []string{"c1", "c2"}}} {
		_, err := s.Click(simulator.Alice, simulator.AliceDM, posted.TS, c.action, c.ticked...)
		check(t, err)
		all := s.Envelopes()
		var payload struct {
			State   struct{ Values values }
			Actions []struct {
				Type     string
				Selected []struct{ Value string } `json:"selected_options"`
			}
		}
		check(t, json.Unmarshal(all[len(all)-1].Payload, &payload))
		if got := payload.State.Values.ticked(); !slices.Equal(got, c.want) {
			t.Errorf("%s with %q says %q", c.action, c.ticked, got)
		}
		if a := payload.Actions[0]; c.action == "tick:1" && (a.Type != "checkboxes" || len(a.Selected) != 1) {
			t.Errorf("the box says %+v", a)
		}
	}
}

func TestBoxesKeepWithinSlacksLimits(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	for _, blocks := range []string{
		`[{"type":"actions","elements":[{"type":"checkboxes","action_id":"a","options":[]}]}]`,
		`[{"type":"actions","elements":[{"type":"checkboxes","action_id":"a","options":[{"text":{"type":"plain_text","text":""},"value":"v"}]}]}]`,
		`[{"type":"actions","elements":[{"type":"checkboxes","action_id":"a","options":[{"text":{"type":"plain_text","text":"t"},"value":""}]}]}]`,
	} {
		var posted result
		call(t, s, "chat.postMessage", url.Values{"channel": {simulator.General}, "text": {"x"}, "blocks": {blocks}}, &posted)
		if posted.Error != "invalid_blocks" {
			t.Errorf("%s: %+v", blocks, posted)
		}
	}
}

// A window stays, changes or goes as the app's answer says.
func TestAWindowDoesWhatTheAppAnswers(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	api := slack.New(s.BotToken(), slack.OptionAppLevelToken(s.AppToken()), slack.OptionAPIURL(s.APIURL()))
	client := socketmode.New(api)
	answers := make(chan any, 1)
	go func() { _ = client.RunContext(ctx) }()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-client.Events:
				if e.Type == socketmode.EventTypeInteractive {
					_ = client.Ack(*e.Request, <-answers)
				}
			}
		}
	}()
	check(t, s.WaitConnected(ctx, 1))
	open := func() string {
		var posted, opened result
		call(t, s, "chat.postMessage", url.Values{"channel": {simulator.AliceDM}, "text": {"x"}, "blocks": {boxes}}, &posted)
		answers <- nil
		_, err := s.Click(simulator.Alice, simulator.AliceDM, posted.TS, "go")
		check(t, err)
		call(t, s, "views.open", url.Values{"trigger_id": {clicked(t, s).TriggerID}, "view": {`{"type":"modal","blocks":[]}`}}, &opened)
		views := s.Views(simulator.Alice)
		return views[len(views)-1].ID
	}
	for _, c := range []struct {
		answer any
		kind   simulator.Kind
		stays  bool
	}{
		{nil, simulator.ViewClosed, false},
		{map[string]any{"response_action": "clear"}, simulator.ViewClosed, false},
		{map[string]any{"response_action": "errors", "errors": map[string]string{"b": "no"}}, simulator.ViewRefused, true},
		{map[string]any{"response_action": "update", "view": map[string]any{"type": "modal", "blocks": []any{}}}, simulator.ViewShown, true},
	} {
		id, mark := open(), s.Mark()
		answers <- c.answer
		_, err := s.SubmitView(ctx, simulator.Alice, id, map[string]map[string]any{"b": {"a": map[string]any{"type": "plain_text_input", "value": "x"}}})
		check(t, err)
		_, err = s.WaitAfter(ctx, mark, func(e simulator.Event) bool { return e.Kind == c.kind && e.View.ID == id })
		check(t, err)
		if gone := s.CloseView(simulator.Alice, id) != nil; gone == c.stays {
			t.Errorf("after %v the window is gone: %v", c.answer, gone)
		}
	}
	if err := s.CloseView(simulator.Bob, open()); err == nil {
		t.Error("Bob closed Alice's window")
	}
}
