package moods

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// place is a workspace whose people ask numbered questions, and a model that
// answers each with its number.
type place struct {
	*apptest.Place
	t     *testing.T
	asked map[string]string // the thread of each question
	last  int
}

var question = regexp.MustCompile(`question [0-9]+`)

// newPlace: Slack delivers again after 0.7 s, then after some 3 and 15 s more.
func newPlace(t *testing.T, store apptest.Store, settings ...string) *place {
	t.Helper()
	p := &place{t: t, asked: map[string]string{}}
	p.Place = apptest.NewPlace(t, simulator.Options{AckTimeout: 700 * time.Millisecond, RetryScale: 0.05}, store,
		append(settings, "HTTP_ADDR=127.0.0.1:0")...)
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		found := ""
		for _, m := range r.Messages {
			if m.Role == "user" {
				found = question.FindString(m.Content)
			}
		}
		return scripted.Answer("answer to " + found)
	})
	return p
}

// asks begins a thread of its own with the next question.
func (p *place) asks(user string) (text string) {
	p.last++
	text = fmt.Sprintf("question %d", p.last)
	p.asked[text] = p.Slack.Say(user, simulator.General, "<@UBOT> "+text)
	return text
}

// acknowledged reports whether any envelope of a question is.
func (p *place) acknowledged(texts ...string) bool {
	for _, e := range p.Slack.Acks() {
		for _, text := range texts {
			if strings.Contains(string(e.Payload), `"ts":"`+p.asked[text]+`"`) {
				return true
			}
		}
	}
	return false
}

// answered waits until each question so far is answered, and then until all is
// quiet: each must be answered once.
func (p *place) answered() {
	p.t.Helper()
	var missing []string
	if err := p.Wait(apptest.Patience, func() bool {
		missing = missing[:0]
		for text, thread := range p.asked {
			if len(p.Posts(simulator.General, thread)) == 0 {
				missing = append(missing, text)
			}
		}
		return len(missing) == 0
	}); err != nil {
		p.t.Fatalf("never answered: %q", missing)
	}
	p.Until(p.t, "all is acknowledged", func() bool { return p.Slack.Unacknowledged() == 0 })
	p.Quiet(300 * time.Millisecond)
	for text, thread := range p.asked {
		got := p.Texts(simulator.General, thread)
		if want := "answer to " + text; len(got) != 1 || got[0] != want {
			p.t.Errorf("%q was answered with %q, want %q", text, got, want)
		}
	}
}

// figure is one of a process's figures.
func (p *place) figure(r *apptest.Process, name string) float64 {
	p.t.Helper()
	n, known := r.Figure(name)
	if !known {
		p.t.Fatalf("the process shows no %s", name)
	}
	return n
}
