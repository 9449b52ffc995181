package tools

import (
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/slackapp/simulator"
)

// vault is a private channel of Bob, Carol and the bot.
const vault = "CVAULT"

// Alice asks in a public channel. Where she is no member she reads nothing,
// whatever the model calls; where she is, she does, and the result is for her
// turns alone: Bob's later turn in the same thread is not shown it, although he
// could read it himself.
func TestS5_AliceReadsWhereSheIsAMember(t *testing.T) {
	t.Parallel()
	world := simulator.DefaultWorld()
	world.AddChannel(simulator.Channel{ID: vault, Name: "vault", Kind: simulator.PrivateChannel, Members: []string{simulator.Bob, simulator.Carol, world.Bot.UserID}})
	p := newPlace(t, world)
	quiet := simulator.SayOptions{Quiet: true}
	hidden := p.Slack.Say(simulator.Bob, vault, "the code is tulip", quiet)
	plan := p.Slack.Say(simulator.Bob, simulator.Planning, "we launch in heather", quiet)
	r := p.Start(t)

	root := p.Slack.Say(simulator.Carol, simulator.General, "good morning", quiet)
	link := func(channel, ts string) string {
		return "https://home.slack.com/archives/" + channel + "/p" + strings.ReplaceAll(ts, ".", "")
	}
	refused := []struct {
		tool      string
		arguments map[string]string
	}{
		{"read_channel", map[string]string{"channel": vault}},
		{"read_channel", map[string]string{"channel": "#vault"}},
		{"read_message", map[string]string{"link": link(vault, hidden)}},
		{"read_thread", map[string]string{"link": link(vault, hidden)}},
		{"read_channel", map[string]string{"channel": simulator.BobDM}},
		{"read_channel", map[string]string{"channel": "CNOWHERE"}},
	}
	for _, try := range refused {
		got := p.asks(simulator.Alice, simulator.General, root, "<@UBOT> what is in the vault?", try.tool, try.arguments, "I may not read "+try.tool+try.arguments["channel"]+".")
		if !strings.Contains(got.Content, "there is none of that name or id in which both the person you act for and you are members") {
			t.Errorf("%s %v: %q", try.tool, try.arguments, got.Content)
		}
	}

	got := p.asks(simulator.Alice, simulator.General, root, "<@UBOT> and in planning?", "read_message", map[string]string{"link": link(simulator.Planning, plan)}, "There is a plan.")
	if !strings.Contains(got.Content, "we launch in heather") || !strings.Contains(got.Content, "UBOB") || !strings.Contains(got.Content, "Not everybody who reads your answer") {
		t.Errorf("%q", got.Content)
	}
	shown := func(who, text, answer string) scripted.Request {
		n := len(p.Model.Requests())
		p.Model.Then(scripted.Answer(answer))
		p.Slack.Say(who, simulator.General, text, simulator.SayOptions{Thread: root})
		return p.Asked(t, n+1)
	}
	if request := shown(simulator.Bob, "<@UBOT> what did she ask?", "For a plan."); request.Count("heather") > 0 || request.Count("There is a plan.") != 1 {
		t.Errorf("Bob's turn is shown %s", request.Raw)
	}
	if request := shown(simulator.Alice, "<@UBOT> what was it again?", "That."); request.Count("we launch in heather") != 1 {
		t.Errorf("Alice's turn is shown %s", request.Raw)
	}
	for _, request := range p.Model.Requests() {
		if request.Count("tulip") > 0 {
			t.Error("the model was shown what Alice cannot read")
		}
	}
	r.Term(t)
	if n := p.Journal.Holding("heather") + p.Journal.Holding("tulip"); n > 0 {
		t.Errorf("%d lines of the log tell what was read", n)
	}
}

// This thread further back, and a person: in a direct message.
func TestAThreadAndAPerson(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	root := p.Slack.Say(simulator.Bob, simulator.General, "the launch is on Monday", simulator.SayOptions{Quiet: true})
	r := p.Start(t)
	got := p.asks(simulator.Alice, simulator.General, root, "<@UBOT> when?", "read_thread", map[string]string{}, "On Monday.")
	if !strings.Contains(got.Content, "the launch is on Monday") {
		t.Errorf("%q", got.Content)
	}
	got = p.asks(simulator.Alice, simulator.AliceDM, "", "who is <@UBOB>?", "find_person", map[string]string{"person": "<@UBOB>"}, "Bob.")
	if !strings.Contains(got.Content, "Bob Brown") || !strings.Contains(got.Content, "America/New_York") {
		t.Errorf("%q", got.Content)
	}
	r.Term(t)
}
