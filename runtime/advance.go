package runtime

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"reeve/agent"
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
	log := &turnLog{r: r, h: h, claimed: c, commits: c.Commits, length: len(c.Log)}
	unread := log.setAside(ctx, 0, c.Log)
	if unread == nil && !askedFor(c.Log) {
		unread = errNothingLeft
	}
	own := entriesOfLog(c.Turn, 0, c.Log)
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
	if answered(turn.Own) {
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

// turn gathers what the loop is given: the history, the thread and the turn's
// own entries. A first mention inside an older thread reads it from Slack, and
// commits it before the first model call, so that a resumed run shows the same.
func (r *Runtime) turn(ctx context.Context, c *mailbox.Claimed, own []chat.Entry, facts Facts, log *turnLog) (agent.Turn, error) {
	t := agent.Turn{
		ID: c.Turn, Conversation: c.Conversation, Actor: c.Actor, ActorName: facts.Name, Zone: facts.Zone,
		Bot: r.opts.Bot, Visibility: visibility(c.Log),
	}
	var fixed setup
	if json.Unmarshal(c.Setup, &fixed) == nil {
		t.Offered = fixed.Tools
	}
	past, err := r.history(ctx, c)
	if err != nil {
		return t, err
	}
	if past.missing {
		t.Note = "Older turns of this thread are not shown."
	}
	if first := firstMessage(own); c.Fresh && !past.worked && first != "" && first != c.Conversation.Root {
		read, missing, err := r.readThread(ctx, c, first, log)
		if err != nil {
			return t, err
		}
		if missing {
			t.Note = "Older messages of this thread are not shown."
		}
		own = append(read, own...)
	}
	t.Before = past.entries
	for _, e := range own {
		switch e.Origin {
		case chat.Thread:
			t.Before = append(t.Before, e)
		default:
			t.Own = append(t.Own, e)
		}
		if e.Role == chat.AssistantRole {
			t.Steps++
			t.Tokens += e.Tokens
		}
	}
	r.name(t.Before)
	r.name(t.Own)
	log.mentions = participants(t.Before, t.Own)
	return t, nil
}

// readThread asks Slack for what was said before the turn's first message. A
// thread that cannot be read costs the turn its background, not its answer.
func (r *Runtime) readThread(ctx context.Context, c *mailbox.Claimed, first chat.TS, log *turnLog) ([]chat.Entry, bool, error) {
	messages, missing, err := r.opts.Slack.Thread(ctx, c.Conversation, first)
	if err != nil {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		r.opts.Logger.Warn("thread not read", "turn", c.Turn, "err", err)
		return nil, true, nil
	}
	messages = slices.DeleteFunc(messages, func(m chat.Message) bool { return m.ID.TS >= first })
	if len(messages) == 0 {
		return nil, missing, nil
	}
	entries, err := log.before(ctx, messages)
	return entries, missing, err
}

// past is what a turn is shown of the turns before it.
type past struct {
	entries []chat.Entry
	missing bool // older ones are left out
	// worked: one of them did more than find that its author may not instruct,
	// so that the thread around it has been read.
	worked bool
}

// history are the closed turns before the turn's first claim, in closing
// order, as its actor may see them, the newest that fit the budget.
func (r *Runtime) history(ctx context.Context, c *mailbox.Claimed) (past, error) {
	var p past
	if c.History == 0 {
		return p, nil
	}
	var turns [][]chat.Entry
	left := r.opts.HistoryTokens * 3
	missing, err := r.opts.Box.History(ctx, c.Conversation, c.History, func(t mailbox.ClosedTurn) bool {
		p.worked = p.worked || t.Outcome != mailbox.Withdrawn
		entries := shown(t, c.Actor)
		for _, e := range entries {
			left -= size(e)
		}
		if left < 0 {
			return false
		}
		turns = append(turns, entries)
		return true
	})
	if err != nil {
		return p, err
	}
	p.missing = missing
	for i := len(turns) - 1; i >= 0; i-- {
		p.entries = append(p.entries, turns[i]...)
	}
	return p, nil
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

// messagesOf are the turn's own messages, in their order.
func messagesOf(own []chat.Entry) []chat.MessageID {
	var ids []chat.MessageID
	for _, e := range own {
		if e.Message == nil || e.Origin != chat.Request && e.Origin != chat.Steer {
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
