package mailbox_test

import (
	"fmt"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func TestP3_EntersOnceAndEveryRetryIsAnsweredAsTheFirst(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		first := w.asPut(w.message(alice, "one"), true)
		turn := w.runs(w.putOne(chat.Start, first).Claimed)
		w.says(chat.SteerOwn, alice, "two")

		again := w.putOne(chat.Duplicate, w.asPut(first.Message, true))
		if again.First != chat.Start || again.Turn != turn.Turn || again.Claimed != nil {
			t.Errorf("a retry of what started turn %s: %+v", turn.Turn, again)
		}
		waiting := w.asPut(w.message(bob, "three"), true)
		w.putOne(chat.Wait, waiting)
		w.policy.CrossActor = "steer"
		if again := w.putOne(chat.Duplicate, w.asPut(waiting.Message, true)); again.First != chat.Wait {
			t.Errorf("a retry of what waits: %+v", again)
		}
		turn.staysOpen("a", "steer two")
		w.began(turn.done("b").Next, bob, "request three").done("c")
		w.wantHistory("UALICE done | request one | entry a | steer two | entry b", "UBOB done | request three | entry c")
		if again := w.putOne(chat.Duplicate, w.asPut(first.Message, true)); again.Claimed != nil {
			t.Error("a retry after the end started a turn")
		}
	})
}

func TestP3_RefusalIsDecidedAfresh(t *testing.T) {
	onEveryStore(t, mailbox.Options{MaxWaitingAuthor: 1}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		full := w.asPut(w.message(bob, "three"), true)
		w.putOne(chat.Refused, full)
		w.putOne(chat.Refused, full)
		bobs := w.began(turn.done("a").Next, bob, "request two")
		full.Turn = w.turnID()
		w.putOne(chat.SteerOwn, full)
		bobs.staysOpen("b", "steer three")
	})
}

func TestP3_AddressedCopyUpgradesPassiveOneInPlace(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		m := w.message(bob, "two", unaddressed)
		w.putOne(chat.AsContext, w.asPut(m, true))
		if again := w.putOne(chat.Duplicate, w.asPut(m, true)); again.First != chat.AsContext {
			t.Errorf("a retry of a passive message: %+v", again)
		}
		if known, err := w.box.Known(t.Context(), m.ID); known || err != nil {
			t.Errorf("a passive message claims the key: %v %v", known, err)
		}
		m.Addressed = true
		w.putOne(chat.Wait, w.asPut(m, true))
		if known, err := w.box.Known(t.Context(), m.ID); !known || err != nil {
			t.Errorf("an addressed message does not claim the key: %v %v", known, err)
		}
		w.putOne(chat.Duplicate, w.asPut(m, true))
		// It is no passive message of the thread any more: it stands in one log.
		bobs := w.began(turn.done("a").Next, bob, "request two")
		bobs.done("b")
		w.began(w.says(chat.Start, carol, "three").Claimed, carol, "request three")
	})
}

// A lone stop that was context must not stop, on a retry, what runs by then.
func TestP3_RetryOfAPassiveStopTouchesNothing(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.starts(alice, "one").done("a")
		w.saysNoRoom(chat.Wait, bob, "two")
		late := w.asPut(w.message(alice, "stop", stop, unaddressed), false)
		w.putOne(chat.AsContext, late)
		bobs := w.began(w.claim(w.box).Claimed, bob, "request two")
		w.putOne(chat.Duplicate, late)
		bobs.done("b")
	})
}

func TestP3_NotOursIsIgnored(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		m := w.message(alice, "one", unaddressed)
		if r := w.putOne(chat.Ignored, w.asPut(m, true)); r.Ours {
			t.Error("a thread without a mention is ours")
		}
		w.says(chat.Ignored, bob, "two", contextOnly)
		m.Addressed = true
		r := w.putOne(chat.Start, w.asPut(m, true))
		w.began(r.Claimed, alice, "request one")
		if w.says(chat.AsContext, bob, "three", unaddressed); !r.Ours {
			t.Error("a thread with a mention is not ours")
		}
	})
}

