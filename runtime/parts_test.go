package runtime_test

import (
	"slices"
	"testing"
	"time"

	"reeve/runtime/chat"
)

// A part says who could read the conversation when its turn's message came, and
// whether that was in one go: a turn that was elsewhere may have been parked.
func TestPartsSayWhoCouldRead(t *testing.T) {
	p := newPlay(t)
	one := p.replica(nil)
	m := p.says(alice, "here?")
	m.Visibility = chat.Private
	p.deliver(one, m)
	p.run().answers(t, "here")
	p.slack.posted(t, "here")
	later := p.says(bob, "and there?")
	later.Visibility = chat.Private
	p.deliver(one, later)
	run := p.run()
	run.do(t, func(r *fakeRun) (bool, error) {
		return false, r.log.Commit(r.ctx, chat.Entry{Role: chat.AssistantRole, Origin: chat.CallOrigin, Text: "looking"})
	})
	p.replica(nil)
	one.end()
	p.run().answers(t, "there")
	p.slack.posted(t, "there")
	p.slack.mu.Lock()
	defer p.slack.mu.Unlock()
	first, second := p.slack.posts[0], p.slack.posts[len(p.slack.posts)-1]
	if first.Visibility != chat.Private || first.Seen != m.ID.TS {
		t.Errorf("the first part says %q, seen with %q", first.Visibility, first.Seen)
	}
	if second.Visibility != chat.Private || second.Seen != "" {
		t.Errorf("the part of a turn that went on elsewhere says %q, seen with %q", second.Visibility, second.Seen)
	}
	if age := time.Since(first.Written.Time()); age < 0 || age > time.Minute {
		t.Errorf("the part says that it was written %v ago", age)
	}
}

// An answer mentions those who have written in the thread, and nobody whose
// words one of them has forwarded.
func TestWhoWasForwardedIsNotMentioned(t *testing.T) {
	p := newPlay(t)
	carol := chat.Person("T1", "UCAROL")
	m := p.says(alice, "")
	m.Attached = []chat.Attached{{Origin: chat.Quoted, Author: &carol, Text: "lunch?"}}
	p.deliver(p.replica(nil), m)
	p.run().answers(t, "from Carol")
	p.slack.posted(t, "from Carol")
	p.slack.mu.Lock()
	defer p.slack.mu.Unlock()
	if got := p.slack.posts[0].Mentions; !slices.Equal(got, []chat.UserID{alice.User}) {
		t.Errorf("it may mention %v", got)
	}
}

// What a call tells the turn's actor alone goes to him by direct message, in the
// step that writes its result, and once.
func TestWhatACallTellsItsActorGoesByDM(t *testing.T) {
	p := newPlay(t)
	p.deliver(p.replica(nil), p.says(alice, "what do you know about me?"))
	run := p.run()
	result := chat.Entry{Role: chat.ToolRole, Origin: chat.Result, CallID: "a", Text: "sent", DM: "a list"}
	run.do(t, func(r *fakeRun) (bool, error) {
		_, err := r.log.Boundary(r.ctx, result)
		return false, err
	})
	p.slack.posted(t, "a list")
	run.answers(t, "done")
	p.slack.posted(t, "done")
	p.slack.mu.Lock()
	defer p.slack.mu.Unlock()
	// What was not reported as sent is given to the sender again.
	to := map[string]chat.Destination{}
	for _, part := range p.slack.posts {
		if part.Markdown == "a list" {
			to[part.ID] = part.To
		}
	}
	for _, d := range to {
		if len(to) != 1 || d != (chat.Destination{DM: alice.User}) {
			t.Errorf("it went to %+v", to)
		}
	}
}
