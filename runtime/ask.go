package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"reeve/agent"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Links makes the cards by which people connect accounts.
type Links interface {
	// Link is a card by which the person connects an account, and which ends the
	// wait when he has. An error says why none can be connected, and is fit for
	// the model.
	Link(ctx context.Context, of LinkFor) (chat.Card, error)
}

// LinkFor is whose account a link is for, and what waits for it.
type LinkFor struct {
	Actor        chat.Actor
	Provider     string
	Scopes       []string
	Conversation chat.Conversation
	Turn         chat.TurnID
	Wait         string
}

// Park implements agent.Log: the turn's actor is asked, and the turn waits, in
// one step. A steer whose author is not looked up yet is no reason to ask the
// model again: it is found out here whether he may instruct. Where Slack does not
// say so, the turn waits without his steer, which becomes a request of his own.
func (l *turnLog) Park(ctx context.Context, asking chat.Asking, entries ...chat.Entry) (bool, error) {
	var leave []chat.Actor
	for {
		parking, err := l.park(ctx, asking, entries, leave)
		if err != nil || parking.Parked {
			return parking.Parked, err
		}
		found, unknown, err := l.check(ctx, parking.Unchecked)
		if err != nil {
			return false, err
		}
		if parking.Unread || found {
			l.h.steered.Store(true)
			return false, nil
		}
		leave = append(leave, unknown...)
	}
}

// park is one try of it.
func (l *turnLog) park(ctx context.Context, asking chat.Asking, entries []chat.Entry, leave []chat.Actor) (mailbox.Parking, error) {
	if ctx.Err() != nil {
		return mailbox.Parking{}, context.Cause(ctx)
	}
	news, sections := l.fixed.news, l.sections
	p, err := l.parking(ctx, asking, entries)
	if err != nil {
		return mailbox.Parking{}, err
	}
	p.Leave = leave
	parking, err := l.r.opts.Box.Park(context.WithoutCancel(ctx), p)
	switch {
	case err != nil:
		return mailbox.Parking{}, l.lost(ctx, err)
	case parking.Stop != nil:
		l.h.stop(errStopped)
		return mailbox.Parking{}, errStopped
	case !parking.Parked:
		l.fixed.news, l.sections = news, sections // nothing was written
		return parking, nil
	}
	l.next = parking.Next
	if parking.Send != nil {
		l.r.opts.Slack.Post(*parking.Send, parking.Parts)
	}
	return parking, nil
}

// parking is the step that parks: what is asked, of whom, and what his card says
// when nobody can answer it any more.
func (l *turnLog) parking(ctx context.Context, asking chat.Asking, entries []chat.Entry) (mailbox.Park, error) {
	waitsFor, err := json.Marshal(asking)
	if err != nil {
		return mailbox.Park{}, fmt.Errorf("encode what is asked: %w", err)
	}
	raw, err := encode(append(l.unwritten(), entries...))
	if err != nil {
		return mailbox.Park{}, err
	}
	p := mailbox.Park{
		Ref: l.h.ref, Number: l.number(), For: waitsFor, Within: l.r.opts.ConsentTimeout, Entries: raw,
		Next: l.r.next(!l.r.isDraining()),
	}
	card, err := l.card(ctx, asking, string(p.ID()))
	if err != nil {
		return mailbox.Park{}, err
	}
	add := func(part chat.Part) string {
		part.ID, part.Turn = partID(l.h.ref.Turn, p.Number, len(p.Parts)), l.h.ref.Turn
		p.Parts = append(p.Parts, part)
		return part.ID
	}
	where := l.inPerson()
	p.Card = add(chat.Part{To: where, Card: &card, Markdown: askedInPerson(card)})
	void := card
	void.URL, void.Code = "", ""
	p.Void = &chat.Part{ID: p.Parts[0].ID + ".v", Turn: l.h.ref.Turn, To: where, Card: &void, Edits: p.Card, Markdown: "This question is over."}
	if where.DM != "" {
		for _, line := range l.parts([]string{"I have asked <@" + string(l.h.actor.User) + "> in a direct message before I go on."}) {
			line.Mentions = append(slices.Clone(line.Mentions), l.h.actor.User)
			add(line)
		}
	}
	if len(asking.Questions) > 0 {
		p.Parts = append(p.Parts, l.offers(append(l.own(), entries...), string(p.ID()))...)
	}
	for _, direct := range l.directs(entries, 0) {
		add(direct)
	}
	p.Parts = append(p.Parts, l.overtaken(entries)...)
	return p, nil
}

// card is what the turn's actor is shown.
func (l *turnLog) card(ctx context.Context, asking chat.Asking, wait string) (chat.Card, error) {
	c := l.h.ref.Conversation
	card := chat.Card{Kind: chat.ConsentCard}
	if len(asking.Questions) == 0 {
		var err error
		if card, err = l.link(ctx, asking, wait); err != nil {
			return chat.Card{}, err
		}
	}
	card.Conversation, card.Turn, card.Wait, card.Asking = c, l.h.ref.Turn, wait, &asking
	card.Actor, card.Visibility = l.h.actor, visibility(l.claimed.Log)
	if until := time.Now().Add(l.r.opts.ConsentTimeout).UTC().Truncate(time.Second); card.Until.IsZero() || until.Before(card.Until) {
		card.Until = until
	}
	card.Contributors = chat.Contributors(l.own(), l.h.actor)
	return card, nil
}

func (l *turnLog) link(ctx context.Context, asking chat.Asking, wait string) (chat.Card, error) {
	if l.r.opts.Links == nil {
		return chat.Card{}, &agent.CannotAsk{Why: "nobody can connect an account here"}
	}
	card, err := l.r.opts.Links.Link(ctx, LinkFor{
		Actor: l.h.actor, Provider: asking.Provider, Scopes: asking.Scopes,
		Conversation: l.h.ref.Conversation, Turn: l.h.ref.Turn, Wait: wait,
	})
	if err != nil {
		l.r.opts.Logger.Error("no link for an account", "turn", l.h.ref.Turn, "provider", asking.Provider, "err", err)
		return chat.Card{}, &agent.CannotAsk{Why: "the account at " + asking.Provider + " cannot be connected now"}
	}
	card.Kind = chat.ConnectCard
	return card, nil
}

// own are the turn's own entries as they stand in the log.
func (l *turnLog) own() []chat.Entry {
	return l.read().log(0, append(slices.Clone(l.claimed.Log), l.kept...))
}

// inPerson is where the turn's actor is asked: by direct message, which in one of
// his own is the thread itself.
func (l *turnLog) inPerson() chat.Destination {
	if c := l.h.ref.Conversation; visibility(l.claimed.Log) == chat.DM {
		return chat.Destination{Channel: c.Channel, Thread: c.Root}
	}
	return chat.Destination{DM: l.h.actor.User}
}

// askedInPerson says in plain words what a card asks, for a notification.
func askedInPerson(card chat.Card) string {
	if card.Kind == chat.ConnectCard {
		return "Before I can go on, I need an account of yours to be connected."
	}
	return "Before I can go on, I need your answer."
}
