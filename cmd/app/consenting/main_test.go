// Package consenting plays what is asked of people, and what they are not asked,
// through the whole of Reeve: people in a simulated Slack with its cards and
// buttons, a scripted model that asks for what it likes, the binary between
// them, and a real Redis.
package consenting

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/plugins"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// ledgerFile names the file in which the hub's calls are written down.
const ledgerFile = "CONSENTING_LEDGER"

func TestMain(m *testing.M) { apptest.Main(m, []plugins.Plugin{hub{}}) }

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
