package chaos

import (
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/slackapp/simulator"
)

// shared is three replicas of the shipped binary, each with sockets of its own,
// that share a conversation: Slack gives an event to any of them.
type shared struct {
	*place
	bots []*apptest.Process
	talk *talk
	held map[string]<-chan struct{} // whose model calls wait, by word
}

// Whichever replica a message reaches, the turn that runs elsewhere gets it: a
// steer and a stop come through others than the one that runs the turn, whose
// kill lets another one go on. Nothing is lost, nothing said twice, and the
// conversation goes on.
func TestThreeReplicasShareAConversation(t *testing.T) {
	t.Parallel()
	s := &shared{place: newPlace(t, nil), talk: &talk{channel: simulator.General}, held: map[string]<-chan struct{}{}}
	s.talk.people = []string{simulator.Alice, simulator.Bob, simulator.Carol}
	s.Model.Otherwise(s.model)
	for range 3 {
		s.bots = append(s.bots, s.Start(t))
	}

	_, runs, release := s.begins()
	s.elsewhere("a steer", runs, "steer", func() *saying { return s.say(s.talk, simulator.Alice, "p", mention) })
	s.elsewhere("a forced steer", runs, "steer_context", func() *saying { return s.say(s.talk, simulator.Bob, "p", forced) })
	s.elsewhere("a message that waits", runs, "wait", func() *saying { return s.say(s.talk, simulator.Carol, "p", mention) })
	release()
	s.await("all is answered", func() bool { return len(s.owed()) == 0 })

	// The stop must come through another replica: until it does, it is said again
	// of another turn.
	for tries := 1; ; tries++ {
		_, runs, release := s.begins()
		stop := s.stop(s.talk, simulator.Bob)
		through := s.taker(stop, "stop")
		turns := s.bots[runs].Journal.With("turn runs")
		turn := turns[len(turns)-1].Text("turn")
		s.await("the turn is stopped", func() bool {
			return len(s.bots[runs].Journal.With("turn ended", "turn", turn)) > 0
		})
		release()
		if through != runs {
			t.Logf("stopped through another replica at try %d", tries)
			break
		}
		if tries == 30 {
			t.Fatal("no stop has come through another replica")
		}
	}
	s.await("each stop is told of", func() bool {
		return slices.Contains(s.Texts(simulator.General, s.talk.root), "Stopped by <@UBOB>.")
	})

	lost, runs, release := s.begins()
	defer release()
	s.elsewhere("a message that waits", runs, "wait", func() *saying { return s.say(s.talk, simulator.Carol, "p", mention) })
	s.elsewhere("a steer", runs, "steer", func() *saying { return s.say(s.talk, simulator.Alice, "p", mention) })
	s.bots[runs].Kill()
	began := time.Now()
	s.say(s.talk, simulator.Bob, "p", mention)
	s.await("another replica goes on", func() bool { return s.askedFor(lost) == 2 })
	if took := time.Since(began); took > 12*time.Second {
		t.Errorf("the turn stood still for %v", took)
	} else {
		t.Logf("the owner is killed: the turn stood still for %v", took.Round(time.Millisecond))
	}
	release()
	s.await("all is answered", func() bool { return len(s.owed()) == 0 })
	s.bots[runs] = s.Start(t)
	n := s.check(t, s.settle([]*talk{s.talk}))
	t.Logf("%d said, %d answered, %d of them as information, %d stopped", n.said, n.answered, n.told, n.stopped)
}

// model answers as ever, and late where a word is held.
func (s *shared) model(r scripted.Request) scripted.Step {
	h := listen(r)
	s.mu.Lock()
	defer s.Wake()
	defer s.mu.Unlock()
	s.heard = append(s.heard, h)
	step := h.answer()
	for _, word := range h.asked {
		if open := s.held[word]; open != nil {
			var release func()
			step, release = step.Held()
			go func() {
				<-open
				release()
			}()
		}
	}
	return step
}

// begins lets Alice ask for something that takes until release, and answers who
// runs the turn.
func (s *shared) begins() (asked *saying, runs int, release func()) {
	s.t.Helper()
	asked = s.fresh(s.talk, simulator.Alice, "p")
	open := make(chan struct{})
	release = sync.OnceFunc(func() { close(open) })
	s.t.Cleanup(release)
	s.mu.Lock()
	s.held[asked.word] = open
	s.mu.Unlock()
	s.utter(asked, mention)
	s.await("the turn runs", func() bool { return s.askedFor(asked) > 0 })
	runs = slices.IndexFunc(s.bots, func(b *apptest.Process) bool {
		return slices.ContainsFunc(b.Journal.With("turn runs"), func(l apptest.Line) bool {
			return slices.Contains(l.List("messages"), asked.ts)
		})
	})
	if runs < 0 {
		s.t.Fatal("the turn runs nowhere")
	}
	return asked, runs, release
}

// askedFor is how many model calls had a message as their request.
func (s *shared) askedFor(m *saying) (n int) {
	for _, h := range s.requests() {
		if slices.Contains(h.asked, m.word) {
			n++
		}
	}
	return n
}

// elsewhere says things until one is taken by another replica than the one that
// runs the turn.
func (s *shared) elsewhere(what string, runs int, disposition string, say func() *saying) {
	s.t.Helper()
	for range 30 {
		if s.taker(say(), disposition) != runs {
			return
		}
	}
	s.t.Fatalf("%s has come through no other replica", what)
}

// taker is the replica that has taken a message, which must have been decided so.
func (s *shared) taker(said *saying, disposition string) (taker int) {
	s.t.Helper()
	s.await("the message is taken", func() bool {
		taker = slices.IndexFunc(s.bots, func(b *apptest.Process) bool {
			return slices.ContainsFunc(b.Journal.With("message", "ts", said.ts), func(l apptest.Line) bool {
				return l.Text("disposition") == disposition
			})
		})
		return taker >= 0
	})
	return taker
}
