package app

import (
	"context"

	"reeve/agent"
	"reeve/runtime"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp"
)

// Points are the points on a message's way that Options.At is told of, in their
// order. At each of them the process may die, and no promise breaks.
var Points = []string{
	"received",     // nothing stands in the store
	"put",          // it does, and Slack has no acknowledgement
	"acknowledged", // Slack may have it
	"claimed",      // the turn runs
	"committing",   // the model wants calls to be made
	"committed",    // the calls may be made
	"boundary",     // they were made, and their results are in no log
	"taken",        // they are, and so are the steers that waited
	"closing",      // the answer is in no log
	"posting",      // it stands in the outbox, and the turn has ended or goes on
	"closed",       // the same, and the sender has it
	"posted",       // Slack has it, and the outbox does not know
	"marked",       // it does
}

// pointed lets Options.At look at what passes between the parts; where it is
// nil, they are joined without anything between them.
type pointed struct{ at func(string) }

func (p pointed) inbox(in slackapp.Inbox) slackapp.Inbox {
	if p.at == nil {
		return in
	}
	return pointedInbox{in, p.at}
}

func (p pointed) notices(n slackapp.Notices) slackapp.Notices {
	if p.at == nil {
		return n
	}
	return pointedNotices{n, p.at}
}

func (p pointed) store(s slackapp.Store) slackapp.Store {
	if p.at == nil {
		return s
	}
	return pointedStore{s, p.at}
}

func (p pointed) slack(s runtime.Slack) runtime.Slack {
	if p.at == nil {
		return s
	}
	return pointedSlack{s, p.at}
}

func (p pointed) agent(a runtime.Agent) runtime.Agent {
	if p.at == nil {
		return a
	}
	return pointedAgent{a, p.at}
}

type pointedInbox struct {
	slackapp.Inbox
	at func(string)
}

func (p pointedInbox) Deliver(ctx context.Context, in []chat.Message) []runtime.Outcome {
	p.at("received")
	defer p.at("put")
	return p.Inbox.Deliver(ctx, in)
}

type pointedNotices struct {
	slackapp.Notices
	at func(string)
}

func (p pointedNotices) Told(ctx context.Context, outcomes []runtime.Outcome) {
	p.at("acknowledged")
	p.Notices.Told(ctx, outcomes)
}

type pointedStore struct {
	slackapp.Store
	at func(string)
}

func (p pointedStore) Sent(ctx context.Context, lease mailbox.SendLease, done ...mailbox.Posted) ([]chat.Part, error) {
	if len(done) > 0 {
		p.at("posted")
		defer p.at("marked")
	}
	return p.Store.Sent(ctx, lease, done...)
}

func (p pointedStore) Release(ctx context.Context, lease mailbox.SendLease, done ...mailbox.Posted) error {
	if len(done) > 0 {
		p.at("posted")
		defer p.at("marked")
	}
	return p.Store.Release(ctx, lease, done...)
}

type pointedSlack struct {
	runtime.Slack
	at func(string)
}

func (p pointedSlack) Post(lease mailbox.SendLease, parts []chat.Part) {
	p.at("posting")
	p.Slack.Post(lease, parts)
}

type pointedAgent struct {
	runtime.Agent
	at func(string)
}

func (p pointedAgent) Run(ctx context.Context, turn agent.Turn, log agent.Log) error {
	p.at("claimed")
	return p.Agent.Run(ctx, turn, pointedLog{log, p.at})
}

type pointedLog struct {
	agent.Log
	at func(string)
}

func (p pointedLog) Commit(ctx context.Context, entries ...chat.Entry) error {
	p.at("committing")
	defer p.at("committed")
	return p.Log.Commit(ctx, entries...)
}

func (p pointedLog) Boundary(ctx context.Context, entries ...chat.Entry) ([]chat.Entry, error) {
	p.at("boundary")
	defer p.at("taken")
	return p.Log.Boundary(ctx, entries...)
}

func (p pointedLog) Close(ctx context.Context, answer chat.Entry) ([]chat.Entry, bool, error) {
	p.at("closing")
	defer p.at("closed")
	return p.Log.Close(ctx, answer)
}
