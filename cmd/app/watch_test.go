package app

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// lines is a writer that hands on what is logged.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

// A server that promises less than at the start is told of while it runs.
func TestDurabilityIsLookedAtAgain(t *testing.T) {
	server := redistest.Start(t)
	logged := make(lines, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = assembly{
			settings: Settings{RedisURL: server.URL(), RedisDurability: "warn"}, options: Options{DurabilityEvery: 20 * time.Millisecond},
			log: slog.New(slog.NewTextHandler(logged, nil)),
		}.watchDurability(ctx)
	}()
	server.ConfigSet("appendfsync", "everysec")
	select {
	case line := <-logged:
		if !strings.Contains(line, "appendfsync") || !strings.Contains(line, "loses the last second") {
			t.Errorf("told %q", line)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing was told")
	}
	cancel()
	<-done
}

func TestTokensOfADayAreAPersonsAlone(t *testing.T) {
	box, err := mailbox.Open(mailbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Shutdown()
	alice, bob := chat.Person("T1", "UALICE"), chat.Person("T1", "UBOB")
	for range 2 {
		if err := (meter{box}).Add(t.Context(), alice, 21); err != nil {
			t.Fatal(err)
		}
	}
	for who, want := range map[chat.Actor]int{alice: 42, bob: 0} {
		if n, err := (meter{box}).Spent(t.Context(), who); err != nil || n != want {
			t.Errorf("%s has spent %d (%v), want %d", who.Key(), n, err, want)
		}
	}
	if n, err := box.Tokens(t.Context(), alice, "2001-01-01"); err != nil || n != 0 {
		t.Errorf("another day: %d %v", n, err)
	}
}
