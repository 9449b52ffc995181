package histories

import (
	"cmp"
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/agent"
	"reeve/agent/scripted"
	"reeve/cmd/app/apptest"
	"reeve/plugins/gate"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
	"reeve/slackapp/simulator"
)

// street is a world of processes: the binary, a real Redis, and a simulated Slack
// over its sockets. It plays one history after the other, each in a thread of its
// own. What is seen of one is kept as a house has it, for the same oracle.
type street struct {
	*lane
	*apptest.Place
	t   *testing.T
	set rules

	h     *house
	mark  int64 // of the simulator's log, when the history began
	marks int   // of the messages so far
	cards []*posted

	mu      sync.Mutex
	process *apptest.Process
	dieIn   int // steps until the process is killed; 0: it is not
}

func newStreet(t *testing.T, set rules) *street {
	world := simulator.DefaultWorld()
	robot := string(people[robot].User)
	world.AddUser(simulator.User{ID: robot, Name: "robot", RealName: "robot", Bot: true})
	world.Apps[robot] = simulator.App{AppID: "AROBOT", BotID: "BROBOT", UserID: robot, TeamID: simulator.HomeTeam, Name: "robot"}
	general := world.Channels[simulator.General]
	general.Members = append(general.Members, robot)
	s := &street{t: t, set: set}
	ledger := httptest.NewServer(s)
	t.Cleanup(ledger.Close)
	space := redistest.Shared(t)
	box, err := mailbox.Open(mailbox.Options{URL: space.URL(), Prefix: space.Prefix(), LeaseTTL: apptest.Fast.LeaseTTL, LeaseMargin: apptest.Fast.LeaseMargin})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Shutdown() })
	s.lane = &lane{box: box}
	s.Place = apptest.NewPlace(t, simulator.Options{World: world, AckTimeout: time.Second, RetryScale: 0.01}, space,
		append(set.settings(), ledgerAt+"="+ledger.URL)...)
	s.Model.Otherwise(s.asked)
	s.process = s.StartOther(t, apptest.Fast)
	return s
}

// play plays one history, and says what was wrong with it.
func (s *street) play(seed uint64, counts map[string]int) string {
	d := newDice(seed)
	d.policy, d.consent, d.dm = s.set.policy, s.set.consent, false
	s.h = &house{
		lane: s.lane, dice: d, changed: make(chan struct{}), actors: map[chat.TurnID]int{},
		in: chat.Conversation{Team: simulator.HomeTeam, Channel: simulator.General},
	}
	s.mark, s.cards = s.Slack.Mark(), nil
	s.now.Store(s.h)
	run(s, d)
	s.finish()
	s.file()
	newOracle(s.h, counts).check()
	return s.h.problem
}

// asked is a request of the model's, which waits for an answer.
func (s *street) asked(r scripted.Request) scripted.Step {
	h := s.now.Load()
	a := &ask{reply: make(chan agent.Reply, 1)}
	for _, m := range r.Messages {
		if m.Role != "system" {
			a.req.Messages = append(a.req.Messages, agent.Message{Role: chat.Role(m.Role), Content: m.Content})
		}
	}
	return scripted.Step{Await: func(ctx context.Context) (scripted.Step, bool) {
		a.ctx = ctx
		h.note(func() {
			a.n = len(h.asks)
			h.asks = append(h.asks, a)
		})
		s.Wake()
		select {
		case reply := <-a.reply:
			return scripted.Step{Text: reply.Text, Calls: reply.Calls, Tokens: 1}, true
		case <-ctx.Done():
			return scripted.Step{}, false
		}
	}}
}

// request is the message that began the turn which a request is of.
func (s *street) request(a *ask) said {
	for _, m := range a.req.Messages {
		if m.Role != chat.UserRole || strings.HasPrefix(m.Content, "<information>") {
			continue
		}
		for _, m2 := range s.h.said {
			if strings.Contains(m.Content, m2.mark) {
				return m2
			}
		}
	}
	return said{}
}

// dies kills the process if its time has come.
func (s *street) dies() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dieIn == 0 {
		return
	}
	if s.dieIn--; s.dieIn == 0 {
		s.process.Kill()
		h := s.now.Load()
		h.note(func() { h.deaths++ })
	}
}

// settle implements world: nothing is on its way, and what is due in the store is
// held by somebody who waits.
func (s *street) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), apptest.Patience)
	defer cancel()
	tick := time.NewTicker(3 * time.Millisecond) // of what changes in the store, nobody tells
	defer tick.Stop()
	for {
		s.mu.Lock()
		ended := s.process.Ended()
		s.mu.Unlock()
		if ended {
			p := s.StartOther(s.t, apptest.Fast)
			s.mu.Lock()
			s.process = p
			s.mu.Unlock()
		}
		if s.Slack.Unacknowledged() == 0 && s.resting() {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			due, _ := s.due()
			s.h.wrong("stuck: due %+v, %d unacknowledged", due, s.Slack.Unacknowledged())
			return
		}
	}
}

// due is what is due of the history's conversation.
func (s *street) due() ([]mailbox.Due, error) {
	all, err := s.box.Due(context.Background())
	return slices.DeleteFunc(all, func(d mailbox.Due) bool { return d.Conversation != s.h.in }), err
}

func (s *street) resting() bool {
	due, err := s.due()
	if err != nil {
		s.h.wrong("read what is due: %v", err)
		return true
	}
	s.h.mu.Lock()
	thinks := len(s.h.waiting())
	s.h.mu.Unlock()
	for _, d := range due {
		switch d.Kind {
		case mailbox.DueTurn:
			if thinks--; thinks < 0 || d.In <= 0 {
				return false
			}
		case mailbox.DueQueue, mailbox.DueSend:
			return false
		}
	}
	return thinks == 0 // a request of a run that is over is about to end
}

// finish ends all that is open.
func (s *street) finish() {
	s.mu.Lock()
	s.dieIn = 0
	s.mu.Unlock()
	for range 60 {
		s.settle()
		for _, a := range s.h.waiting() {
			s.h.answer(a, reply{})
		}
		s.look()
		for _, c := range s.cards {
			if c.Card.Kind == chat.ConsentCard && len(c.endings) == 0 {
				s.press(c, people[c.actor], nil)
			}
		}
		if due, err := s.due(); err == nil && len(due) == 0 && len(s.h.waiting()) == 0 {
			return
		}
	}
	due, _ := s.due()
	s.h.wrong("the history does not end: due %+v", due)
}

// rules are those of a process.
type rules struct {
	policy  runtime.Policy
	consent gate.Policy
}

func (r rules) name() string {
	return strings.Join([]string{string(r.policy.SameActor), string(r.policy.CrossActor), string(r.consent.WriteConsent), string(r.consent.MultiActorWrites)}, "-")
}

func (r rules) settings() []string {
	return []string{
		"SAME_ACTOR_MID_RUN_MODE=" + string(r.policy.SameActor), "CROSS_ACTOR_MID_RUN_MODE=" + string(r.policy.CrossActor),
		"STOP_POLICY=" + string(r.policy.Stop), "WRITE_CONSENT=" + string(cmp.Or(r.consent.WriteConsent, gate.ConsentForeign)),
		"MULTI_ACTOR_WRITES=" + string(cmp.Or(r.consent.MultiActorWrites, gate.AskWrites)),
	}
}
