// Package tasks shows with real processes, a real redis-server and a simulated
// Slack what follows a turn: tasks of plugins, and messages that were handed back
// to their authors.
package tasks

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app"
	"reeve/cmd/app/apptest"
	"reeve/plugins"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

func TestMain(m *testing.M) {
	apptest.Main(m, []plugins.Plugin{witness{}}, func(o *app.Options) {
		o.TaskPause = 10 * time.Millisecond
		o.At = dieAt(os.Getenv("DIE_AT"))
	})
}

// dieAt kills the process where it comes to a point for the nth time: "posted",
// or "boundary boundary" for the second.
func dieAt(point string) func(string) {
	if point == "" {
		return nil
	}
	left := make(chan struct{}, len(strings.Fields(point)))
	for range cap(left) - 1 {
		left <- struct{}{}
	}
	return func(at string) {
		if at != strings.Fields(point)[0] {
			return
		}
		select {
		case <-left:
		default:
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
	}
}

// witness is a plugin with a task that says what it was given.
type witness struct{}

func (witness) Name() string { return "witness" }

// settings are the plugin's own: what its task does. "hold" waits to be cut, and
// "fail" fails.
type settings struct {
	Does string `env:"DOES"`
}

func (witness) Open(_ context.Context, s plugins.Services) (plugins.Extension, error) {
	var set settings
	if err := s.Settings(&set); err != nil {
		return plugins.Extension{}, err
	}
	return plugins.Extension{Tasks: []plugins.Task{{Name: "sees", Run: func(ctx context.Context, e plugins.Ended) error {
		return set.run(ctx, s.Log, e)
	}}}}, nil
}

func (s settings) run(ctx context.Context, log *slog.Logger, e plugins.Ended) error {
	var asked []string
	for _, entry := range e.Transcript {
		if e.Instruction(entry) {
			asked = append(asked, entry.Text)
		}
	}
	first, err := e.Store.Add(ctx, e.Key, []byte("seen"))
	if err != nil {
		return err
	}
	log.Info("seen", "turn", e.Turn, "actor", e.Actor.Key(), "try", e.Try, "first", first, "outcome", e.Outcome,
		"asked", strings.Join(asked, " | "), "others", len(e.Contributors))
	switch s.Does {
	case "hold":
		<-ctx.Done()
		return ctx.Err()
	case "fail":
		return context.DeadlineExceeded
	}
	log.Info("witnessed", "turn", e.Turn, "try", e.Try)
	return nil
}

// place is a workspace and its store.
type place struct {
	*apptest.Place
	t *testing.T
}

func newPlace(t *testing.T, settings ...string) *place {
	t.Helper()
	t.Parallel()
	p := &place{apptest.NewPlace(t, simulator.Options{}, redistest.Shared(t), settings...), t}
	return p
}

// seen waits for the nth line with a message.
func (p *place) seen(msg string, n int) apptest.Line {
	p.t.Helper()
	p.Until(p.t, msg, func() bool { return len(p.Journal.With(msg)) >= n })
	return p.Journal.With(msg)[n-1]
}

// answers lets the model answer from what it is asked.
func (p *place) answers(f func(scripted.Request) scripted.Step) { p.Model.Otherwise(f) }
