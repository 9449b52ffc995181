// Package consenting plays what is asked of people, and what they are not asked,
// through the whole of Reeve: people in a simulated Slack with its cards and
// buttons, a scripted model that asks for what it likes, the binary between
// them, and a real Redis.
package consenting

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/cmd/app/apptest/shipped"
	"reeve/plugins"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// ledgerFile names the file in which the hub's calls are written down.
const ledgerFile = "CONSENTING_LEDGER"

func TestMain(m *testing.M) { apptest.Main(m, []plugins.Plugin{hub{}}) }

// fast are a tenth of the shipped intervals, and posts without a pause.
var fast = func() apptest.Intervals {
	i := apptest.Tenth
	i.PostRate, i.ReadRate = 1000, 1000
	return i
}()

// hub is a plugin whose tools spend the actor's rights and write down for whom.
type hub struct{}

func (hub) Name() string { return "hub" }

type hubArguments struct {
	Text string `json:"text"`
}

func (hub) Open(context.Context, plugins.Services) (plugins.Extension, error) {
	tool := func(name string, access plugins.Access) plugins.Tool {
		return plugins.MustTool(plugins.Tool{Name: name, Description: "Does it.", Effect: plugins.Once, Access: access, Provider: "hub"},
			func(_ context.Context, call plugins.Call, in hubArguments) (plugins.Result, error) {
				file, err := os.OpenFile(os.Getenv(ledgerFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				if err != nil {
					return plugins.Result{}, err
				}
				defer file.Close()
				_, err = fmt.Fprintf(file, "%s %s %s\n", call.Actor.User, name, in.Text)
				return plugins.Result{Text: name + " did " + in.Text}, err
			})
	}
	return plugins.Extension{Tools: []plugins.Tool{tool("hub_read", plugins.Read), tool("hub_write", plugins.Write)}}, nil
}

// place is a workspace with one bot in it.
type place struct {
	*testing.T
	*apptest.Place
	ledger string
}

func newPlace(t *testing.T, settings ...string) place {
	t.Helper()
	ledger := t.TempDir() + "/ledger"
	p := place{t, apptest.NewPlace(t, simulator.Options{RetryScale: 0.01}, redistest.Shared(t), append(settings, ledgerFile+"="+ledger)...), ledger}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(strings.Join(p.Journal.Texts(), "\n"))
		}
	})
	return p
}

// spent is what was done with whose rights, in order.
func (p place) spent() []string {
	p.Helper()
	raw, err := os.ReadFile(p.ledger)
	if err != nil && !os.IsNotExist(err) {
		p.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(raw)), " ", "/"))
}

// card waits for the newest post in a channel whose blocks hold text.
func (p place) card(channel, text string) (found simulator.Message) {
	p.Helper()
	p.Until(p.T, "a card in "+channel+" that says "+text, func() bool {
		for _, m := range p.Slack.Messages(channel, "") {
			if strings.Contains(string(m.Blocks), text) {
				found = m
			}
		}
		return found.TS != ""
	})
	return found
}

// reeve is what the shipped binary answers an operator.
func (p place) reeve(arguments ...string) string {
	p.Helper()
	c := exec.CommandContext(p.Context(), shipped.Binary(p.T), arguments...)
	c.Dir, c.Env = p.TempDir(), p.Env
	out, err := c.CombinedOutput()
	if err != nil {
		p.Fatalf("reeve %v: %v\n%s", arguments, err, out)
	}
	return string(out)
}

// becomes waits until a post says something.
func (p place) becomes(channel, ts, text string) {
	p.Helper()
	p.Until(p.T, "the card becomes "+text, func() bool {
		for _, m := range p.Slack.Messages(channel, "") {
			if m.TS == ts && strings.Contains(string(m.Blocks), text) {
				return true
			}
		}
		return false
	})
}

func (p place) clicks(who, channel, ts, action string, ticked ...string) {
	p.Helper()
	if _, err := p.Slack.Click(who, channel, ts, action, ticked...); err != nil {
		p.Fatal(err)
	}
}

// conflict lets Alice ask, Bob force a steer into her turn, and the model then
// ask for calls. It answers the thread.
func (p place) conflict(asks scripted.Step, after ...scripted.Step) (root string) {
	p.Helper()
	seen := len(p.Model.Requests())
	first, release := scripted.Answer("nothing yet").Held()
	p.Model.Then(append([]scripted.Step{first, asks}, after...)...)
	root = p.Slack.Say(simulator.Alice, simulator.General, "<@"+p.Slack.Bot().UserID+"> file it", simulator.SayOptions{})
	p.Asked(p.T, seen+1)
	p.Slack.Say(simulator.Bob, simulator.General, "<@"+p.Slack.Bot().UserID+"> !! file mine too", simulator.SayOptions{Thread: root})
	p.Until(p.T, "Bob's steer is taken", func() bool { return len(p.Journal.With("message", "disposition", "steer_context")) == 1 })
	release()
	return root
}

// clickOfAnother is a press of "Refuse all" by somebody who cannot see the card,
// such as one to whom it was made to look like his.
func (p place) clickOfAnother(who, channel string, card simulator.Message) {
	p.Helper()
	var blocks []struct {
		Elements []struct {
			ID    string `json:"action_id"`
			Value string `json:"value"`
		} `json:"elements"`
	}
	if err := json.Unmarshal(card.Blocks, &blocks); err != nil {
		p.Fatal(err)
	}
	for _, b := range blocks {
		for _, e := range b.Elements {
			if e.ID != "card:consent:refuse" {
				continue
			}
			payload := map[string]any{
				"type": "block_actions", "api_app_id": p.Slack.Bot().AppID, "user": map[string]any{"id": who, "team_id": simulator.HomeTeam},
				"team": map[string]any{"id": simulator.HomeTeam}, "channel": map[string]any{"id": channel},
				"container": map[string]any{"type": "message", "channel_id": channel, "message_ts": card.TS},
				"actions":   []any{map[string]any{"type": "button", "action_id": e.ID, "value": e.Value}},
			}
			if _, err := p.Slack.DeliverPayload(p.Context(), "interactive", payload); err != nil {
				p.Fatal(err)
			}
			return
		}
	}
	p.Fatalf("the card has no such button: %s", card.Blocks)
}
