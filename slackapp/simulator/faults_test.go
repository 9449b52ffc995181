package simulator_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

func post(s *simulator.Server) url.Values {
	return url.Values{"channel": {simulator.General}, "text": {"x"}, "token": {s.BotToken()}}
}

func TestFaultsAreUsedUpInOrder(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	s.Fail(simulator.Fault{Method: "chat.postMessage", Status: 500, Times: 2})
	s.Fail(simulator.Fault{Method: "*", Error: "fatal_error"})
	for _, want := range []struct {
		status int
		code   string
	}{{500, "internal_error"}, {500, "internal_error"}, {200, "fatal_error"}, {200, ""}} {
		var out result
		if a := call(t, s, "chat.postMessage", post(s), &out); a.StatusCode != want.status || out.Error != want.code {
			t.Errorf("got %d %+v, want %+v", a.StatusCode, out, want)
		}
	}
	if n := len(s.Messages(simulator.General, "")); n != 1 {
		t.Errorf("%d messages were posted", n)
	}
}

func TestLostAnswerIsCarriedOut(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	s.Fail(simulator.Fault{Method: "chat.postMessage", LoseAnswer: true})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.PostForm(s.APIURL()+"chat.postMessage", post(s))
	if err == nil {
		answer.Body.Close()
		t.Errorf("got %v", answer.Status)
	}
	if len(s.Messages(simulator.General, "")) != 1 || !s.Calls("chat.postMessage")[0].Lost {
		t.Error("the post was not carried out")
	}
}

func TestSlowAnswerIsCarriedOutAtOnce(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	s.Fail(simulator.Fault{Method: "chat.postMessage", Delay: time.Hour})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 50 * time.Millisecond}
	answer, err := client.PostForm(s.APIURL()+"chat.postMessage", post(s))
	if err == nil {
		answer.Body.Close()
		t.Error("an answer came")
	}
	if len(s.Messages(simulator.General, "")) != 1 {
		t.Error("the post was not carried out")
	}
}

func TestHold(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	release := s.Hold("chat.postMessage")
	answered := make(chan error, 1)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	go func() {
		answer, err := client.PostForm(s.APIURL()+"chat.postMessage", post(s))
		if err == nil {
			answer.Body.Close()
		}
		answered <- err
	}()
	check(t, s.WaitHeld(within(t), "chat.postMessage", 1))
	if len(s.Messages(simulator.General, "")) != 0 {
		t.Error("the held call was carried out")
	}
	release()
	release() // a second time does nothing
	check(t, <-answered)
	if len(s.Messages(simulator.General, "")) != 1 {
		t.Error("the call was not carried out after its release")
	}
}

func TestRateLimits(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := simulator.ForTest(t, simulator.Options{RateLimits: true, Now: func() time.Time { return now }})
	var last *http.Response
	for range 11 {
		last = call(t, s, "chat.postMessage", post(s), nil)
	}
	if last.StatusCode != http.StatusTooManyRequests || last.Header.Get("Retry-After") != "1" {
		t.Errorf("eleventh post got %s, %v", last.Status, last.Header)
	}
	elsewhere := post(s)
	elsewhere.Set("channel", simulator.Planning)
	if a := call(t, s, "chat.postMessage", elsewhere, nil); a.StatusCode != http.StatusOK {
		t.Errorf("another channel got %s", a.Status)
	}
	now = now.Add(time.Second)
	if a := call(t, s, "chat.postMessage", post(s), nil); a.StatusCode != http.StatusOK {
		t.Errorf("a second later: %s", a.Status)
	}
}

func TestFilesNeedTheToken(t *testing.T) {
	s := simulator.ForTest(t, simulator.Options{})
	s.Say(simulator.Alice, simulator.General, "", simulator.SayOptions{Files: []simulator.NewFile{
		{Name: "a.txt", Content: []byte("a")}, {Name: "b", Content: []byte("b"), CheckInfo: true},
		{Name: "c", ExternalURL: "https://evil.example/c"},
	}})
	files := s.Messages(simulator.General, "")[0].Files
	if files[1].FileAccess != "check_file_info" || files[1].URLPrivate != "" || !files[2].IsExternal {
		t.Errorf("files are %+v", files)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(files[0].URLPrivate)
	check(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") || answer.Request.URL.Query().Get("redir") == "" {
		t.Errorf("without token: %s %v at %s", answer.Status, answer.Header, answer.Request.URL)
	}
}
