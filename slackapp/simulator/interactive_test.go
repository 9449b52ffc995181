package simulator_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"reeve/slackapp/simulator"
)

const buttons = `[{"type":"actions","block_id":"b","elements":[{"type":"button","action_id":"yes","value":"1","text":{"type":"plain_text","text":"Yes"}}]}]`

// clicked is the payload of the newest envelope.
func clicked(t *testing.T, s *simulator.Server) (payload struct {
	TriggerID   string `json:"trigger_id"`
	ResponseURL string `json:"response_url"`
	Container   struct {
		Ephemeral bool   `json:"is_ephemeral"`
		ThreadTS  string `json:"thread_ts"`
	}
	Message json.RawMessage
}) {
	t.Helper()
	all := s.Envelopes()
	check(t, json.Unmarshal(all[len(all)-1].Payload, &payload))
	return payload
}

func respond(t *testing.T, address, body string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Post(address, "application/json", strings.NewReader(body))
	check(t, err)
	answer.Body.Close()
	return answer.StatusCode
}

func TestTriggerIsGoodOnce(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	var posted, first, second result
	call(t, s, "chat.postMessage", url.Values{"channel": {simulator.General}, "text": {"x"}, "blocks": {buttons}}, &posted)
	_, err := s.Click(simulator.Alice, simulator.General, posted.TS, "yes")
	check(t, err)
	args := url.Values{"trigger_id": {clicked(t, s).TriggerID}, "view": {`{"type":"modal","blocks":[]}`}}
	call(t, s, "views.open", args, &first)
	call(t, s, "views.open", args, &second)
	if !first.OK || second.Error != "exchanged_trigger_id" {
		t.Errorf("got %+v and %+v", first, second)
	}
	if v := s.Views(simulator.Alice); len(v) != 1 {
		t.Errorf("Alice sees %+v", v)
	}
}

func TestResponseURL(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	var e struct {
		TS string `json:"message_ts"`
	}
	call(t, s, "chat.postEphemeral", url.Values{"channel": {simulator.General}, "user": {simulator.Bob}, "text": {"x"}, "blocks": {buttons}}, &e)
	if _, err := s.Click(simulator.Alice, simulator.General, e.TS, "yes"); err == nil {
		t.Error("Alice clicked what only Bob sees")
	}
	_, err := s.Click(simulator.Bob, simulator.General, e.TS, "yes")
	check(t, err)
	click := clicked(t, s)
	if !click.Container.Ephemeral || click.Message != nil {
		t.Errorf("click is %+v", click)
	}
	if status := respond(t, click.ResponseURL, `{"replace_original":true,"text":"done"}`); status != http.StatusOK {
		t.Errorf("got %d", status)
	}
	if m := s.Ephemerals(simulator.Bob); len(m) != 1 || m[0].Text != "done" {
		t.Errorf("Bob sees %+v", m)
	}
	for range 4 {
		respond(t, click.ResponseURL, `{"text":"more"}`)
	}
	if status := respond(t, click.ResponseURL, `{"text":"a sixth"}`); status != http.StatusNotFound {
		t.Errorf("sixth use got %d", status)
	}
	if m := s.Ephemerals(simulator.Bob); len(m) != 5 {
		t.Errorf("Bob sees %+v", m)
	}
}

func TestClicksReachOwnMessagesOnly(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	ts := s.Say(simulator.Deploybot, simulator.General, "theirs")
	if _, err := s.Click(simulator.Alice, simulator.General, ts, "yes"); err == nil {
		t.Error("a click on another app's message came here")
	}
	if _, err := s.Click(simulator.Carol, simulator.Planning, ts, "yes"); err == nil {
		t.Error("somebody clicked where she is no member")
	}
}

func TestViews(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	var out result
	call(t, s, "views.publish", url.Values{"user_id": {simulator.Alice}, "view": {`{"type":"home","blocks":[]}`}}, &out)
	var large, unknown result
	call(t, s, "views.publish", url.Values{"user_id": {simulator.Alice}, "view": {`{"type":"home","x":"` + strings.Repeat("x", 250<<10) + `"}`}}, &large)
	call(t, s, "views.open", url.Values{"trigger_id": {"1.x"}, "view": {`{"type":"modal"}`}}, &unknown)
	if !out.OK || large.Error != "view_too_large" || unknown.Error != "invalid_trigger_id" {
		t.Errorf("got %+v, %+v, %+v", out, large, unknown)
	}
}
