package runtime

import (
	"context"
	"sync"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Router has an opinion on a message that came while a turn runs. It decides
// convenience alone: it is told nothing of authority, and changes none.
type Router interface {
	Route(ctx context.Context, q RouteQuestion) (Verdict, error)
}

// RouteQuestion is all that a Router is told.
type RouteQuestion struct {
	// Own: the message is by the person whose turn runs.
	Own bool
	// Running are what the running turn was asked for, oldest first, without the
	// message itself.
	Running []string
	// Message is its text.
	Message string
}

// Verdict is a Router's opinion. Anything else changes nothing.
type Verdict string

const (
	// VerdictSteer: a correction of the running turn, or a contribution to it.
	VerdictSteer Verdict = "steer"
	// VerdictFollowUp: something else, for a turn of its own.
	VerdictFollowUp Verdict = "follow_up"
)

const (
	// routeTime bounds one question.
	routeTime = 2 * time.Second
	// maxRoutes is how many questions are open at a time; beyond, messages stay
	// where the default rule put them.
	maxRoutes = 32
)

// routes are the questions that are open.
type routes struct {
	open sync.WaitGroup
	mu   sync.Mutex
	n    int
	// last is, by author and conversation, the end of the last question: verdicts
	// are carried out in the order of their messages.
	last map[routeOf]chan struct{}
}

type routeOf struct {
	in     chat.Conversation
	author chat.Actor
}

// route asks the router about messages that have just been put, in the
// background.
func (r *Runtime) route(outcomes []Outcome) {
	if r.opts.Router == nil || r.opts.Policy.CrossActor != ModeRouter {
		return
	}
	for _, o := range outcomes {
		if !routed(o) {
			continue
		}
		r.mu.Lock()
		begins := !r.isDraining() && r.routes.begin()
		r.mu.Unlock()
		if !begins {
			r.opts.Count(CountRouted, "skipped", 1)
			continue
		}
		of := routeOf{o.Message.Conversation, o.Message.Author}
		before, done := r.routes.follow(of)
		go func() {
			defer r.routes.end(of, done)
			r.routeOne(o, before)
		}()
	}
}

// routed: the message stands where another opinion may move it.
func routed(o Outcome) bool {
	m := o.Message
	if o.Err != nil || m.Change != nil || m.Forced || m.Stop || m.Text == "" {
		return false
	}
	return o.Disposition == chat.SteerOwn || o.Disposition == chat.Wait && !o.Runs.IsZero() && o.Runs != m.Author
}

func (r *Runtime) routeOne(o Outcome, before <-chan struct{}) {
	m, own := o.Message, o.Disposition == chat.SteerOwn
	turn, verdict := r.ask(o, own)
	if before != nil {
		<-before
	}
	result := "unchanged"
	if own && verdict == VerdictFollowUp || !own && verdict == VerdictSteer {
		moved, err := r.opts.Box.Route(context.Background(), mailbox.Route{
			Conversation: m.Conversation, Turn: turn, TS: m.ID.TS, Author: m.Author, Edited: m.Edited, Demote: own,
		})
		if err != nil {
			r.opts.Logger.Warn("message not routed", "turn", turn, "ts", m.ID.TS, "err", err)
		}
		if moved {
			result = r.moved(o, turn, own)
		}
	}
	r.opts.Count(CountRouted, result, 1)
}

// ask puts the question. An error or no answer in time is no opinion, and what
// it is about is the turn that runs as it is asked.
func (r *Runtime) ask(o Outcome, own bool) (chat.TurnID, Verdict) {
	ctx, cancel := context.WithTimeout(r.cut, routeTime)
	defer cancel()
	m := o.Message
	t, runs, err := r.opts.Box.Running(ctx, m.Conversation)
	if err != nil || !runs || own != (t.Actor == m.Author) || own && t.Turn != o.Turn {
		return "", ""
	}
	q := RouteQuestion{Own: own, Message: m.Text}
	for _, e := range (reader{t.Turn, t.Actor}).log(0, t.Log) {
		if e.Authority() == chat.Instruction && e.Text != "" && (e.Message == nil || *e.Message != m.ID) {
			q.Running = append(q.Running, e.Text)
		}
	}
	type answer struct {
		verdict Verdict
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		v, err := r.opts.Router.Route(ctx, q)
		answered <- answer{v, err}
	}()
	select {
	case a := <-answered:
		if a.err == nil {
			return t.Turn, a.verdict
		}
		err = a.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	r.opts.Logger.Warn("router gave no answer", "turn", t.Turn, "ts", m.ID.TS, "err", err)
	return t.Turn, ""
}

// moved says what became of a message by another opinion, as its disposition.
func (r *Runtime) moved(o Outcome, turn chat.TurnID, own bool) string {
	m, now, shown := o.Message, chat.SteerContext, ShownJoins
	if own {
		now, shown = chat.Wait, ShownWaits
	} else {
		r.signal(mailbox.Signal{Steer: turn})
	}
	r.opts.Logger.Info("message routed", "disposition", now, "conversation", m.Conversation.Key(), "ts", m.ID.TS,
		"author", m.Author.Key(), "turn", turn)
	r.opts.Slack.Show(Change{State: shown, Turn: turn, Conversation: m.Conversation, Messages: []chat.MessageID{m.ID}, Actor: m.Author})
	return string(now)
}

func (s *routes) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n >= maxRoutes {
		return false
	}
	s.n++
	s.open.Add(1)
	return true
}

func (s *routes) follow(of routeOf) (before, done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[routeOf]chan struct{}{}
	}
	before, done = s.last[of], make(chan struct{})
	s.last[of] = done
	return before, done
}

func (s *routes) end(of routeOf, done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last[of] == done {
		delete(s.last, of)
	}
	close(done)
	s.n--
	s.open.Done()
}
