package mailbox_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
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

func (m *machine) put(t *rapid.T) {
	author := rapid.SampledFrom([]chat.Actor{alice, bob, carol}).Draw(t, "author")
	kind := rapid.SampledFrom([]string{"plain", "plain", "plain", "plain", "forced", "forced", "stop"}).Draw(t, "kind")
	var hows []how
	switch kind {
	case "forced":
		hows = append(hows, forced)
	case "stop":
		hows = append(hows, stop)
	}
	message := m.world.message(author, "", hows...)
	message.ID.TS = chat.TS(fmt.Sprintf("%s%06d", m.world.conv.Root, m.world.clock))
	message.Text = kind
	box := m.box(t)
	p := mailbox.Put{Message: message, Row: runtime.DecideRow(message, m.world.policy), Turn: m.turnID(),
		Claim: rapid.IntRange(0, 3).Draw(t, "room") > 0}
	results, errs := box.PutAll(m.Context(), []mailbox.Put{p})
	m.must(errs[0])
	r := results[0]
	switch r.Disposition {
	case chat.Refused:
	case chat.Stop, chat.WithdrawOwn, chat.NothingRunning:
		m.stops = append(m.stops, stopped{message, m.ran[r.Turn]})
		delete(m.parked, r.Turn) // a stop ends a turn without a worker
	case chat.Start, chat.Wait, chat.SteerOwn, chat.SteerContext, chat.JoinParked, chat.EndWait:
		m.said = append(m.said, &said{Put: p})
	default:
		m.Fatalf("%s: %s", kind, r.Disposition)
	}
	m.took(r.Claimed, box)
}

func (m *machine) retry(t *rapid.T) {
	if len(m.said) == 0 {
		t.Skip()
	}
	s := rapid.SampledFrom(m.said).Draw(t, "message")
	results, errs := m.box(t).PutAll(m.Context(), []mailbox.Put{s.Put})
	m.must(errs[0])
	if results[0].Disposition != chat.Duplicate || results[0].Claimed != nil {
		m.Fatalf("a retry: %+v", results[0])
	}
}

func (m *machine) worker(t *rapid.T) *run {
	if m.held == nil {
		t.Skip()
	}
	return m.held
}

func (m *machine) boundary(t *rapid.T) {
	r := m.worker(t)
	r.n++
	got, err := r.box.Commit(m.Context(), mailbox.Commit{Ref: r.Ref, Number: r.n, Entries: entries("x"), Take: true})
	m.must(err)
	m.consumed(got.Taken...)
}

func (m *machine) answer(t *rapid.T) {
	r := m.worker(t)
	r.n++
	_, err := r.box.Commit(m.Context(), mailbox.Commit{Ref: r.Ref, Number: r.n, Entries: entries("calls"), Answer: true})
	m.must(err)
}

func (m *machine) close(t *rapid.T) {
	m.worker(t)
	m.end(rapid.SampledFrom([]mailbox.Outcome{mailbox.Done, mailbox.Failed}).Draw(t, "outcome"), m.next(t))
}

// finish is close by done, which most turns do.
func (m *machine) finish(t *rapid.T) {
	m.worker(t)
	m.end(mailbox.Done, m.next(t))
}

// end closes the held turn; one that is being stopped, as stopped.
func (m *machine) end(outcome mailbox.Outcome, next mailbox.Next) {
	r := m.held
	r.n++
	got, err := r.box.Close(m.Context(), mailbox.Close{Ref: r.Ref, Number: r.n, Outcome: outcome, Entries: entries("answer"), Next: next})
	m.must(err)
	switch {
	case got.Stop != nil:
		r.n--
		m.end(mailbox.Stopped, next)
	case got.Closed:
		m.ended(r)
		m.took(got.Next, r.box)
	default:
		m.consumed(got.Taken...)
	}
}

// ended reads back what the closing struck from the log: it waits again.
func (m *machine) ended(r *run) {
	m.held = nil
	m.lost = append(m.lost, r)
	_, err := m.boxes[0].History(m.Context(), m.world.conv, 1<<40, func(c mailbox.ClosedTurn) bool {
		for _, i := range c.Log {
			if i.Taken == mailbox.Struck {
				s := m.find(i)
				s.consumed, s.read = false, ""
			}
		}
		return false // the newest
	})
	m.must(err)
}

// crash loses the worker; another replica claims the turn when its lease ends.
func (m *machine) crash(t *rapid.T) {
	r := m.worker(t)
	other := m.boxes[0]
	if other == r.box {
		other = m.boxes[1]
	}
	for m.held == r {
		later := m.claimBy(other)
		if later > 0 {
			<-time.After(later)
		}
	}
}

