package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"reeve/slackapp/simulator"
)

// An operator may end what still waits for something that is not there.
func TestWhoIsEndedWhileHeWaitsHasEndedWell(t *testing.T) {
	gone := simulator.ForTest(t, simulator.Options{})
	gone.Close()
	logged := make(lines, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- assembly{
			settings: Settings{SlackAPIURL: gone.APIURL(), SlackBotToken: NewSecret("xoxb-1")}, options: Options{}.withDefaults(),
			log: slog.New(slog.NewTextHandler(logged, nil)), ready: newReadiness("redis", "slack"),
		}.serve(ctx)
	}()
	select {
	case <-logged: // that it waits
	case err := <-ended:
		t.Fatalf("it does not wait: %v", err)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}
