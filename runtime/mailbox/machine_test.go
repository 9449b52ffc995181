package mailbox_test

import (
	"encoding/json"
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/runtime/mailbox/redistest"
)

// TestP4_EveryMessageEndsInOneTurn plays random conversations of three authors
// on two replicas that crash, against a real server. It plays few of them;
// -rapid.checks=1000 plays more, and -rapid.seed repeats what it prints.
func TestP4_EveryMessageEndsInOneTurn(t *testing.T) {
	t.Parallel()
	asked := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { asked[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": "25", "rapid.nofailfile": "true"} {
		if asked[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	space := redistest.Shared(t)
	open := func() *mailbox.Box {
		box, err := mailbox.Open(mailbox.Options{
			URL: space.URL(), Prefix: space.Prefix(), LeaseTTL: 50 * time.Millisecond, CallTimeout: 20 * time.Second,
			MaxWaiting: 6, MaxWaitingAuthor: 3, MaxUnread: 3,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = box.Shutdown() })
		return box
	}
	boxes := []*mailbox.Box{open(), open()}
	played := 0
	rapid.Check(t, func(rt *rapid.T) {
		played++
		m := newMachine(rt, t, boxes, at(played))
		rt.Repeat(map[string]func(*rapid.T){
			"put": m.put, "put more": m.put, "retry": m.retry, "boundary": m.boundary, "answer": m.answer,
			"close": m.close, "finish": m.finish, "crash": m.crash, "hand over": m.handOver, "park": m.park,
			"end wait": m.endWait, "end an old wait": m.endOldWait, "hand back": m.handBack, "hand back by its author": m.handBackByAuthor, "claim": m.claim, "zombie writes": m.zombieWrites,
		})
		m.drain()
		m.check()
	})
}

// said is an accepted message and what the model knows of it.
type said struct {
	mailbox.Put
	consumed bool // it stands in a log, not struck
	// read is the turn that has taken it in as context, and handed says that it is
	// its author's follow-up since.
	read   chat.TurnID
	handed bool
}

// stopped is an accepted stop, and whose turn it stopped, if any.
type stopped struct {
	chat.Message
	of chat.Actor
}

// waited is a wait that a turn was parked in.
type waited struct {
	turn chat.TurnID
	id   mailbox.WaitID
}

type machine struct {
	*rapid.T
	world  *world
	boxes  []*mailbox.Box
	said   []*said
	stops  []stopped
	held   *run   // the running turn, while its worker lives
	lost   []*run // workers that another claim has replaced
	parked map[chat.TurnID]mailbox.WaitID
	waits  []waited // all there ever were
	ran    map[chat.TurnID]chat.Actor
}

func newMachine(rt *rapid.T, t *testing.T, boxes []*mailbox.Box, root chat.TS) *machine {
	modes := rapid.SampledFrom([]runtime.MidRunMode{runtime.ModeSteer, runtime.ModeFollowUp})
	w := &world{
		t: t, box: boxes[0], other: boxes[1], conv: chat.Conversation{Team: "T1", Channel: "C1", Root: root},
		policy: runtime.Policy{SameActor: modes.Draw(rt, "same"), CrossActor: modes.Draw(rt, "cross"), Stop: runtime.StopByAnyone},
	}
	return &machine{T: rt, world: w, boxes: boxes, parked: map[chat.TurnID]mailbox.WaitID{}, ran: map[chat.TurnID]chat.Actor{}}
}

func (m *machine) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *machine) box(t *rapid.T) *mailbox.Box { return rapid.SampledFrom(m.boxes).Draw(t, "replica") }

func (m *machine) next(t *rapid.T) mailbox.Next {
	return mailbox.Next{Claim: rapid.IntRange(0, 3).Draw(t, "room") > 0, Turn: m.turnID()}
}

// turnID is unique over all conversations of the run.
func (m *machine) turnID() chat.TurnID {
	return chat.TurnID("t_" + string(m.world.conv.Root) + string(m.world.turnID()))
}

// took is told of every claim. There is at most one worker that nobody has
// replaced.
func (m *machine) took(c *mailbox.Claimed, box *mailbox.Box) {
	m.Helper()
	if c == nil {
		return
	}
	if h := m.held; h != nil {
		if h.Turn != c.Turn {
			m.Fatalf("turn %s was claimed while turn %s runs", c.Turn, h.Turn)
		}
		m.lost = append(m.lost, h) // too slow: its lease had ended
	}
	if actor, known := m.ran[c.Turn]; known && actor != c.Actor {
		m.Fatalf("turn %s was %s's and is %s's", c.Turn, actor.User, c.Actor.User)
	}
	m.ran[c.Turn] = c.Actor
	delete(m.parked, c.Turn)
	m.held = &run{w: m.world, box: box, claimed: c, n: c.Commits,
		Ref: mailbox.Ref{Conversation: c.Conversation, Turn: c.Turn, Token: c.Token}}
	for _, i := range c.Log {
		m.consumed(i)
	}
}

// consumed is told of what stands in a log. A plain message never gets there
// before an older plain one of its author.
func (m *machine) consumed(items ...mailbox.Item) {
	m.Helper()
	for _, i := range items {
		s := m.find(i)
		if s == nil {
			continue
		}
		if i.Taken == mailbox.Struck {
			continue
		}
		s.consumed = true
		if i.Taken == mailbox.TakenContext && m.held != nil {
			s.read = m.held.Turn
		}
		if s.Message.Forced {
			continue
		}
		for _, o := range m.said {
			older := o.Message.Author == s.Message.Author && o.Message.ID.TS < s.Message.ID.TS
			if older && !o.Message.Forced && !o.consumed && !o.handed && !m.coverable(o) {
				m.Fatalf("message %s overtook %s of its author", s.Message.ID.TS, o.Message.ID.TS)
			}
		}
	}
}

func (m *machine) find(i mailbox.Item) *said {
	if i.Taken == mailbox.EntryItem || i.Taken == mailbox.TakenThread {
		return nil
	}
	var message chat.Message
	m.must(json.Unmarshal(i.Body, &message))
	for _, s := range m.said {
		if s.Message.ID == message.ID {
			return s
		}
	}
	m.Fatalf("a log holds message %s, which was never accepted", message.ID.TS)
	return nil
}

// coverable: a newer stop by its author, or of a turn of his, may have
// withdrawn it.
func (m *machine) coverable(s *said) bool {
	for _, stop := range m.stops {
		author := s.Message.Author
		if stop.ID.TS > s.Message.ID.TS && (stop.Author == author || stop.of == author) {
			return true
		}
	}
	return false
}

// drain lets everything end.
func (m *machine) drain() {
	for range 200 {
		if m.held != nil {
			m.end(mailbox.Done, mailbox.Next{Claim: true, Turn: m.turnID()})
			continue
		}
		m.claimBy(m.boxes[0])
		if m.held == nil && len(m.parked) == 0 {
			return
		}
		if m.held == nil {
			m.endAllWaits(m.boxes[1], true)
		}
	}
	m.Fatal("the conversation never comes to rest")
}

// check wants every accepted message in exactly one log, or withdrawn.
func (m *machine) check() {
	times := map[chat.MessageID]int{}
	_, err := m.boxes[0].History(m.Context(), m.world.conv, 1<<40, func(c mailbox.ClosedTurn) bool {
		for _, i := range c.Log {
			if s := m.find(i); s != nil && i.Taken != mailbox.Struck {
				if s.handed && s.read == c.Turn && i.Taken == mailbox.TakenContext {
					continue // it was read there, and done elsewhere
				}
				times[s.Message.ID]++
				own := s.Message.Author == c.Actor
				if own == (i.Taken == mailbox.TakenContext) {
					m.Fatalf("a message of %s stands as %s in a turn of %s", s.Message.Author.User, i.Taken, c.Actor.User)
				}
			}
		}
		return true
	})
	m.must(err)
	for _, s := range m.said {
		n := times[s.Message.ID]
		if n > 1 || n == 0 && !m.coverable(s) {
			m.Fatalf("message %s of %s stands in %d logs", s.Message.ID.TS, s.Message.Author.User, n)
		}
	}
}
