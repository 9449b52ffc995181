package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// offer is one card by which somebody who has steered a turn makes his messages a
// turn of his own.
type offer struct {
	// id is its part's; empty: it is still to be made.
	id       string
	author   chat.Actor
	messages []chat.TS
	// handed are those of them that the turn has handed back itself.
	handed []chat.TS
}

// over: there is nothing left to be done with it.
func (o offer) over() bool { return len(o.handed) == len(o.messages) }

// offerID names the nth offer beside the card of a wait.
func offerID(turn chat.TurnID, wait string, n int) string {
	return fmt.Sprintf("%s/%s.o%d", turn, wait, n)
}

// offersIn are all offers of a turn whose own entries these are: those that stand
// beside the cards of its waits, and, without ids, what none of them was about. One
// is made for each author, with what no earlier one offered and what is not handed
// back yet.
func (r reader) offersIn(own []chat.Entry) []*offer {
	var made, open []*offer
	at := func(list []*offer, match func(*offer) bool) *offer {
		if i := slices.IndexFunc(list, match); i >= 0 {
			return list[i]
		}
		return nil
	}
	for _, e := range own {
		author := e.Author()
		switch {
		case asked(e.Decision):
			for n, o := range open {
				o.id = offerID(r.turn, e.Decision.Wait, n)
			}
			made, open = append(made, open...), nil
		case e.Tool == plugins.HandBackTool && e.CallID != "" && !e.Failed:
			ts := handedBackBy(own, e.CallID)
			about := func(o *offer) bool { return slices.Contains(o.messages, ts) && !slices.Contains(o.handed, ts) }
			if o := at(made, about); o != nil {
				o.handed = append(o.handed, ts)
			} else if o := at(open, about); o != nil {
				o.messages = slices.DeleteFunc(o.messages, func(m chat.TS) bool { return m == ts })
				open = slices.DeleteFunc(open, func(o *offer) bool { return len(o.messages) == 0 })
			}
		case e.Origin == chat.Steer && e.Message != nil && author != r.actor && author.IsPerson():
			ts := e.Message.TS
			if at(append(slices.Clone(made), open...), func(o *offer) bool { return slices.Contains(o.messages, ts) }) != nil {
				continue // its edit
			}
			if o := at(open, func(o *offer) bool { return o.author == author }); o != nil {
				o.messages = append(o.messages, ts)
			} else {
				open = append(open, &offer{author: author, messages: []chat.TS{ts}})
			}
		}
	}
	return append(made, open...)
}

// asked: it is about calls that the turn's actor was asked about, so that offers
// stood beside his card.
func asked(d *chat.Decision) bool {
	return d != nil && d.Wait != "" && slices.ContainsFunc(d.Calls, func(c chat.Decided) bool { return c.Rule != chat.RuleConnect })
}

// handedBackBy is the message that a call has handed back.
func handedBackBy(own []chat.Entry, call string) chat.TS {
	for _, e := range own {
		for _, c := range e.Calls {
			var in handBackArguments
			if c.ID == call && json.Unmarshal([]byte(c.Arguments), &in) == nil {
				ts, _ := messageNamed(in.Message, chat.Conversation{})
				return ts
			}
		}
	}
	return ""
}

// offers are those that a new card comes with, which stands in this wait.
func (l *turnLog) offers(own []chat.Entry, wait string) []chat.Part {
	var parts []chat.Part
	for _, o := range l.read().offersIn(own) {
		if o.id != "" {
			continue
		}
		parts = append(parts, chat.Part{
			ID: offerID(l.h.ref.Turn, wait, len(parts)), Turn: l.h.ref.Turn,
			To: chat.Destination{DM: o.author.User}, Markdown: "You can have it done as a turn of your own.", Card: l.offered(o),
		})
	}
	return parts
}

func (l *turnLog) offered(o *offer) *chat.Card {
	return &chat.Card{
		Kind: chat.OfferCard, Conversation: l.h.ref.Conversation, Turn: l.h.ref.Turn, Messages: o.messages, Runs: l.h.actor,
		Visibility: visibility(l.claimed.Log),
	}
}

// overtaken are the records of offers with which nothing is left to be done once
// these entries are written, since the turn has handed the messages back itself.
func (l *turnLog) overtaken(entries []chat.Entry) []chat.Part {
	if !slices.ContainsFunc(entries, func(e chat.Entry) bool { return e.Tool == plugins.HandBackTool && !e.Failed }) {
		return nil
	}
	own := l.own()
	before := map[string]bool{}
	for _, o := range l.read().offersIn(own) {
		before[o.id] = o.over()
	}
	var parts []chat.Part
	for _, o := range l.read().offersIn(append(own, entries...)) {
		if o.id == "" || !o.over() || before[o.id] {
			continue
		}
		card := l.offered(o)
		card.Ending = &chat.Ending{How: chat.ByHandBack, Time: time.Now().UTC().Truncate(time.Second)}
		parts = append(parts, chat.Part{
			ID: o.id + "r", Turn: l.h.ref.Turn, To: chat.Destination{DM: o.author.User}, Markdown: "This offer is over.", Card: card, Edits: o.id,
		})
	}
	return parts
}

// OwnTurn hands messages back to their author, who was offered to have them done
// as a turn of his own. It is durable when it returns, and so is a record of it.
func (r *Runtime) OwnTurn(ctx context.Context, in chat.Conversation, turn chat.TurnID, messages []chat.TS, by chat.Actor) (chat.Owned, error) {
	owned := chat.OwnGone
	var back []chat.TS
	for i, ts := range messages {
		// Those that come together make one turn: the last one's step starts it.
		next := r.next(i == len(messages)-1 && r.reserve())
		got, err := r.opts.Box.HandBack(ctx, mailbox.HandBack{
			Ref: mailbox.Ref{Conversation: in, Turn: turn}, Author: by, TS: ts, Key: "click:" + string(ts), Next: next,
		})
		if err != nil {
			r.goOn(nil, next)
			return "", err
		}
		r.goOn(got.Claimed, next)
		switch got.Outcome {
		case mailbox.HandNotYours:
			return chat.OwnNotYours, nil
		case mailbox.HandedBack:
			owned, back = chat.OwnHandedBack, append(back, ts)
			r.opts.Count(CountHandedBack, "", 1)
			r.opts.Slack.Show(Change{
				State: ShownWaits, Turn: turn, Conversation: in, Actor: by,
				Messages: []chat.MessageID{{Team: in.Team, Channel: in.Channel, TS: ts}},
			})
		case mailbox.HandedAlready:
			if owned == chat.OwnGone {
				owned = chat.OwnAlready
			}
		}
	}
	return owned, r.keepWish(ctx, in, turn, back, by)
}

// keepWish keeps a record of each message that its author wanted done as a turn of
// his own. The click is not answered without it: it comes again, and changes
// nothing else then.
func (r *Runtime) keepWish(ctx context.Context, in chat.Conversation, turn chat.TurnID, messages []chat.TS, by chat.Actor) error {
	if r.opts.Decided == nil || len(messages) == 0 {
		return nil
	}
	d := chat.Decision{Wait: "own", Ending: chat.Ending{How: chat.ByHandBack, By: &by}}
	for _, ts := range messages {
		d.Calls = append(d.Calls, chat.Decided{Call: string(ts), Tool: plugins.HandBackTool, Allowed: true})
	}
	return r.opts.Decided(ctx, plugins.Run{Turn: turn, Conversation: in, Actor: by}, d)
}
