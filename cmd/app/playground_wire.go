package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"reeve/agent/scripted"
	"reeve/runtime"
	"reeve/slackapp/simulator"
	"reeve/slackapp/simulator/page"
)

// demoPace is how long each of the demo model's steps takes at first: long
// enough to interrupt it.
const demoPace = 1500 * time.Millisecond

// play serves the playground at addr until ctx ends, and prints to out what is
// on, and its URL:
// the same bot over the same wire, with a simulator in Slack's place, the
// embedded store, and, unless a model is configured, a scripted one.
func (a assembly) play(ctx context.Context, addr string, out io.Writer) error {
	var demo *scripted.Demo
	if !a.settings.UsesModel() {
		demo = scripted.NewDemo(demoPace)
		a.model = demo
	}
	a.settings.SlackBotToken = NewSecret("xoxb-" + rand.Text())
	a.settings.SlackAppToken = NewSecret("xapp-" + rand.Text())
	slack := simulator.New(simulator.Options{
		Addr: addr, BotToken: a.settings.SlackBotToken.Reveal(), AppToken: a.settings.SlackAppToken.Reveal(),
		Page: page.Handler(), Play: paceHandler(demo, a.settings.OpenAIModel), Log: a.log,
	})
	if err := slack.Start(ctx); err != nil {
		return fmt.Errorf("start the playground: %w", err)
	}
	defer slack.Close()
	a.settings.SlackAPIURL = slack.APIURL()
	a.settings.RedisURL = ""
	a.settings.AllowedUsers, a.settings.AllowedChannels = nil, nil // its people and channels have ids of their own
	a.log = slog.New(teeHandler(a.log.Handler(), func(kind string, data any) { _ = slack.Publish(kind, data) }))
	// Whoever has a wrong setting reads that alone.
	a.opened = func(plugins, tools []string) {
		fmt.Fprintf(out, "plugins: %s; tools: %s\n", strings.Join(plugins, ", "), strings.Join(tools, ", "))
		if demo != nil && runtime.MidRunMode(a.settings.CrossActorMidRunMode) == runtime.ModeRouter {
			fmt.Fprintln(out, "The demo model routes nothing: in the mode router, what others write waits for a turn of its own.")
		}
		fmt.Fprintf(out, "Open %s\nIt works in memory, and forgets everything when it ends (Ctrl-C).\n", slack.PageURL())
	}
	return a.serve(ctx)
}

// paceHandler shows the page the demo model's pace, and lets it be set; of
// another model it shows the name.
func paceHandler(demo *scripted.Demo, model string) http.Handler {
	mux := http.NewServeMux()
	type pace struct {
		Ms    int64  `json:"ms"`
		Model string `json:"model"`
	}
	mux.HandleFunc("GET /play/pace", func(w http.ResponseWriter, _ *http.Request) {
		if demo == nil {
			answer(w, http.StatusOK, pace{Model: model})
			return
		}
		answer(w, http.StatusOK, pace{demo.Pace().Milliseconds(), "demo"})
	})
	mux.HandleFunc("POST /play/pace", func(w http.ResponseWriter, r *http.Request) {
		var wanted pace
		const most = 10_000 // ms
		if json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&wanted) != nil || wanted.Ms < 0 || wanted.Ms > most {
			http.Error(w, fmt.Sprintf("ms is between 0 and %d", most), http.StatusBadRequest)
			return
		}
		if demo == nil {
			http.Error(w, "a real model has its own pace", http.StatusConflict)
			return
		}
		demo.SetPace(time.Duration(wanted.Ms) * time.Millisecond)
		answer(w, http.StatusOK, pace{wanted.Ms, "demo"})
	})
	return mux
}