// claimBy claims what is due, and abandons what is exhausted.
func (m *machine) claimBy(box *mailbox.Box) time.Duration {
	got, err := box.Claim(m.Context(), m.world.conv, mailbox.Next{Claim: true, Turn: m.turnID()}, 3)
	m.must(err)
	if x := got.Exhausted; x != nil {
		if m.held == nil || m.held.Turn != x.Turn {
			m.Fatalf("turn %s is exhausted and does not run", x.Turn)
		}
		m.lost = append(m.lost, m.held)
		m.held = &run{w: m.world, box: box, Ref: x.Ref, n: x.Commits}
		m.end(mailbox.Abandoned, mailbox.Next{Claim: true, Turn: m.turnID()})
		return 0
	}
	m.took(got.Claimed, box)
	return got.Later
}

func (m *machine) handOver(t *rapid.T) {
	r := m.worker(t)
	m.must(r.box.HandOver(m.Context(), r.Ref))
	m.claimBy(m.box(t))
	if m.held == r || m.held.Turn != r.Turn {
		m.Fatal("a turn that was handed over was not claimed")
	}
}

func (m *machine) park(t *rapid.T) {
	r := m.worker(t)
	r.n++
	p := mailbox.Park{Ref: r.Ref, Number: r.n, Next: m.next(t), Entries: entries("calls")}
	got, err := r.box.Park(m.Context(), p)
	m.must(err)
	if !got.Parked {
		r.n--
		return
	}
	m.held = nil
	m.lost = append(m.lost, r)
	m.parked[r.Turn] = p.ID()
	m.waits = append(m.waits, waited{r.Turn, p.ID()})
	m.took(got.Next, r.box)
}

func (m *machine) endWait(t *rapid.T) {
	if len(m.parked) == 0 {
		t.Skip()
	}
	m.endAllWaits(m.box(t), m.next(t).Claim)
}

// endOldWait is a click that comes late: it finds nothing to end.
func (m *machine) endOldWait(t *rapid.T) {
	if len(m.waits) == 0 {
		t.Skip()
	}
	w := rapid.SampledFrom(m.waits).Draw(t, "wait")
	if m.parked[w.turn] == w.id {
		t.Skip()
	}
	ended, got, err := endWait(m.box(t), m.world.conv, w.turn, w.id, m.next(t))
	m.must(err)
	if ended || got != nil {
		m.Fatalf("wait %s of turn %s was ended twice", w.id, w.turn)
	}
}

func (m *machine) endAllWaits(box *mailbox.Box, claim bool) {
	for _, turn := range slices.Sorted(maps.Keys(m.parked)) {
		_, got, err := endWait(box, m.world.conv, turn, m.parked[turn], mailbox.Next{Claim: claim, Turn: m.turnID()})
		m.must(err)
		m.took(got, box)
	}
}

// handBack lets the running turn hand back what it has read of others, and then
// once more.
func (m *machine) handBack(t *rapid.T) {
	r := m.worker(t)
	s := m.readBy(t, r.Turn)
	for i, want := range []mailbox.HandBackOutcome{mailbox.HandedBack, mailbox.HandedAlready} {
		got, err := r.box.HandBack(m.Context(), mailbox.HandBack{Ref: r.Ref, TS: s.Message.ID.TS, Key: fmt.Sprint("call ", i)})
		m.must(err)
		if got.Outcome != want || got.Claimed != nil {
			m.Fatalf("message %s is handed back: %+v, want %s", s.Message.ID.TS, got, want)
		}
	}
	s.handed = true
}

// handBackByAuthor is a click of an author's, whatever became of the turn.
func (m *machine) handBackByAuthor(t *rapid.T) {
	s := m.readBy(t, "")
	box := m.box(t)
	got, err := box.HandBack(m.Context(), mailbox.HandBack{Ref: mailbox.Ref{Conversation: m.world.conv, Turn: s.read},
		Author: s.Message.Author, TS: s.Message.ID.TS, Key: "click", Next: m.next(t)})
	m.must(err)
	if got.Outcome != mailbox.HandedBack {
		m.Fatalf("message %s is handed back by its author: %+v", s.Message.ID.TS, got)
	}
	s.handed = true
	m.took(got.Claimed, box)
}

// readBy draws a message that a turn has read as context, and that was not handed
// back.
func (m *machine) readBy(t *rapid.T, turn chat.TurnID) *said {
	var list []*said
	for _, s := range m.said {
		if s.read != "" && !s.handed && (turn == "" || s.read == turn) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		t.Skip()
	}
	return rapid.SampledFrom(list).Draw(t, "message")
}

func (m *machine) claim(t *rapid.T) { m.claimBy(m.box(t)) }

func (m *machine) zombieWrites(t *rapid.T) {
	if len(m.lost) == 0 {
		t.Skip()
	}
	r := rapid.SampledFrom(m.lost).Draw(t, "worker")
	_, err := r.box.Commit(m.Context(), mailbox.Commit{Ref: r.Ref, Number: 999, Entries: entries("late"), Take: true})
	if !errors.Is(err, mailbox.ErrStale) {
		m.Fatalf("a lost worker of turn %s writes: %v", r.Turn, err)
	}
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
