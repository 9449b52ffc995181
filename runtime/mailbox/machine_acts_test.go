package mailbox_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

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
