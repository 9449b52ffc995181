package runtime_test

import (
	"context"
	"testing"
	"time"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// The end of a process waits for what a call under way still claims, and hands
// it over.
func TestEndingAProcessHandsOverWhatItClaimsMeanwhile(t *testing.T) {
	p, server := ownServer(t, time.Minute)
	p.opts.CallTimeout = bound
	one := p.replica(func(o *runtime.Options) { o.ShutdownGrace = time.Minute })
	p.deliver(one, p.says(carol, "the server learns the scripts"))
	p.run().answers(t, "done")
	p.slack.posted(t, "done")

	server.Pause()
	sent := one.box.Trips()
	told := make(chan runtime.Outcome, 1)
	m := p.says(alice, "one")
	go func() { told <- one.Deliver(context.Background(), []chat.Message{m})[0] }()
	for one.box.Trips() == sent { // until it is on its way
		<-time.After(time.Millisecond)
	}
	one.stop()
	select {
	case <-one.done:
		t.Error("the process ended while a message of its was on its way")
		one.done <- nil
	case <-time.After(50 * time.Millisecond):
	}
	server.Resume()
	if o := <-told; o.Err != nil || o.Disposition != chat.Start {
		t.Fatalf("delivered: %+v", o)
	}
	one.end()
	p.replica(nil)
	run := p.run()
	if run.turn.Actor != alice {
		t.Errorf("%s's turn runs", run.turn.Actor.Key())
	}
	run.answers(t, "done too")
}

// What waits for Slack does not hold the end of a process up: there is nothing
// in flight to wait for.
func TestEndingAProcessDoesNotWaitForSlack(t *testing.T) {
	p := newPlay(t)
	p.slack.down[alice] = true
	one := p.replica(func(o *runtime.Options) { o.ShutdownGrace = time.Hour })
	m := p.says(alice, "one")
	m.Standing = chat.Unchecked
	p.wants(p.deliver(one, m), chat.Start)
	p.slack.until(t, "the turn being begun", func() bool { return len(p.slack.shown) > 0 })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		one.end()
	}()
	select {
	case <-ended:
	case <-time.After(bound):
		t.Fatal("the process does not end")
	}
	p.slack.mu.Lock()
	p.slack.down[alice] = false
	p.slack.mu.Unlock()
	p.replica(nil)
	p.run().answers(t, "done")
}

// A guest who is first in an older thread leaves its reading to whoever may
// instruct.
func TestAGuestsMentionDoesNotUseUpTheThreadsReading(t *testing.T) {
	p := newPlay(t)
	r := p.replica(nil)
	guest := chat.Person("T1", "UGUEST")
	p.slack.facts[guest] = runtime.Facts{Standing: chat.ContextOnly, Why: "a guest account"}
	root := p.says(carol, "the printer is broken")
	root.Standing = chat.ContextOnly
	p.slack.thread = []chat.Message{root}
	m := p.says(guest, "do something")
	m.Standing = chat.Unchecked
	p.wants(p.deliver(r, m), chat.Start)
	p.slack.until(t, "the guest being told", func() bool {
		return len(p.slack.shown) > 0 && p.slack.shown[len(p.slack.shown)-1].State == runtime.ShownNotAllowed
	})
	p.deliver(r, p.says(alice, "can you help?"))
	run := p.run()
	seen := map[string]bool{}
	for _, text := range texts(run.turn.Before) {
		seen[text] = true
	}
	if !seen["context:the printer is broken"] || !seen["context:do something"] {
		t.Errorf("the turn is shown %v", texts(run.turn.Before))
	}
	run.answers(t, "try again")
}
