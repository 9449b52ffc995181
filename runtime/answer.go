package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Answer records what a person has answered on a consent or a connect card, and
// lets the turn go on. It is durable when it returns. It is his to give if the
// turn acts for him, and counts if the turn waits for that very answer.
func (r *Runtime) Answer(ctx context.Context, in chat.Conversation, turn chat.TurnID, wait string, by chat.Actor, allowed []string, refuse bool) (chat.Answered, error) {
	ending := chat.Ending{How: chat.ByAnswer, By: &by, Time: time.Now().UTC().Truncate(time.Second), Allowed: allowed}
	if refuse {
		ending.Allowed = nil
	}
	waiting, err := r.opts.Box.Waiting(ctx, in, turn, mailbox.WaitID(wait))
	if err != nil {
		return "", err
	}
	if same(waiting.Ending, ending) {
		return chat.AnswerRecorded, nil // the button was pressed twice, or the click came again
	}
	if card := waiting.Card; waiting.Open && card != nil && card.Card.Kind == chat.ConnectCard {
		if !refuse {
			return "", fmt.Errorf("answer of %s to turn %s: an account is not connected by an answer", by.Key(), turn)
		}
		ending.How = chat.ByRefusal
	}
	end, err := r.endWait(ctx, in, turn, wait, by, ending, waiting.Card)
	switch {
	case err != nil:
		return "", err
	case end.NotYours:
		return chat.AnswerNotYours, nil
	case end.Ended:
		r.keepAnswer(ctx, by, waiting, ending)
		return chat.AnswerRecorded, nil
	}
	return chat.AnswerOver, nil
}

// keepAnswer keeps a record of an answer which no run may come to take up, since the
// turn can be stopped first.
func (r *Runtime) keepAnswer(ctx context.Context, by chat.Actor, w mailbox.OneWait, ending chat.Ending) {
	if w.Card == nil {
		return
	}
	card := *w.Card.Card
	card.Actor, card.Ending = by, &ending
	if err := r.Record(ctx, card); err != nil {
		r.opts.Logger.Error("record of an answer not kept", "turn", card.Turn, "by", by.Key(), "err", err)
	}
}

// same reports whether two answers are by the same person, of the same calls.
func same(a, b chat.Ending) bool {
	return a.How == b.How && a.By != nil && b.By != nil && *a.By == *b.By &&
		slices.Equal(slices.Sorted(slices.Values(a.Allowed)), slices.Sorted(slices.Values(b.Allowed)))
}

// EndWait lets a turn go on whose wait is settled by something else than a click
// on its card, such as an account that is connected. ended is false when it does
// not wait for that any more.
func (r *Runtime) EndWait(ctx context.Context, in chat.Conversation, turn chat.TurnID, wait string, ending chat.Ending) (ended bool, err error) {
	if ending.Time.IsZero() {
		ending.Time = time.Now().UTC().Truncate(time.Second)
	}
	waiting, err := r.opts.Box.Waiting(ctx, in, turn, mailbox.WaitID(wait))
	if err != nil {
		return false, err
	}
	end, err := r.endWait(ctx, in, turn, wait, chat.Actor{}, ending, waiting.Card)
	return end.Ended, err
}

// endWait ends a wait with its card as a record, and runs what is to run then.
func (r *Runtime) endWait(ctx context.Context, in chat.Conversation, turn chat.TurnID, wait string, by chat.Actor, ending chat.Ending, card *chat.Part) (mailbox.WaitEnd, error) {
	next := r.next(r.reserve())
	e := mailbox.EndingWait{Conversation: in, Turn: turn, Wait: mailbox.WaitID(wait), By: by, Ending: ending, Next: next}
	if card != nil {
		record := *card
		closed := *card.Card
		closed.Ending = &ending
		record.ID, record.Card, record.Written = card.ID+"r", &closed, ""
		e.Parts = []chat.Part{record}
	}
	end, err := r.opts.Box.EndWait(ctx, e)
	if end.Ended {
		r.opts.Logger.Info("wait ended", "turn", turn, "conversation", in.Key(), "how", ending.How, "by", by.Key(), "allowed", len(ending.Allowed))
	}
	if end.Send != nil {
		r.opts.Slack.Post(*end.Send, end.Parts)
	}
	r.goOn(end.Claimed, next)
	return end, err
}

// goOn starts what a step has claimed with the place that was taken for it, or
// gives the place back.
func (r *Runtime) goOn(claimed *mailbox.Claimed, next mailbox.Next) {
	switch {
	case claimed != nil:
		if claimed.Turn != next.Turn {
			r.opts.Count(CountResumed, "", 1)
		}
		r.start(claimed)
	case next.Claim:
		r.release()
	}
}

// Tell sends a person a part that belongs to no turn, by direct message. It is
// durable when it returns; a part with the ID of an earlier one is that one.
func (r *Runtime) Tell(ctx context.Context, person chat.Actor, part chat.Part) error {
	send, parts, err := r.opts.Box.Notify(ctx, person, part)
	if err == nil && send != nil {
		r.opts.Slack.Post(*send, parts)
	}
	return err
}
