package app

import (
	"context"
	"io"
	"log/slog"
	"net"
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
			log: slog.New(slog.NewTextHandler(logged, nil)), ready: newReadiness(),
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

// With require, a server that promises less is an error while the process runs,
// and the process is not ready until it promises enough again. It goes on.
func TestDurabilityThatIsRequiredIsPartOfReadiness(t *testing.T) {
	server := redistest.Start(t)
	ready, logged := newReadiness(), make(lines, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	a := assembly{
		settings: Settings{RedisURL: server.URL(), RedisDurability: "require"}, options: Options{DurabilityEvery: 20 * time.Millisecond},
		log: slog.New(slog.NewTextHandler(logged, nil)), ready: ready,
	}
	go func() { done <- a.watchDurability(ctx) }()
	is := func(want int) {
		t.Helper()
		for late := time.After(10 * time.Second); ; {
			if status, _ := get(t, ready.handler(), "/readyz"); status == want {
				return
			}
			select {
			case <-late:
				t.Fatalf("never %d", want)
			case err := <-done:
				t.Fatalf("it has ended: %v", err)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	is(200)
	server.ConfigSet("appendfsync", "everysec")
	is(503)
	if line := <-logged; !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "loses the last second") {
		t.Errorf("told %q", line)
	}
	server.ConfigSet("appendfsync", "always")
	is(200)
	cancel()
	<-done
}

// spoiled stands before a server, and spoils its connections one after another.
func spoiled(t *testing.T, server string, spoil func(nth int, sent string) bool) (url string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	serve := func(nth int, client net.Conn) {
		defer client.Close()
		upstream, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer upstream.Close()
		go func() { _, _ = io.Copy(client, upstream) }()
		for buffer := make([]byte, 64<<10); ; {
			n, err := client.Read(buffer)
			if err != nil || spoil(nth, string(buffer[:n])) {
				return
			}
			_, _ = upstream.Write(buffer[:n])
		}
	}
	go func() {
		for nth := 0; ; nth++ {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(nth, client)
		}
	}()
	return "redis://" + listener.Addr().String()
}

// A Redis that goes away between two questions of the start is waited for, and
// what it had no time to tell counts as nothing.
func TestTheStartWaitsForARedisThatGoesAwayMeanwhile(t *testing.T) {
	server := redistest.Start(t)
	url := spoiled(t, server.Addr(), func(nth int, sent string) bool {
		return nth == 1 || nth == 2 && strings.Contains(sent, "appendfsync")
	})
	logged := make(lines, 100)
	box, err := assembly{
		settings: Settings{RedisURL: url, RedisDurability: "require"}, options: Options{RetryEvery: time.Millisecond},
		log: slog.New(slog.NewTextHandler(logged, nil)), ready: newReadiness("redis"),
	}.openBox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer box.Shutdown()
	waited := 0
	for len(logged) > 0 {
		if strings.Contains(<-logged, "msg=waiting for=redis") {
			waited++
		}
	}
	if waited != 2 {
		t.Errorf("it waited %d times, want twice", waited)
	}
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
