// Package tools plays the built-in plugins through the whole of Reeve: people in
// a simulated Slack, a scripted model that calls the tools, and the binary
// between them.
package tools

import (
	"context"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/plugins"
	"reeve/plugins/outbound"
	"reeve/plugins/web"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// sitePort names the port of a test's web server to the process that reads it.
const sitePort = "TOOLS_SITE_PORT"

// TestMain: the other main's web is one server on loopback, whatever the name.
func TestMain(m *testing.M) {
	port, _ := strconv.ParseUint(os.Getenv(sitePort), 10, 16)
	apptest.Main(m, []plugins.Plugin{web.With(web.Options{Outbound: outbound.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Ports: []uint16{uint16(port)}, Resolver: everywhere{},
	}})})
}

type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// place is a workspace whose model does what the next step says.
type place struct {
	*testing.T
	*apptest.Place
}

func newPlace(t *testing.T, world *simulator.World, settings ...string) place {
	t.Helper()
	return place{t, apptest.NewPlace(t, simulator.Options{World: world, RetryScale: 0.01}, redistest.Shared(t), settings...)}
}

// asks lets somebody ask for something, and the model call one tool for it and
// answer. It is what the model was given back by the tool.
func (p place) asks(who, channel, thread, text, tool string, arguments any, answer string) scripted.Message {
	p.Helper()
	before, call := len(p.Model.Requests()), "call_"+strconv.FormatInt(time.Now().UnixNano(), 36)
	p.Model.Then(scripted.Call(call, tool, arguments), scripted.Answer(answer))
	root := p.Slack.Say(who, channel, text, simulator.SayOptions{Thread: thread})
	if thread != "" {
		root = thread
	}
	p.Until(p.T, "the answer "+answer, func() bool {
		for _, text := range p.Texts(channel, root) {
			if text == answer {
				return true
			}
		}
		return false
	})
	for _, m := range p.Asked(p.T, before+2).Messages {
		if m.Role == "tool" && m.ToolCallID == call {
			return m
		}
	}
	p.Fatalf("the call of %s was given no result", tool)
	return scripted.Message{}
}
