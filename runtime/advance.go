package runtime

import (
	"context"
	"encoding/json"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// start runs a claimed turn, and those that its closing step claims after it,
// in a goroutine and a place of their own.
func (r *Runtime) start(c *mailbox.Claimed) {
	go func() {
		defer r.release()
		for c != nil {
			c = r.advance(c)
		}
	}()
}

// advance is one run: it carries a turn to its end, or as far as this process
// can. It answers the conversation's next turn when it has claimed one.
func (r *Runtime) advance(c *mailbox.Claimed) *mailbox.Claimed {
	ctx, h, done := r.hold(c)
	defer done()
	log := &turnLog{r: r, h: h, claimed: c, commits: c.Commits, length: len(c.Log), fixed: &fixed{}}
	unread := log.setAside(ctx, 0, c.Log)
	if unread == nil && !askedFor(c.Log) {
		unread = errNothingLeft
	}
	own := reader{c.Turn, c.Actor}.log(0, c.Log)
	r.opts.Slack.Show(Change{State: ShownStarted, Turn: c.Turn, Conversation: c.Conversation, Messages: messagesOf(own), Actor: c.Actor})
	r.opts.Logger.Info("turn runs", "turn", c.Turn, "conversation", c.Conversation.Key(), "actor", c.Actor.Key(), "attempt", c.Attempt,
		"messages", stamps(messagesOf(own)))
	err := unread
	if err == nil {
		err = r.work(ctx, c, own, log)
	}
	r.end(ctx, log, own, err)
	return log.next
}

// work does what the turn asks for, until it is closed or cannot go on.
func (r *Runtime) work(ctx context.Context, c *mailbox.Claimed, own []chat.Entry, log *turnLog) error {
	if r.isDraining() {
		return errHandedOver
	}
	facts, err := r.checkActor(ctx, c)
	if err != nil {
		return err
	}
	if facts.Standing == chat.ContextOnly {
		return &notAllowedError{facts.Why}
	}
	log.allowed = append(log.allowed, c.Actor)
	turn, err := r.turn(ctx, c, own, facts, log)
	if err != nil {
		return err
	}
	more, closed, err := log.report(ctx)
	if closed || err != nil {
		return err
	}
	turn.Own = append(turn.Own, more...)
	if more == nil && answered(turn.Own) {
		// An earlier run was lost between its answer and the close.
		steers, closed, err := log.finish(ctx, nil, nil)
		if closed || err != nil {
			return err
		}
		turn.Own = append(turn.Own, steers...)
	}
	return r.opts.Agent.Run(ctx, turn, log)
}

// answered reports whether the turn's last word is an answer of ours.
func answered(own []chat.Entry) bool {
	return len(own) > 0 && own[len(own)-1].Origin == chat.Answer
}

// notAllowedError: the turn's actor may not instruct.
type notAllowedError struct{ why string }

func (e *notAllowedError) Error() string { return "the author may not instruct: " + e.why }

// checkActor looks the turn's actor up before the first model call. A person
// who was checked when his message came goes on without Slack; one who was not
// waits for it, as long as the turn may run.
func (r *Runtime) checkActor(ctx context.Context, c *mailbox.Claimed) (Facts, error) {
	if !c.Actor.IsPerson() {
		return Facts{Standing: chat.MayInstruct}, nil
	}
	for wait := retryFacts; ; wait = min(2*wait, 15*time.Second) {
		facts, err := r.opts.Slack.Facts(ctx, c.Actor)
		if err == nil {
			return facts, nil
		}
		if !unchecked(c.Log) {
			return Facts{Standing: chat.MayInstruct}, nil
		}
		r.opts.Logger.Warn("actor not looked up", "turn", c.Turn, "actor", c.Actor.Key(), "err", err)
		select {
		case <-ctx.Done():
			return Facts{}, context.Cause(ctx)
		case <-r.ending:
			return Facts{}, errHandedOver
		case <-time.After(wait):
		}
	}
}

// unchecked reports whether any of the turn's requests came before its author
// was looked up.
func unchecked(log []mailbox.Item) bool {
	for _, item := range log {
		var m chat.Message
		if item.Taken == mailbox.TakenRequest && (json.Unmarshal(item.Body, &m) != nil || m.Standing != chat.MayInstruct) {
			return true
		}
	}
	return false
}

func firstMessage(own []chat.Entry) chat.TS {
	for _, e := range own {
		if e.Origin == chat.Request && e.Message != nil {
			return e.Message.TS
		}
	}
	return ""
}

func visibility(log []mailbox.Item) chat.Visibility {
	for _, item := range log {
		var m chat.Message
		if item.Taken == mailbox.TakenRequest && json.Unmarshal(item.Body, &m) == nil {
			return m.Visibility
		}
	}
	return ""
}

// messagesOf are the turn's own messages in Slack, in their order.
func messagesOf(own []chat.Entry) []chat.MessageID {
	var ids []chat.MessageID
	for _, e := range own {
		if e.Message == nil || !e.Message.TS.Posted() || e.Origin != chat.Request && e.Origin != chat.Steer {
			continue
		}
		if len(ids) == 0 || ids[len(ids)-1] != *e.Message {
			ids = append(ids, *e.Message)
		}
	}
	return ids
}

// stamps names messages of one conversation in a line of the log.
func stamps(ids []chat.MessageID) []chat.TS {
	list := make([]chat.TS, len(ids))
	for i, id := range ids {
		list[i] = id.TS
	}
	return list
}
