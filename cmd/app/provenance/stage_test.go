package provenance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// play is a workspace, a model that says its lines, and one process.
type play struct {
	*apptest.Place
	t       *testing.T
	process *apptest.Process
	thread  string // the root of the conversation
	posts   int
}

func newPlay(t *testing.T, settings ...string) *play {
	t.Helper()
	t.Parallel()
	world := simulator.DefaultWorld()
	// Mallory calls himself Alice.
	world.AddUser(simulator.User{ID: mallory, Name: "mallory", RealName: "Alice Adams", DisplayName: "Alice"})
	general := world.Channels[simulator.General]
	general.Members = append(general.Members, mallory)
	p := &play{t: t, Place: apptest.NewPlace(t, simulator.Options{World: world, RetryScale: 0.01}, redistest.Shared(t), settings...)}
	p.process = p.StartOther(t, apptest.Tenth)
	return p
}

const mallory = "UMALLORY"

// person is somebody in the play.
type person struct {
	*play
	id string
}

func (p *play) as(id string) person { return person{p, id} }

// writes posts in the conversation, and waits until it is durable.
func (w person) writes(text string, options ...simulator.SayOptions) string {
	w.t.Helper()
	o := simulator.SayOptions{}
	if len(options) > 0 {
		o = options[0]
	}
	o.Thread = w.thread
	ts := w.Slack.Say(w.id, simulator.General, text, o)
	if w.thread == "" {
		w.thread = ts
	}
	w.Until(w.t, "all is acknowledged", func() bool { return w.Slack.Unacknowledged() == 0 })
	return ts
}

func (w person) asks(text string, options ...simulator.SayOptions) string {
	return w.writes("<@UBOT> "+text, options...)
}

// forces steers whatever turn runs.
func (w person) forces(text string) string { return w.writes("<@UBOT> !! " + text) }

// expects lets the model say its next lines.
func (p *play) expects(steps ...scripted.Step) { p.Model.Then(steps...) }

// holds lets the model's next answer wait until released.
func (p *play) holds(step scripted.Step) (release func()) {
	held, release := step.Held()
	p.t.Cleanup(release)
	p.Model.Then(held)
	return release
}

// answered waits for the next post.
func (p *play) answered() {
	p.t.Helper()
	p.posts++
	p.Posted(p.t, simulator.General, p.thread, p.posts)
}

// restarts kills the process and starts another.
func (p *play) restarts() {
	p.t.Helper()
	p.process.Kill()
	p.process = p.StartOther(p.t, apptest.Tenth)
}

// view is one request to the model.
type view struct {
	t *testing.T
	scripted.Request
	n int
}

// request waits for the n-th one.
func (p *play) request(n int) view {
	p.t.Helper()
	return view{p.t, p.Asked(p.t, n), n}
}

func (v view) text() string {
	var b strings.Builder
	for _, m := range v.Messages {
		if m.Role != "system" {
			fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Content)
			for _, c := range m.ToolCalls {
				fmt.Fprintf(&b, "  %s %s\n", c.Function.Name, c.Function.Arguments)
			}
		}
	}
	return b.String()
}

func (v view) shows(texts ...string) view {
	v.t.Helper()
	for _, text := range texts {
		if !strings.Contains(v.text(), text) {
			v.t.Errorf("request %d does not show %q:\n%.3000s", v.n, text, v.text())
		}
	}
	return v
}

func (v view) hides(texts ...string) view {
	v.t.Helper()
	for _, text := range texts {
		if strings.Contains(v.text(), text) {
			v.t.Errorf("request %d shows %q:\n%.3000s", v.n, text, v.text())
		}
	}
	return v
}

// isAsked: these and no other words stand as the request.
func (v view) isAsked(want ...string) view {
	v.t.Helper()
	var got []string
	for _, m := range v.Messages {
		if m.Role == "user" && !agent.IsBlock(m.Content) {
			got = append(got, m.Content)
		}
	}
	if !slices.Equal(got, want) {
		v.t.Errorf("request %d asks %q, want %q", v.n, got, want)
	}
	return v
}

// fits: the request is no longer than so many tokens.
func (v view) fits(tokens int) view {
	v.t.Helper()
	if n := len(v.Raw) / 3; n > tokens+tokens/4 { // JSON takes some
		v.t.Errorf("request %d takes %d tokens", v.n, n)
	}
	return v
}

// elements are the pieces of information in it.
func (v view) elements() []agent.Element {
	v.t.Helper()
	var all []agent.Element
	for _, m := range v.Messages {
		if m.Role == "user" && agent.IsBlock(m.Content) {
			elements, err := agent.DecodeBlock(m.Content)
			if err != nil {
				v.t.Fatalf("request %d: %v", v.n, err)
			}
			all = append(all, elements...)
		}
	}
	return all
}
