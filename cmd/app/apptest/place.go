package apptest

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest/shipped"
	"reeve/slackapp/simulator"
)

// Patience bounds every wait. A loaded machine is no failure.
const Patience = 30 * time.Second

// Store is where a place keeps what must last: a server or a part of one.
type Store interface{ URL() string }

// Place is a workspace with a model provider and a store, in which processes of
// Reeve work.
type Place struct {
	Slack *simulator.Server
	Model *scripted.Server
	// Journal is what all processes have logged.
	Journal *Journal
	// Env are the settings of every process, as NAME=VALUE.
	Env []string
}

// shownLines is how much of the log stands in the report of a test that fails.
const shownLines = 200

// NewPlace makes a place without a process. settings are NAME=VALUE. The end of
// its log is shown when the test fails.
func NewPlace(t testing.TB, slack simulator.Options, store Store, settings ...string) *Place {
	t.Helper()
	model, err := scripted.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	p := &Place{Model: model, Slack: simulator.ForTest(t, slack)}
	p.Journal = &Journal{written: p.Wake}
	t.Cleanup(func() {
		if lines := p.Journal.Texts(); t.Failed() {
			t.Log(strings.Join(lines[max(0, len(lines)-shownLines):], "\n"))
		}
	})
	p.Env = append([]string{
		"SLACK_API_URL=" + p.Slack.APIURL(), "SLACK_BOT_TOKEN=" + p.Slack.BotToken(), "SLACK_APP_TOKEN=" + p.Slack.AppToken(),
		"OPENAI_BASE_URL=" + model.URL(), "OPENAI_MODEL=scripted",
		"REDIS_URL=" + store.URL(), "LOG_FORMAT=json",
	}, settings...)
	if part, ok := store.(interface{ Prefix() string }); ok {
		p.Env = append(p.Env, "REDIS_PREFIX="+part.Prefix())
	}
	return p
}

// Wake lets whoever waits look again: the simulator's log is the one place at
// which everything is waited for.
func (p *Place) Wake() { _ = p.Slack.Publish("look", nil) }

// FreeAddress is a loopback address at which nobody listens yet.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// Start starts the shipped binary and waits until it is connected.
func (p *Place) Start(t testing.TB, settings ...string) *Process {
	t.Helper()
	return p.connected(t, p.launch(t, settings, shipped.Binary(t), "run"))
}

// StartOther starts this test binary as another main, with intervals of its
// own, and waits until it is connected.
func (p *Place) StartOther(t testing.TB, set Intervals, settings ...string) *Process {
	t.Helper()
	return p.connected(t, p.LaunchOther(t, set, settings...))
}

// LaunchOther is StartOther without the wait.
func (p *Place) LaunchOther(t testing.TB, set Intervals, settings ...string) *Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return p.launch(t, append(settings[:len(settings):len(settings)], intervalsVariable+"="+string(text)), self, "run")
}

func (p *Place) launch(t testing.TB, settings []string, command ...string) *Process {
	t.Helper()
	return launch(t, append(p.Env[:len(p.Env):len(p.Env)], settings...), command, p.Journal)
}

// Reeve runs a command of an operator's, as he would beside the deployment, and
// answers what it says.
func (p *Place) Reeve(t testing.TB, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), shipped.Binary(t), arguments...)
	command.Dir, command.Env = t.TempDir(), p.Env
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("reeve %v: %v\n%s", arguments, err, out)
	}
	return string(out)
}

// connected waits until a new process has all of its sockets.
func (p *Place) connected(t testing.TB, r *Process) *Process {
	t.Helper()
	p.Until(t, "the process is connected", func() bool {
		if r.Ended() {
			t.Fatalf("the process ended with exit code %d: %q", r.code, r.Journal.Texts())
		}
		return len(r.Journal.With("socket ready")) >= 2
	})
	return r
}

// Until waits for something that changes with the simulator, the log or the
// provider.
func (p *Place) Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	if err := p.Wait(Patience, done); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Wait is Until with an error.
func (p *Place) Wait(limit time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return p.Slack.WaitUntil(ctx, done)
}

// Quiet returns once nothing has happened for a while. It is for what must not
// happen, behind waits for all that must.
func (p *Place) Quiet(span time.Duration) {
	for {
		mark := p.Slack.Mark()
		if p.Wait(span, func() bool { return p.Slack.Mark() != mark }) != nil {
			return
		}
	}
}

// LastAsked is the newest of Model.Requests, of which there must be one.
func (p *Place) LastAsked() scripted.Request {
	requests := p.Model.Requests()
	return requests[len(requests)-1]
}

// Asked waits for the n-th model request, counted from 1.
func (p *Place) Asked(t testing.TB, n int) scripted.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	request, err := p.Model.WaitRequest(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	return request
}
