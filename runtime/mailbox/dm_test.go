package mailbox_test

import (
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// top is a top-level message of a DM: it is its own root.
func top(n int) how {
	return func(m *chat.Message) {
		m.ID.TS = at(n)
		dm(at(n))(m)
	}
}

func (w *world) belongs(r mailbox.PutResult, root int) {
	w.t.Helper()
	if r.Conversation.Root != at(root) {
		w.t.Fatalf("belongs to %s, want root %s", r.Conversation.Key(), at(root))
	}
}

func TestP4_TopLevelDirectMessageJoinsTheLastOneWhileThatIsBusy(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		first := w.says(chat.Start, alice, "one", top(10))
		w.belongs(first, 10)
		w.belongs(w.says(chat.SteerOwn, alice, "two", top(20)), 10)
		// A reply below either belongs where its root belongs.
		w.belongs(w.says(chat.SteerOwn, alice, "three", sentAt(21), dm(at(20))), 10)
		turn := w.runs(first.Claimed)
		turn.staysOpen("a", "steer two | steer three")
		turn.done("b")

		second := w.says(chat.Start, alice, "four", top(30))
		w.belongs(second, 30)
		w.belongs(w.says(chat.Start, alice, "five", sentAt(31), dm(at(20))), 10)
		w.belongs(w.says(chat.Stop, alice, "stop", stop, top(32)), 30)
	})
}

func TestP4_ParkedDirectMessageIsJoinedByAStopOrAForcedOneOnly(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.runs(w.says(chat.Start, alice, "one", top(10)).Claimed).park(w.room())
		second := w.says(chat.Start, alice, "two", top(20))
		w.belongs(second, 20)
		w.runs(second.Claimed).park(w.room())
		r := w.says(chat.EndWait, alice, "three", forced, top(30))
		w.belongs(r, 20)
		again := w.runs(r.Claimed)
		w.wantLog("steer three", again.boundary("not approved"))
		again.park(w.room())
		r = w.says(chat.Stop, alice, "stop", stop, top(40))
		w.belongs(r, 20)
		w.belongs(w.says(chat.NothingRunning, alice, "stop", stop, top(50)), 50)
	})
}
