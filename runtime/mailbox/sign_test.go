package mailbox_test

import (
	"testing"

	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// stopSign is a stop that is no message: a reaction to the message at a time, or
// with 0 Slack's own button in the thread. Its time is the conversation's next.
func (w *world) stopSign(author chat.Actor, on int, hows ...how) chat.Message {
	m := w.message(author, "", stop)
	m.Addressed = false
	m.Change = &chat.Change{Kind: chat.StopSign, TS: m.ID.TS}
	if on > 0 {
		m.Change.On, m.Conversation.Root = at(on), at(on)
	}
	for _, h := range hows {
		h(&m)
	}
	return m
}

// signs wants what becomes of a stop that is no message.
func (w *world) signs(want chat.Disposition, author chat.Actor, on int, hows ...how) mailbox.PutResult {
	w.t.Helper()
	m := w.stopSign(author, on, hows...)
	r := w.change(want, m)
	if want == chat.Stop {
		want = chat.Duplicate
	}
	if again := w.change(want, m); again.Claimed != nil || want == chat.Duplicate && again.First != chat.Stop {
		w.t.Fatalf("the sign again: %+v", again)
	}
	return r
}

func TestP4_ReactionToWhatATurnTookInStopsIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		for n, on := range []int{10, 20, 30} {
			w.conv.Root = at(1000 + n)
			begun := 10 + 100*n
			turn := w.starts(alice, "one", sentAt(begun))
			w.says(chat.SteerOwn, alice, "two", sentAt(begun+10))
			w.says(chat.SteerContext, bob, "three", sentAt(begun+20), forced)
			w.signs(chat.Ignored, bob, begun+10) // it is not read yet
			turn.boundary("x")
			turn.answers("y")
			w.clock = begun + 50
			w.says(chat.Wait, carol, "four", sentAt(begun+30))
			w.says(chat.Wait, bob, "five", sentAt(begun+40))
			r := w.signs(chat.Stop, carol, on+100*n)
			if r.Turn != turn.Turn || r.Conversation != w.conv {
				t.Errorf("the sign: %+v, want turn %s stopped", r, turn.Turn)
			}
			w.same("withdrawn", []chat.MessageID{w.id(at(begun + 30))}, r.Withdrawn)
			if got := turn.commit(mailbox.Commit{}); got.Stop == nil || got.Stop.By != carol {
				t.Errorf("a commit after it: %+v", got)
			}
			w.began(turn.close(mailbox.Stopped, "").Next, bob, "request five").done("b")
		}
	})
}

func TestP4_ReactionToAPostStopsItsTurnAlone(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		posted := func(closing mailbox.Closing, r *run, ts int) {
			t.Helper()
			part := mailbox.Posted{ID: string(r.Turn) + "/a", TS: at(ts)}
			if _, err := w.box.Sent(t.Context(), *closing.Send, part); err != nil {
				t.Fatal(err)
			}
		}
		turn := w.starts(alice, "one")
		w.says(chat.SteerOwn, alice, "two")
		posted(turn.staysOpen("a", "steer two"), turn, 40)
		w.clock = 50
		w.signs(chat.Stop, bob, 40)
		turn.close(mailbox.Stopped, "")

		next := w.starts(alice, "three")
		w.signs(chat.Ignored, alice, 40) // a post of a turn that has ended
		w.signs(chat.Ignored, alice, 777)
		w.signs(chat.Ignored, alice, 2) // what began the other turn
		next.done("b")
	})
}

func TestP4_ReactionOlderThanItsTurnOrLateTouchesNothing(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one", sentAt(50))
		w.signs(chat.Ignored, bob, 50, sentAt(40))
		turn.done("a")
		w.clock = 60
		w.signs(chat.Ignored, bob, 50)
		w.wantHistory("UALICE done | request one | entry a")
	})
}

func TestP4_ReactionToAParkedTurnIsItsActors(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		parked := w.starts(alice, "one", sentAt(10))
		parked.park(w.noRoom())
		w.clock = 20
		bobs := w.starts(bob, "two")
		w.signs(chat.Ignored, carol, 10)
		if r := w.signs(chat.Stop, alice, 10); r.Turn != parked.Turn {
			t.Errorf("stopped %s, want %s", r.Turn, parked.Turn)
		}
		w.same("what is to be posted", []string{mailbox.StoppedText}, w.posts())
		bobs.done("b")
	})
}

func TestP4_SignsByWhoMayNotStop(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.policy.Stop = runtime.StopByActor
		turn := w.starts(alice, "one", sentAt(10))
		w.clock = 20
		for _, on := range []int{10, 0} {
			if r := w.signs(chat.Refused, bob, on); r.Runs != alice {
				t.Errorf("refused for %s's turn, want Alice's", r.Runs.User)
			}
			w.signs(chat.Ignored, bob, on, contextOnly)
		}
		w.signs(chat.Stop, alice, 10, unchecked)
		turn.close(mailbox.Stopped, "")
	})
}

func TestP4_SlacksOwnButtonStopsWhatRunsInItsThread(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.signs(chat.Ignored, alice, 0)
		turn := w.starts(alice, "one", sentAt(10))
		w.clock = 20
		if r := w.signs(chat.Stop, bob, 0); r.Turn != turn.Turn {
			t.Errorf("stopped %s, want %s", r.Turn, turn.Turn)
		}
		turn.close(mailbox.Stopped, "")
		w.signs(chat.Ignored, bob, 0)

		// In a DM a thread may belong to the conversation before it.
		w.conv.Channel = "D1"
		direct := w.says(chat.Start, alice, "two", top(100))
		w.says(chat.SteerOwn, alice, "three", top(110))
		w.clock = 200
		r := w.signs(chat.Stop, alice, 0, func(m *chat.Message) { m.Conversation.Root = at(110) })
		if r.Turn != direct.Turn || r.Conversation.Root != at(100) {
			t.Errorf("the button: %+v, want turn %s", r, direct.Turn)
		}
	})
}
