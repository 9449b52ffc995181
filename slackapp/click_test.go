package slackapp_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"testing/synctest"

	"reeve/runtime/chat"
	"reeve/slackapp"
)

// counter does what buttons say, as the test wants.
type counter struct {
	clicks []slackapp.Click
	err    error
	after  int
}

func (d *counter) Click(_ context.Context, c slackapp.Click) (func(context.Context), error) {
	d.clicks = append(d.clicks, c)
	return func(context.Context) { d.after++ }, d.err
}

// press is the payload of a click.
func press(changes ...object) []byte {
	p := object{
		"type": "block_actions", "api_app_id": "ABOT", "team": object{"id": "T1"}, "user": object{"id": "UALICE", "team_id": "T1"},
		"container": object{"type": "view", "view_id": "V1"}, "view": object{"type": "home"},
		"actions": []object{{"action_id": "home:memory:forget:m_1", "type": "button", "value": "x"}},
	}
	for _, c := range changes {
		for k, v := range c {
			p[k] = v
		}
	}
	raw, _ := json.Marshal(p)
	return raw
}

func TestP1_AClickIsAcknowledgedWhenItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &counter{err: errAway}
		s := newStage(t, func(o *slackapp.EdgeOptions) { o.Clicks = d })
		s.comesAs("e1", "interactive", press())
		synctest.Wait()
		s.wantAcks()
		if d.after != 0 {
			t.Error("what follows was done for a click that did not count")
		}
		d.err = nil
		s.comesAs("e1", "interactive", press())
		synctest.Wait()
		s.wantAcks("e1")
		want := slackapp.Click{By: chat.Person("T1", "UALICE"), Action: "home:memory:forget:m_1", Value: "x", Home: true}
		if len(d.clicks) != 2 || !reflect.DeepEqual(d.clicks[1], want) || d.after != 1 {
			t.Errorf("clicks: %+v, then %d", d.clicks, d.after)
		}
		if n := s.Stats().InFlight; n != 0 {
			t.Errorf("%d in flight", n)
		}
	})
}

func TestWhatIsNoClickOfOursIsAcknowledgedAndNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &counter{}
		s := newStage(t, func(o *slackapp.EdgeOptions) { o.Clicks = d })
		payloads := map[string][]byte{
			"another workspace's": press(object{"user": object{"id": "UEVE", "team_id": "T2"}}),
			"nobody's":            press(object{"user": object{}}),
			"no id":               press(object{"user": object{"id": "U1 <!here>", "team_id": "T1"}}),
			"Slackbot's":          press(object{"user": object{"id": "USLACKBOT", "team_id": "T1"}}),
			"no action":           press(object{"actions": []object{}}),
			"two actions":         press(object{"actions": []object{{"action_id": "a"}, {"action_id": "b"}}}),
			"a modal's":           press(object{"type": "view_submission"}),
			"no JSON":             []byte(`nonsense`),
		}
		var ids []string
		for id, payload := range payloads {
			ids = append(ids, id)
			s.comesAs(id, "interactive", payload)
		}
		synctest.Wait()
		s.wantAcks(ids...)
		if len(d.clicks) != 0 {
			t.Errorf("clicks: %+v", d.clicks)
		}
	})
}

func TestTheHomeTabIsShownToWhoeverOpensIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened []chat.Actor
		s := newStage(t, func(o *slackapp.EdgeOptions) {
			o.Home = func(_ context.Context, person chat.Actor) { opened = append(opened, person) }
		})
		s.comes("home", object{"type": "app_home_opened", "user": "UALICE", "tab": "home"})
		s.comes("messages", object{"type": "app_home_opened", "user": "UALICE", "tab": "messages"})
		s.comes("nobody", object{"type": "app_home_opened", "tab": "home"})
		synctest.Wait()
		s.wantAcks("home", "messages", "nobody")
		if len(opened) != 1 || opened[0] != chat.Person("T1", "UALICE") {
			t.Errorf("opened by %v", opened)
		}
	})
}
