package mailbox_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// unreachable says why a conversation is never in a state; empty if it may be.
func unreachable(s chat.State) string {
	if s.Column == chat.NoneRuns && s.Stopping {
		return "what stops is a turn, and there is none"
	}
	if s.Column == chat.OwnParked && s.Stopping {
		return "a stop ends a parked turn at once"
	}
	return ""
}

var caps = mailbox.Options{MaxWaiting: 3, MaxWaitingAuthor: 2, MaxUnread: 2}

// The script must take the very cell that chat.State.Index names: in each state,
// each cell alone is marked "refused" in a row of "ignored".
func TestP4_EveryCell(t *testing.T) {
	onEveryStore(t, caps, func(w *world) {
		for i := range chat.States {
			s := chat.StateAt(i)
			if s.Index() != i {
				t.Fatalf("state %+v has index %d, want %d", s, s.Index(), i)
			}
			if unreachable(s) == "" {
				w.conv.Root = at(1000 + i)
				w.reach(s)
				w.probe(s, 'w')
			}
		}
	})
}

// The lane of one's own open turn has a cap of its own.
func TestP4_EveryCellOfAFullOwnLane(t *testing.T) {
	onEveryStore(t, caps, func(w *world) {
		for i, s := range []chat.State{
			{Column: chat.OwnRuns, Full: chat.AuthorFull},
			{Column: chat.OwnRuns, OlderOwnWaiting: true, Full: chat.AuthorFull},
			{Column: chat.OwnParked, Full: chat.AuthorFull},
			{Column: chat.OwnParked, OlderOwnWaiting: true, Full: chat.AuthorFull},
		} {
			lane := map[chat.Column]byte{chat.OwnRuns: 't', chat.OwnParked: 'j'}[s.Column]
			w.conv.Root = at(2000 + i)
			room := s
			room.Full = chat.NotFull
			w.reach(room)
			w.cell(alice, lane, 700)
			w.probe(room, lane)
			w.cell(alice, lane, 701)
			w.probe(s, lane)
		}
	})
}

// cell puts a message with one disposition in every state, by a process that
// has no room.
func (w *world) cell(author chat.Actor, letter byte, ts int) mailbox.PutResult {
	w.t.Helper()
	p := w.asPut(w.message(author, "filler", sentAt(ts)), false)
	p.Message.ID.TS = chat.TS(string(w.conv.Root) + fmt.Sprintf("%04d", ts))
	p.Row = chat.Row(strings.Repeat(string(letter), chat.States))
	return w.put(p)[0]
}

// reach brings the conversation into a state, as Alice sees it who writes at 500.
func (w *world) reach(s chat.State) {
	w.t.Helper()
	start := func(author chat.Actor, ts int) *run {
		w.cell(author, 's', ts)
		return w.runs(w.claim(w.box).Claimed)
	}
	switch s.Column {
	case chat.OwnRuns:
		start(alice, 10)
	case chat.OwnParked:
		start(alice, 10).park(w.noRoom())
		start(bob, 20) // another's turn runs meanwhile; her own counts
	case chat.OtherRuns:
		start(bob, 10)
	case chat.NoneRuns:
		start(bob, 10).done("")
	}
	if s.Stopping {
		w.cell(alice, 'x', 30)
	}
	waiting := 0
	wait := func(author chat.Actor, ts int) {
		w.cell(author, 'w', ts)
		waiting++
	}
	if s.OlderOwnWaiting {
		wait(alice, 400)
	}
	switch s.Full {
	case chat.AuthorFull:
		for ts := 600; waiting < caps.MaxWaitingAuthor; ts++ {
			wait(alice, ts) // newer than what she writes
		}
	case chat.ConversationFull:
		for n := 0; waiting < caps.MaxWaiting; n++ {
			wait(chat.Person("T1", chat.UserID(fmt.Sprint("U", n))), 450+n)
		}
	}
}

// probe asks for each cell whether the script takes it. The cell of a state
// with room names the lane, of which the script asks whether it is full.
func (w *world) probe(s chat.State, lane byte) {
	w.t.Helper()
	room := s
	room.Full = chat.NotFull
	var puts []mailbox.Put
	var cells []int
	for i := range chat.States {
		row := []byte(strings.Repeat("i", chat.States))
		if s.Full != chat.NotFull {
			row[room.Index()] = lane
		}
		if i == room.Index() && i != s.Index() {
			continue
		}
		row[i] = 'r'
		p := w.asPut(w.message(alice, "probe"), false)
		p.Message.ID.TS = chat.TS(string(w.conv.Root) + "0500")
		p.Row = chat.Row(row)
		puts, cells = append(puts, p), append(cells, i)
	}
	for n, r := range w.put(puts...) {
		want := chat.Ignored
		if cells[n] == s.Index() {
			want = chat.Refused
		}
		if r.Disposition != want {
			w.t.Errorf("in state %+v the cell of %+v answers %s, want %s", s, chat.StateAt(cells[n]), r.Disposition, want)
		}
	}
}
