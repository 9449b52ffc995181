package mailbox_test

import (
	"fmt"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

var (
	modelEntry    = [][]byte{[]byte("x")}
	modelOutcomes = map[kind]mailbox.Outcome{evDone: mailbox.Done, evFail: mailbox.Failed,
		evStopped: mailbox.Stopped, evAbandon: mailbox.Abandoned}
)

// told is what a step answered, of what the model has to know.
type told struct {
	Put       mailbox.PutResult
	Claimed   *mailbox.Claimed
	Exhausted *mailbox.Exhausted
	Stale     bool
	NotYours  bool
	Stopping  bool
	Open      bool // close or park: not yet
	Ended     bool // the turn is no longer the caller's
	Renewed   bool
	Taken     []mailbox.Item
	Handed    mailbox.HandBackOutcome
}

// result is all that must be told again in the same words, when a call is sent
// again.
func (t told) result() string {
	return fmt.Sprint(t.Put.Disposition, t.Put.Withdrawn, t.Stopping, t.Open, t.Ended, len(t.Taken), t.Handed, t.NotYours)
}

// token is that of the turn that was given out.
func (t told) token() mailbox.Token {
	switch {
	case t.Claimed != nil:
		return t.Claimed.Token
	case t.Exhausted != nil:
		return t.Exhausted.Token
	}
	return ""
}

// call makes the event's step on the store of x.bench.
func (x *explorer) call(e event, w worker, next chat.TurnID) (told, error) {
	box, ctx := x.bench.Box, x.ctx
	ref := mailbox.Ref{Conversation: modelPlace, Turn: w.turn, Token: w.token}
	offer := mailbox.Next{Claim: e.room, Turn: next}
	switch e.kind {
	case evPut:
		m := x.scene.said[e.of]
		got, errs := box.PutAll(ctx, []mailbox.Put{{Message: m, Row: x.rows[e.of], Turn: next, Claim: e.room}})
		return told{Put: got[0], Claimed: got[0].Claimed}, errs[0]
	case evEndWait:
		_, got, err := endWait(box, modelPlace, turnName(e.of), e.wait, offer)
		return told{Claimed: got}, err
	case evClick:
		turn := turnName(e.of)
		click := mailbox.EndingWait{Conversation: modelPlace, Turn: turn, Wait: e.wait, By: alice, Next: offer,
			Ending: chat.Ending{How: chat.ByAnswer, Time: clicked}, Parts: []chat.Part{modelPart(turn, string(e.wait), "a")}}
		if e.bob {
			click.By = bob
		}
		end, err := box.EndWait(ctx, click)
		return told{Claimed: end.Claimed, NotYours: end.NotYours}, err
	case evClaim:
		offer.Claim = true
		got, err := box.Claim(ctx, modelPlace, offer, x.scene.attempts)
		return told{Claimed: got.Claimed, Exhausted: got.Exhausted}, err
	case evBoundary, evAnswer:
		got, err := box.Commit(ctx, mailbox.Commit{Ref: ref, Number: w.n + 1, Entries: modelEntry,
			Take: e.kind == evBoundary, Answer: e.kind == evAnswer})
		return told{Stopping: got.Stop != nil, Taken: got.Taken}.or(err)
	case evPark:
		park := mailbox.Park{Ref: ref, Number: w.n + 1, Next: offer, Entries: modelEntry}
		card, void := modelPart(w.turn, string(park.ID()), "card"), modelPart(w.turn, string(park.ID()), "v")
		park.Card, park.Parts, park.Void = card.ID, []chat.Part{card}, &void
		if e.bob {
			park.Leave = []chat.Actor{bob}
		}
		got, err := box.Park(ctx, park)
		return told{Claimed: got.Next, Stopping: got.Stop != nil, Ended: got.Parked, Open: !got.Parked}.or(err)
	case evHandOver:
		return told{Ended: true}.or(box.HandOver(ctx, ref))
	case evRenew:
		pulses, errs := box.Renew(ctx, []mailbox.Ref{ref})
		return told{Renewed: true, Stopping: pulses[0].Stop != nil}.or(errs[0])
	case evHandBack:
		m := x.scene.said[e.of]
		got, err := box.HandBack(ctx, mailbox.HandBack{Ref: ref, TS: m.ID.TS, Key: "call"})
		return told{Handed: got.Outcome}.or(err)
	default:
		got, err := box.Close(ctx, mailbox.Close{Ref: ref, Number: w.n + 1, Outcome: modelOutcomes[e.kind],
			Entries: modelEntry, Next: offer})
		return told{Claimed: got.Next, Stopping: got.Stop != nil, Ended: got.Closed, Open: !got.Closed, Taken: got.Taken}.or(err)
	}
}

// modelPart is a part about one wait of a turn: its card, or what is said of it.
func modelPart(turn chat.TurnID, wait, what string) chat.Part {
	return chat.Part{ID: fmt.Sprintf("%s/%s.%s", turn, wait, what), Turn: turn, Card: &chat.Card{Kind: chat.ConsentCard},
		To: chat.Destination{DM: alice.User}, Written: "1.1"}
}

// or is t, unless the caller was told that it lost the turn.
func (t told) or(err error) (told, error) {
	if isStale(err) {
		return told{Stale: true}, nil
	}
	return t, err
}
