package scheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/slackapp/simulator"
)

// A due turn whose model asks for every tool that there is, and some that there
// are not: nothing runs that spends anybody's rights or sends anything.
func TestADueTurnSpendsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Start(t)
	root, _ := p.wants(simulator.General, "say that tea is ready", 2*time.Second, nil)
	asked := p.Model.Requests()
	var all []string
	for _, tool := range asked[len(asked)-1].Tools {
		all = append(all, tool.Function.Name)
	}
	if len(all) < 8 || !slices.Contains(all, "schedule_create") {
		t.Fatalf("Alice's turn has %q", all)
	}
	var steps []scripted.Step
	for n, name := range append(slices.Clone(all), "shell", "slack_post") {
		arguments := map[string]string{
			"schedule_create": `{"text":"again","at":"in 1 hours","every":"15 minutes"}`, "schedule_cancel": `{"id":"raaaaaaaa"}`, "schedule_list": `{}`,
			"current_time": `{}`, "fetch_page": `{"url":"http://127.0.0.1:1/x"}`, "hand_back": `{"message":"1.2"}`,
		}[name]
		if arguments == "" {
			arguments = `{}`
		}
		steps = append(steps, scripted.Call(fmt.Sprintf("all_%d", n), name, arguments))
	}
	p.Model.Then(scripted.Calls(steps...), scripted.Answer("Tea is ready."))
	post := p.due(simulator.General, root, "Tea is ready.")
	if !strings.HasPrefix(strings.TrimLeft(post, "_*"), "Reminder that <@"+simulator.Alice+"> asked for on ") {
		t.Errorf("posted %q", post)
	}
	due := p.LastAsked()
	var offered []string
	for _, tool := range due.Tools {
		offered = append(offered, tool.Function.Name)
	}
	if !slices.Equal(offered, []string{"current_time", "hand_back"}) {
		t.Errorf("the due turn was offered %q", offered)
	}
	refused := due.With("tool", "There is no tool named")
	if len(refused) != len(all)+2-len(offered) {
		t.Errorf("%d calls were refused of %d", len(refused), len(all)+2)
	}
	if system := due.Messages[0].Content; !strings.Contains(system, "You act for nobody") || strings.Contains(system, "You act for the person") {
		t.Error("the prompt does not say for whom the turn acts")
	}
	if len(due.With("user", "(Reminder asked for by Alice ("+simulator.Alice+") on ")) != 1 {
		t.Errorf("the prompt does not say who asked for it: %s", due.Raw)
	}
	for _, call := range p.Slack.Calls("reactions.add") {
		if ts := call.Args["timestamp"]; len(ts) > 17 {
			t.Errorf("a receipt on %s, which is no message", ts)
		}
	}
}

// Two replicas, one of which is killed before it is due; then both, over the
// time at which something is due.
func TestRemindersComeOnceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first, second := p.Start(t), p.Start(t)
	together, _ := p.wants(simulator.General, "both are there", 2*time.Second, nil)
	p.Model.Then(scripted.Answer("tea one"))
	p.due(simulator.General, together, "tea one")

	second.Kill()
	// What Slack gives to a socket that it takes for alive comes again after seconds.
	p.Until(t, "the end of its sockets", func() bool { return p.Slack.Sockets() == 2 })
	root, at := p.wants(simulator.General, "nobody is there", 2*time.Second, nil)
	first.Kill()
	<-time.After(time.Until(at) + 200*time.Millisecond)
	p.Model.Then(scripted.Answer("tea two"))
	p.Start(t)
	p.Start(t)
	if post := p.due(simulator.General, root, "tea two"); strings.Contains(post, "late") {
		t.Errorf("posted %q", post)
	}
	p.Quiet(500 * time.Millisecond)
	for root, answer := range map[string]string{together: "tea one", root: "tea two"} {
		if n := len(p.texts(simulator.General, root, answer)); n != 1 || len(p.Posts(simulator.General, root)) != 2 {
			t.Errorf("%q stands there %d times: %q", answer, n, p.Texts(simulator.General, root))
		}
	}
}

// Who asked has left the channel; the channel is archived. Each is told to Alice.
func TestAReminderEndsWithItsPlace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Start(t)
	before := len(p.Model.Requests())
	left, _ := p.wants(simulator.General, "she left", 3*time.Second, map[string]any{"every": "15 minutes"})
	p.Slack.SetChannel(simulator.Channel{ID: simulator.General, Name: "general", TeamID: simulator.HomeTeam, Members: []string{simulator.Bob, p.Slack.Bot().UserID}})
	told := func(why string) {
		p.Until(t, "the notice that "+why, func() bool {
			n := 0
			for _, m := range p.Slack.Messages(simulator.AliceDM, "") {
				if strings.Contains(m.Text, why) && strings.Contains(m.Text, "she left") {
					n++
				}
			}
			return n == 1
		})
	}
	told("you are not in that channel any more")
	if got := p.Texts(simulator.General, left); len(got) != 1 || len(p.Model.Requests()) != before+2 {
		t.Errorf("in the channel stands %q", got)
	}
	p.Slack.OpenHome(simulator.Alice, "home")
	p.Until(t, "her home tab", func() bool { return len(p.Slack.Views(simulator.Alice)) > 0 })
	if views := p.Slack.Views(simulator.Alice); !strings.Contains(string(views[len(views)-1].View), "You have asked for none") {
		t.Errorf("she still has %s", views[len(views)-1].View)
	}
}

// In Alice's DM, with memory on: what is due is nothing that anybody has said.
func TestNothingIsRememberedOfADueTurn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "PLUGINS=clock,memory,schedule")
	p.Model.Form(func(scripted.Request) string { return `{"memories":[],"verdicts":[]}` })
	p.Start(t)
	root, _ := p.wants(simulator.AliceDM, "I prefer terse code reviews", 4*time.Second, nil)
	p.Until(t, "the extraction of her own turn", func() bool { return len(p.Model.Forms()) > 0 })
	p.Quiet(300 * time.Millisecond)
	forms := len(p.Model.Forms())
	p.Model.Then(scripted.Answer("I prefer terse code reviews, you said."))
	p.due(simulator.AliceDM, root, "you said.")
	p.Quiet(700 * time.Millisecond)
	for _, form := range p.Model.Forms()[forms:] {
		t.Errorf("a due turn was searched for memories: %s", form.Raw)
	}
}
