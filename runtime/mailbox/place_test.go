package mailbox_test

import (
	"context"
	"testing"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

func (w *world) sent(l *mailbox.SendLease, done ...mailbox.Posted) []chat.Part {
	w.t.Helper()
	left, err := w.box.Sent(context.Background(), *l, done...)
	if err != nil {
		w.t.Fatal(err)
	}
	return left
}

// Where a card stands is known when its turn has long ended, so that it can
// be edited; of what else is posted it is not kept.
func TestWhereACardStandsIsKept(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		stands := func(part, want string) {
			w.t.Helper()
			channel, ts, ok, err := w.other.PostedAt(t.Context(), w.conv, part)
			got := ""
			if ok {
				got = string(channel) + " " + string(ts)
			}
			if err != nil || got != want {
				w.t.Fatalf("part %s stands at %q %v, want %q", part, got, err, want)
			}
		}
		turn := w.starts(alice, "one")
		parking := turn.parks(mailbox.Park{Card: turn.card(), Parts: []chat.Part{
			turn.cardPart(turn.card(), nil), turn.part("line"), turn.cardPart(string(turn.Turn)+"/offer", nil),
		}})
		stands(turn.card(), "")
		w.sent(parking.Send,
			mailbox.Posted{ID: turn.card(), Channel: "D1", TS: "5.1", Card: true, DM: true},
			mailbox.Posted{ID: string(turn.Turn) + "/line", Channel: w.conv.Channel, TS: "5.2"})
		w.sent(parking.Send, mailbox.Posted{ID: string(turn.Turn) + "/offer", TS: "5.3", Card: true})
		stands(turn.card(), "D1 5.1")
		stands(string(turn.Turn)+"/line", "")
		stands(string(turn.Turn)+"/offer", "C1 5.3")
		w.says(chat.Stop, alice, "stop", stop)
		stands(turn.card(), "D1 5.1")
		stands("t_99/card", "")
	})
}

// A reply below what we have told a person by DM, or asked him, begins nothing
// and stops nothing, wherever the DM's keys are; one below an answer in a DM is a
// word in its conversation.
func TestBelowACardOrANoticeNothingBegins(t *testing.T) {
	onEveryStore(t, mailbox.Options{}, func(w *world) {
		below := func(channel chat.ChannelID, root chat.TS, want string, of chat.TurnID, hows ...how) {
			w.t.Helper()
			m := w.message(alice, "yes", append(hows, dm(root))...)
			m.ID.Channel, m.Conversation.Channel = channel, channel
			for range 2 { // nothing is remembered
				r := w.put(w.asPut(m, true))[0]
				if r.Disposition != chat.Ignored || r.Below != want || r.Claimed != nil || of != r.Turn {
					w.t.Fatalf("a reply below %s in %s: %+v", root, channel, r)
				}
			}
		}
		turn := w.starts(alice, "one")
		notice := turn.cardPart(string(turn.Turn)+"/notice", nil)
		notice.Card = nil
		l := turn.parks(mailbox.Park{Card: turn.card(), Parts: []chat.Part{turn.cardPart(turn.card(), nil), notice}}).Send
		w.sent(l, mailbox.Posted{ID: turn.card(), Channel: "D1", TS: "6.000001", Card: true, DM: true},
			mailbox.Posted{ID: notice.ID, Channel: "D1", TS: "6.000002", DM: true})
		below("D1", "6.000001", mailbox.BelowCard, turn.Turn)
		below("D1", "6.000001", mailbox.BelowCard, turn.Turn, forced)
		below("D1", "6.000001", mailbox.BelowCard, turn.Turn, stop)
		below("D1", "6.000002", mailbox.BelowNotice, turn.Turn)
		below("D1", "6.000002", "", "", contextOnly)
		w.same("the turn", []string{"consent"}, turn.waits())
		// A reaction to one is to a post of the turn, wherever that is.
		reaction := func(who chat.Actor, on string) chat.Message {
			sign := w.message(who, "", dm(chat.TS(on)), stop)
			sign.ID.Channel, sign.Conversation.Channel = "D1", "D1"
			sign.Change = &chat.Change{Kind: chat.StopSign, On: chat.TS(on), TS: sign.ID.TS}
			return sign
		}
		w.change(chat.Ignored, reaction(alice, "6.000009")) // nothing of ours
		other := w.starts(bob, "between")
		w.change(chat.Ignored, reaction(carol, "6.000001")) // the card of a turn that waits is its actor's
		sign := reaction(alice, "6.000001")
		if r := w.change(chat.Stop, sign); r.Turn != turn.Turn || r.Conversation != w.conv {
			t.Errorf("a reaction to a card of another place: %+v", r)
		}
		if r := w.change(chat.Duplicate, sign); r.First != chat.Stop {
			t.Errorf("the reaction again: %+v", r)
		}
		w.change(chat.Ignored, reaction(alice, "6.000002")) // the turn has ended
		w.same("the turn", []string{"consent stopped UALICE"}, turn.waits())
		other.done("b")

		// The same where the conversation is in the DM itself.
		w.conv.Channel = "D2"
		turn = w.starts(alice, "two", sentAt(50), dm(at(50)))
		l = turn.parks(mailbox.Park{Card: turn.card(), Parts: []chat.Part{turn.cardPart(turn.card(), nil), turn.part("answer")}}).Send
		w.clock = 60
		w.sent(l, mailbox.Posted{ID: turn.card(), Channel: "D2", TS: at(61), Card: true, DM: true},
			mailbox.Posted{ID: string(turn.Turn) + "/answer", Channel: "D2", TS: at(62)})
		w.clock = 70
		below("D2", at(61), mailbox.BelowCard, turn.Turn)
		w.says(chat.JoinParked, alice, "three", dm(at(62)))
		w.clock++
		sign = w.message(alice, "", dm(at(61)), stop)
		sign.Change = &chat.Change{Kind: chat.StopSign, On: at(61), TS: sign.ID.TS}
		if r := w.put(w.asPut(sign, true))[0]; r.Disposition != chat.Stop || r.Turn != turn.Turn {
			t.Errorf("a reaction to a card of its own conversation: %+v", r)
		}
	})
}
