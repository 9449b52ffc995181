package runtime

import (
	"context"
	"encoding/json"
	"slices"

	"reeve/agent"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// turn gathers what the loop is given: the history, the thread, what plugins
// add and the turn's own entries. What only its first run can know is fixed in
// that run's first commit, so that a resumed one shows the same.
func (r *Runtime) turn(ctx context.Context, c *mailbox.Claimed, own []chat.Entry, facts Facts, log *turnLog) (agent.Turn, error) {
	own, fixed := begun(own)
	if !fixed.known {
		fixed.Actor, fixed.Zone, fixed.news = facts.Name, facts.Zone, true
	}
	log.fixed = &fixed
	t := agent.Turn{ID: c.Turn, Conversation: c.Conversation, Actor: c.Actor, Bot: r.opts.Bot, Visibility: visibility(c.Log)}
	var made setup
	if json.Unmarshal(c.Setup, &made) == nil {
		t.Offered = made.Tools
	}
	t.Waited = waited(c.Waited)
	if !c.Actor.IsPerson() { // whatever there is to read of it: no list is no tool
		t.Offered = append([]string{}, made.Nobodys...)
		if who := creators(dues(c.Log)); len(who) > 0 {
			t.Payer = who[0]
		}
	}
	past, err := r.history(ctx, c, own, fixed)
	if err != nil {
		return t, err
	}
	if c.Fresh && past.missing {
		fixed.Note, fixed.From = "Older turns of this thread are not shown.", past.from
	}
	if first := firstMessage(own); c.Fresh && !past.worked && first != "" && first != c.Conversation.Root {
		read, missing, err := r.readThread(ctx, c, first, log)
		if err != nil {
			return t, err
		}
		if missing {
			fixed.Note = "Older messages of this thread are not shown."
		}
		own = append(read, own...)
	}
	thread, added, its := divided(own)
	t.Before, t.Own = append(past.entries, thread...), its
	for _, e := range own {
		if e.Role == chat.AssistantRole {
			t.Steps++
		}
		t.Tokens += e.Tokens
	}
	t.ActorName, t.Zone, t.Note = fixed.Actor, fixed.Zone, fixed.Note
	r.name(t.Before, &fixed)
	r.name(t.Own, &fixed)
	if c.Fresh {
		added = r.sections(ctx, t)
		if err := log.begin(ctx, added); err != nil {
			return t, err
		}
	}
	t.Before = append(t.Before, added...)
	log.mentions = participants(t.Before, t.Own)
	return t, nil
}

// divided are the entries of a turn's log: what was read of its thread, what
// plugins added for it, and its own. A summary is in the past, if it stands for
// anything.
func divided(log []chat.Entry) (thread, sections, own []chat.Entry) {
	for _, e := range log {
		switch e.Origin {
		case chat.Thread:
			thread = append(thread, e)
		case chat.Section:
			sections = append(sections, e)
		case chat.Summary:
		default:
			own = append(own, e)
		}
	}
	return thread, sections, own
}

// readThread asks Slack for what was said before the turn's first message. A
// thread that cannot be read costs the turn its background, not its answer.
func (r *Runtime) readThread(ctx context.Context, c *mailbox.Claimed, first chat.TS, log *turnLog) ([]chat.Entry, bool, error) {
	messages, missing, err := r.opts.Slack.Thread(ctx, c.Conversation, first.Short())
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
	entries, err := log.said(messages)
	return entries, missing, err
}

// sections are what plugins add to the turn's prompt.
func (r *Runtime) sections(ctx context.Context, t agent.Turn) []chat.Entry {
	if r.opts.Sections == nil {
		return nil
	}
	return slices.Clone(r.opts.Sections(ctx, t.Run()))
}

// past is what a turn is shown of the turns before it.
type past struct {
	entries []chat.Entry
	missing bool  // older ones are left out
	from    int64 // the closing number of the oldest that is not
	// worked: one of them did more than find that its author may not instruct,
	// so that the thread around it has been read.
	worked bool
}

// history are the closed turns before the turn's first claim, in closing
// order, as its actor may see them: from his last summary on, which may stand
// in the turn's own log, or the newest up to the one that exceeds the budget: a
// summary can stand for that one too.
func (r *Runtime) history(ctx context.Context, c *mailbox.Claimed, own []chat.Entry, fixed fixed) (past, error) {
	var p past
	last, found := summary(own, c.Actor)
	through := func() int64 { // what the last summary stands for need not be read
		if !found {
			return 0
		}
		return last.Covers.To
	}
	var turns [][]chat.Entry
	left := r.opts.HistoryTokens * 3
	if c.History > through() {
		if _, err := r.opts.Box.History(ctx, c.Conversation, c.History, func(t mailbox.ClosedTurn) bool {
			if t.Number <= through() {
				return false
			}
			if fixed.From > 0 && t.Number < fixed.From || fixed.From == 0 && left < 0 {
				p.missing = true
				return false
			}
			entries := shown(t, c.Actor)
			for _, e := range entries {
				left -= size(e)
			}
			p.worked, p.from = p.worked || t.Outcome != mailbox.Withdrawn, t.Number
			turns = append(turns, entries)
			if s, ok := r.earlier(t, c.Actor); ok && (!found || s.Covers.To > last.Covers.To) {
				last, found = s, true
			}
			return t.Number-1 > through()
		}); err != nil {
			return p, err
		}
	}
	if found {
		p.worked = true
		p.entries = []chat.Entry{last}
	}
	for _, entries := range slices.Backward(turns) {
		p.entries = append(p.entries, entries...)
	}
	return p, nil
}

// earlier is the summary that a closed turn of actor made, as context of a
// later one.
func (r *Runtime) earlier(t mailbox.ClosedTurn, actor chat.Actor) (chat.Entry, bool) {
	if t.Actor != actor {
		return chat.Entry{}, false
	}
	return summary(reader{t.Turn, t.Actor}.log(0, t.Log), actor)
}

// waited is a wait for the turn's actor that is over. What else a turn may have
// waited for is nothing that the loop knows of.
func waited(w *mailbox.Waited) *agent.Waited {
	if w == nil {
		return nil
	}
	over := agent.Waited{ID: string(w.ID), Ending: w.Ended}
	if json.Unmarshal(w.For, &over.Asking) != nil || len(over.Questions) == 0 && over.Provider == "" || over.How == "" {
		return nil
	}
	return &over
}
