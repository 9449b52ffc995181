package simulator_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"reeve/slackapp/simulator"
)

// knock makes a control request; edit changes it first.
func knock(t *testing.T, s *simulator.Server, method, path, body string, edit func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(within(t), method, s.URL()+path, strings.NewReader(body))
	check(t, err)
	r.Header.Set("X-Sim-Key", s.Key())
	if edit != nil {
		edit(r)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	check(t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	check(t, err)
	return answer.StatusCode, string(raw)
}

func TestControlIsGuarded(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "here") })
	s := simulator.ForTest(t, simulator.Options{Page: handler, Play: handler})
	for name, c := range map[string]struct {
		path string
		edit func(*http.Request)
		want int
	}{
		"right":            {"/sim/state", nil, 200},
		"key in address":   {"/sim/state?key=" + s.Key(), func(r *http.Request) { r.Header.Del("X-Sim-Key") }, 200},
		"own origin":       {"/sim/state", func(r *http.Request) { r.Header.Set("Origin", s.URL()) }, 200},
		"no key":           {"/sim/state", func(r *http.Request) { r.Header.Del("X-Sim-Key") }, 403},
		"wrong key":        {"/sim/state", func(r *http.Request) { r.Header.Set("X-Sim-Key", "x") }, 403},
		"foreign origin":   {"/sim/state", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"other local site": {"/sim/state", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		"origin null":      {"/sim/state", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"foreign host":     {"/sim/state", func(r *http.Request) { r.Host = "evil.example" }, 403},
		"foreign site":     {"/sim/state", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"own page":         {"/sim/state", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, 200},
		"API for a page":   {"/api/api.test", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"API":              {"/api/api.test", nil, 200},
		"socket by a name": {"/link/", func(r *http.Request) { r.Host = "evil.example" }, 403},
		"play":             {"/play/pace", nil, 200},
		"play, no key":     {"/play/pace", func(r *http.Request) { r.Header.Del("X-Sim-Key") }, 403},
		"play, wrong key":  {"/play/pace", func(r *http.Request) { r.Header.Set("X-Sim-Key", "x") }, 403},
		"page":             {"/", func(r *http.Request) { r.Header.Del("X-Sim-Key") }, 200},
		"page by any name": {"/", func(r *http.Request) { r.Host = "evil.example:80" }, 403},
	} {
		t.Run(name, func(t *testing.T) {
			if got, body := knock(t, s, "GET", c.path, "", c.edit); got != c.want {
				t.Errorf("got %d %s", got, body)
			}
		})
	}
}

func TestControlPlays(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	do := func(path, body string) string {
		t.Helper()
		status, answer := knock(t, s, "POST", "/sim/"+path, body, nil)
		if status != http.StatusOK {
			t.Fatalf("%s answered %d %s", path, status, answer)
		}
		var out struct{ TS string }
		check(t, json.Unmarshal([]byte(answer), &out))
		return out.TS
	}
	ts := do("say", `{"user":"UALICE","channel":"CGENERAL","text":"@reeve a < b","typed":true}`)
	below := do("say", `{"user":"UBOB","channel":"CGENERAL","text":"reply","thread_ts":"`+ts+`"}`)
	do("edit", `{"user":"UBOB","channel":"CGENERAL","ts":"`+below+`","text":"@Alice no","typed":true}`)
	do("react", `{"user":"UBOB","channel":"CGENERAL","ts":"`+ts+`","name":"eyes"}`)
	do("delete", `{"channel":"CGENERAL","ts":"`+ts+`"}`)
	do("stop", `{"user":"UBOB","channel":"CGENERAL","thread_ts":"`+ts+`"}`)
	do("home", `{"user":"UBOB","tab":"home"}`)
	do("fault", `{"method":"auth.test","error":"fatal_error","times":-1}`)
	do("fault", `{"socket":"duplicate"}`)
	want := "message app_mention message message/message_changed reaction_added message/message_changed agent_session_stopped app_home_opened"
	if got := kinds(t, s); got != want {
		t.Errorf("events are %s", got)
	}
	if m := s.Messages(simulator.General, ts); m[1].Text != "<@UALICE> no" {
		t.Errorf("thread is %+v", m)
	}
	for path, body := range map[string]string{
		"say": `{"user":"UNOBODY","channel":"CGENERAL","text":"x"}`, "edit": `{"channel":"CGENERAL","ts":"1.0"}`,
		"fault": `{"socket":"melt"}`, "react": `{"emoji":"x"}`, "click": `nonsense`,
	} {
		if status, answer := knock(t, s, "POST", "/sim/"+path, body, nil); status != http.StatusBadRequest || !strings.Contains(answer, "error") {
			t.Errorf("%s answered %d %s", path, status, answer)
		}
	}
	var state simulator.State
	_, raw := knock(t, s, "GET", "/sim/state", "", nil)
	check(t, json.Unmarshal([]byte(raw), &state))
	if len(state.People) != 7 || state.Seq == 0 || state.Bot.UserID != "UBOT" {
		t.Errorf("state is %+v", state)
	}
}

func TestEventStream(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	s.Say(simulator.Alice, simulator.General, "before")
	r, err := http.NewRequestWithContext(within(t), "GET", s.URL()+"/sim/events?since=0&key="+s.Key(), nil)
	check(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	check(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	next := func() (e simulator.Event) {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				check(t, json.Unmarshal([]byte(data), &e))
				return e
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return e
	}
	if e := next(); e.Kind != simulator.MessagePosted || e.Message.Text != "before" || e.Seq != 1 {
		t.Errorf("first event is %+v", e)
	}
	check(t, s.Publish("fate", map[string]string{"disposition": "steer"}))
	if e := next(); e.Kind != simulator.Annotated || e.Name != "fate" || string(e.Data) != `{"disposition":"steer"}` {
		t.Errorf("second event is %+v", e)
	}
}
