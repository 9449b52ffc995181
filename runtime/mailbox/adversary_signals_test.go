package mailbox_test

import (
	"context"
	"testing"
	"time"

	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// What was published while nobody listened is lost: the listener learns from
// when on it hears, after each loss of its connection too.
func TestP8_ListenersLearnWhenTheyBeginToHear(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	box, err := mailbox.Open(mailbox.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Shutdown()
	ctx, cancel := context.WithCancel(t.Context())
	began, ended := make(chan struct{}, 64), make(chan error, 1)
	go func() {
		ended <- box.Signals(ctx, func(s mailbox.Signal) {
			if s.Began {
				began <- struct{}{}
			}
		})
	}()
	await := func() {
		t.Helper()
		for range 2 { // what is for this process, and what is for any
			select {
			case <-began:
			case <-time.After(20 * time.Second):
				t.Fatal("it never began to hear")
			}
		}
	}
	await()
	server.Kill()
	server.Restart()
	await()
	cancel()
	<-ended
}