func TestP4_ThreadStandsInTheFirstLogThatShowsIt(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		w.says(chat.AsContext, bob, "two", unaddressed)
		w.says(chat.AsContext, bob, "three", contextOnly)
		w.says(chat.Wait, carol, "four")
		w.says(chat.AsContext, bob, "five", unaddressed)
		carols := w.began(turn.done("a").Next, carol, "thread two | thread three | request four")
		carols.done("b")
		w.began(w.says(chat.Start, alice, "six").Claimed, alice, "thread five | request six")
	})
}

func TestP4_OnlyContiguousMessagesOfOneAuthorMakeATurn(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		// As they arrive: the order is that of their ts.
		w.says(chat.Wait, carol, "four", sentAt(40))
		w.says(chat.Wait, bob, "three", sentAt(30))
		w.says(chat.Wait, bob, "five", sentAt(50))
		w.says(chat.Wait, bob, "two", sentAt(20))
		bobs := w.began(turn.done("a").Next, bob, "request two | request three")
		carols := w.began(bobs.done("b").Next, carol, "request four")
		w.began(carols.done("c").Next, bob, "request five")
	})
}

func TestP4_PlainMessageNeverOvertakesAnOlderOneOfItsAuthor(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		w.policy.SameActor = "follow_up"
		turn := w.starts(alice, "one")
		w.says(chat.Wait, alice, "two")
		w.policy.SameActor = "steer"
		w.says(chat.Wait, alice, "three")
		w.says(chat.SteerOwn, alice, "four", forced)
		turn.staysOpen("a", "steer four")
		w.began(turn.done("b").Next, alice, "request two | request three")
	})
}

func TestP4_CapsRefuseTheAuthorAndThenTheConversation(t *testing.T) {
	onEveryStore(t, mailbox.Options{MaxWaiting: 3, MaxWaitingAuthor: 2, MaxUnread: 1}, func(w *world) {
		w.starts(alice, "one")
		w.says(chat.Wait, bob, "two")
		w.says(chat.SteerContext, bob, "three", forced) // an unread steer counts
		if r := w.says(chat.Refused, bob, "four"); r.Runs != alice {
			t.Errorf("refused while %s runs, want alice", r.Runs.Key())
		}
		w.says(chat.Refused, bob, "five", forced)
		w.says(chat.Wait, carol, "six")
		w.says(chat.Refused, carol, "seven")
		// What others wrote takes no room from her own turn, and a stop needs none.
		w.says(chat.SteerOwn, alice, "eight")
		w.says(chat.Refused, alice, "nine")
		w.says(chat.Stop, alice, "stop", stop)
	})
}

func TestP4_PutsInOneCallKeepTheirOrder(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		var puts []mailbox.Put
		for i := range 6 {
			puts = append(puts, w.asPut(w.message(alice, fmt.Sprint(i)), true))
		}
		results := w.put(puts...)
		turn := w.began(results[0].Claimed, alice, "request 0")
		for _, r := range results[1:] {
			if r.Disposition != chat.SteerOwn || r.Turn != turn.Turn {
				t.Errorf("%+v, want a steer of turn %s", r, turn.Turn)
			}
		}
		turn.staysOpen("a", "steer 1 | steer 2 | steer 3 | steer 4 | steer 5")
	})
}

func TestP4_SettledMessageLeavesItsLaneAndStaysKnown(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		turn := w.starts(alice, "one")
		steer := w.asPut(w.message(bob, "two", unchecked, forced), true)
		w.putOne(chat.SteerContext, steer)
		wait := w.asPut(w.message(carol, "three", unchecked), true)
		w.putOne(chat.Wait, wait)
		for _, p := range []mailbox.Put{steer, wait} {
			if err := w.box.Settle(t.Context(), w.conv, p.Message.ID.TS, p.Message.Author); err != nil {
				t.Fatal(err)
			}
			w.putOne(chat.Duplicate, w.asPut(p.Message, true))
		}
		if next := turn.done("a").Next; next != nil {
			t.Errorf("a settled message started %+v", next)
		}
		w.began(w.says(chat.Start, alice, "four").Claimed, alice, "thread two | thread three | request four")
	})
}
