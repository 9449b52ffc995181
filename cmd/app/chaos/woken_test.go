package chaos

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// A worker freezes just before it writes, and is woken while its successor
// works on the turn. Its write is refused: what it asked for is not done again,
// and what is posted is the successor's.
func TestP5_WokenBesideItsSuccessor(t *testing.T) {
	t.Parallel()
	var refused atomic.Int64
	t.Run("points", func(t *testing.T) {
		for _, point := range []string{"committing", "boundary", "closing"} {
			for n := range 2 {
				t.Run(fmt.Sprintf("%s %d", point, n+1), func(t *testing.T) {
					t.Parallel()
					refused.Add(int64(wokenAt(t, point)))
				})
			}
		}
	})
	if refused.Load() == 0 {
		t.Error("none of them has tried to write: nothing was seen")
	}
}

// wokenAt answers how many writes of the woken worker were refused.
func wokenAt(t *testing.T, point string) int {
	p := newPlace(t, nil)
	// Until the worker freezes the model answers at once. After that it first
	// asks for the call again, where that was not written, and then holds back.
	frozen := false
	var release func()
	asked := make(chan struct{}, 100)
	p.Model.Otherwise(func(r scripted.Request) scripted.Step {
		p.mu.Lock()
		defer p.mu.Unlock()
		h := listen(r)
		p.heard = append(p.heard, h)
		switch {
		case len(h.asked) > 0 && !h.called[h.asked[0]]:
			return scripted.Call("", onceTool, effectIn{h.asked[0]})
		case !frozen:
			return scripted.Answer("of the first")
		}
		step, open := scripted.Answer("of the second").Held()
		release = open
		asked <- struct{}{}
		return step
	})
	// With one processor the worker goes on where it stood, and only then do its
	// timers tell it that its lease is over.
	first := p.start(breakAt(point, 1, "stop"), "GOMAXPROCS=1")
	p.ready(first)
	s := p.say(&talk{channel: simulator.General}, simulator.Alice, "o", mention)
	p.await("it freezes", first.Frozen)
	p.mu.Lock()
	frozen = true
	p.mu.Unlock()
	second := p.start()
	p.ready(second)
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatalf("the successor does not ask the model\n%s", p.tail())
	}
	p.wake(first)
	p.await("the first knows", func() bool { return len(first.Journal.With("turn lost")) > 0 })
	release()
	p.Posted(t, simulator.General, s.ts, 1)
	p.calm(300 * time.Millisecond)
	for _, m := range p.Posts(simulator.General, s.ts) {
		if text := apptest.ShownText(m); text != "of the second" {
			t.Errorf("the thread says %q", text)
		}
	}
	if n := len(p.outside.of(s.word)); n > 1 {
		t.Errorf("the call took effect %d times", n)
	}
	p.checkPosts(t)
	return counted(first, staleWrites+`{write="commit"}`) + counted(first, staleWrites+`{write="close"}`)
}
