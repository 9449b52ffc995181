package connecting

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// slack is all that Slack was sent and shows.
func (p place) slack() string {
	text, err := json.Marshal([]any{p.Slack.State(), p.Slack.Calls(""), p.Slack.Envelopes(), p.Slack.Events(0), p.Slack.Views(simulator.Alice), p.Slack.Views(simulator.Bob)})
	if err != nil {
		p.Fatal(err)
	}

	return string(text)
}

// look gathers all that people, operators and the model's provider can see while
// the process runs.
func (p place) look(hay map[string]string, process *apptest.Process, pages string) {
	p.Helper()
	hay["the pages"], hay["Slack"] = pages, p.slack()
	for _, request := range append(p.Model.Requests(), p.Model.Forms()...) {
		hay["the model's requests"] += string(request.Raw)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		response, err := client.Get("http://" + process.HTTPAddr() + path)
		if err != nil {
			p.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			p.Fatal(err)
		}
		hay[path] = string(text)
	}
	commands := []string{"audit --json", "audit", "person T1:" + simulator.Alice + " export", "person T1:" + simulator.Alice + " accounts", "turns", "outbox", "dead", "keys"}
	known := map[string]bool{}
	for _, m := range append(p.Posts(simulator.General, ""), p.all()...) {
		if turn := apptest.TurnOf(m); strings.HasPrefix(turn, "t_") && !known[turn] {
			known[turn] = true
			commands = append(commands, "turn "+turn, "turn "+turn+" --json")
		}
	}
	if len(known) < 6 {
		p.Errorf("%d turns are known", len(known))
	}
	for _, command := range commands {
		hay["reeve "+command] = p.Reeve(p.T, strings.Fields(command)...)
	}
}

// all are the messages of all places, replies among them.
func (p place) all() (all []simulator.Message) {
	for _, channel := range p.Slack.State().Channels {
		for _, m := range channel.Messages {
			all = append(all, *m)
		}
	}
	return all
}

// nowhere fails for each canary that stands where it must not. What looks for them
// has to find each at the provider, and each place has to hold what it should.
func (p place) nowhere(g *gossip, key []byte, hay map[string]string) {
	p.Helper()
	for _, control := range []struct{ place, holds string }{
		{"the pages", "did not answer as it should"}, {"Slack", "alice of Acme"}, {"Slack", "****"}, {"the model's requests", "alice of Acme"}, {"the model's requests", "****"},
		{"/metrics", "reeve_"}, {"the log", "nosy logs"}, {"the log", "tool panicked"}, {"the log", "SIGQUIT: quit"}, {"the log", "a connection was not made"},
		{"reeve audit --json", "nosy_tell"}, {"reeve person T1:" + simulator.Alice + " export", "alice of Acme"}, {"Redis's snapshot with the account", "account:T1:UALICE"},
		{"Redis's file dump.rdb", "nosy_tell"}, {"Redis's file appendonly.aof.1.incr.aof", "alice of Acme"},
	} {
		if !strings.Contains(hay[control.place], control.holds) {
			p.Errorf("%q is not to be found in %s, which is not what it should be", control.holds, control.place)
		}
	}
	kinds := map[string]int{}
	for _, c := range g.canaries {
		if kinds[c.name]++; c.in(g.heard.String()) == "" {
			p.Errorf("%s is not found at the provider", c.name)
		}
	}
	if kinds["client secret"] != 1 || kinds["access token"] < 4 || kinds["refresh token"] < 4 || kinds["verifier"] < 4 || kinds["state"] < 4 || kinds["code"] < 4 {
		p.Errorf("looked for %v", kinds)
	}
	for place, text := range hay {
		for _, c := range append(g.canaries, canary{"key", string(key)}) {
			if found := c.in(text); found != "" {
				p.Errorf("%s: %s stands in it: %s", place, c.name, found)
			}
		}
	}
}
