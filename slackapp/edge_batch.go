package slackapp

import (
	"context"
	"fmt"

	"reeve/runtime"
	"reeve/runtime/chat"
)

// item is a message on its way into the mailbox, with the envelopes that are
// acknowledged when it is there.
type item struct {
	message    chat.Message
	deliveries []Delivery
}

// add admits one delivery: it joins the batch, is held, or is done with.
func (e *Edge) add(ctx context.Context, batch []item, d Delivery) []item {
	switch d.Type {
	case "events_api":
	case "interactive":
		e.addClick(ctx, d)
		return batch
	default:
		e.ignore(d, "envelope_type")
		return batch
	}
	raw, v, err := e.admit(d)
	if err != nil {
		// A fault of ours: a new version may do better with Slack's retry.
		e.log.Error("envelope not admitted", "envelope", d.ID, "err", err)
		e.letGo(d)
		return batch
	}
	switch v.Kind {
	case KindMessage, KindEdit, KindDeletion, KindStopClick, KindStopReaction:
		return append(batch, item{message: v.Message, deliveries: []Delivery{d}})
	case KindMention:
		e.hold(d, raw, v)
	case KindHome:
		e.finish(d) // nothing is changed by it
		e.openHome(ctx, v.Message.Author)
	default:
		e.ignore(d, v.Rule)
		if raw.Event.Type == "message" && validID(raw.Event.Channel) && isTS(raw.Event.TS) && v.Kind == KindIgnored {
			// What was said of the message holds for its mention too.
			id := chat.MessageID{Team: e.opts.Self.Team, Channel: chat.ChannelID(raw.Event.Channel), TS: chat.TS(raw.Event.TS)}
			e.seen.add(id)
			e.release(id, v.Rule)
		}
	}
	return batch
}

func (e *Edge) addSettled(batch []item, s settled) []item {
	if it, ok := e.settle(s); ok {
		return append(batch, it)
	}
	return batch
}

// admit never panics: a bad envelope must not cost the others.
func (e *Edge) admit(d Delivery) (raw Raw, v Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("admit envelope: panic: %v", r)
		}
	}()
	raw, err = ParseRaw(d.Payload)
	if err != nil {
		return raw, ignored("malformed"), nil
	}
	return raw, Admit(raw, e.opts.Self, e.opts.Admission), nil
}

// acknowledge answers what is durable.
func (e *Edge) acknowledge(batch []item, outcomes []runtime.Outcome) {
	var told []runtime.Outcome
	for i, it := range batch {
		if i >= len(outcomes) || outcomes[i].Err != nil {
			for _, d := range it.deliveries {
				e.letGo(d)
			}
			if i < len(outcomes) {
				e.log.Warn("message not durable, left to slack's retry", "channel", it.message.ID.Channel,
					"ts", it.message.ID.TS, "attempt", it.deliveries[0].Attempt, "err", outcomes[i].Err)
			}
			continue
		}
		for _, d := range it.deliveries {
			e.finish(d)
		}
		if outcomes[i].Message.Change == nil { // a change of a message is not the message
			e.seen.add(it.message.ID)
			e.release(it.message.ID, "duplicate_mention")
		}
		told = append(told, outcomes[i])
	}
	if len(told) == 0 || e.opts.Notices == nil {
		return
	}
	select {
	case e.told <- told:
	default:
		e.log.Warn("notices fall behind, some are not told", "messages", len(told))
	}
}

// ignore acknowledges what is of no interest.
func (e *Edge) ignore(d Delivery, rule string) {
	e.log.Debug("ignored", "rule", rule, "envelope", d.ID, "attempt", d.Attempt)
	e.finish(d)
}

func (e *Edge) finish(d Delivery) {
	e.inFlight.Add(-1)
	d.Ack()
}

// letGo forgets a delivery without acknowledging it.
func (e *Edge) letGo(Delivery) { e.inFlight.Add(-1) }
