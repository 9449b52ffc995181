package runtime

import (
	"context"
	"log/slog"
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// Deliver puts messages into the mailbox in one step and starts the turns that
// they begin. Outcome i is that of message i, and is durable unless it has an
// error.
func (r *Runtime) Deliver(ctx context.Context, in []chat.Message) []Outcome {
	outcomes := make([]Outcome, len(in))
	puts, at := make([]mailbox.Put, 0, len(in)), make([]int, 0, len(in))
	for i, m := range in {
		if nobodys(m) {
			outcomes[i] = Outcome{Message: m, Disposition: chat.Ignored}
			continue
		}
		at = append(at, i)
		puts = append(puts, mailbox.Put{
			Message: m, Row: RowOf(m, r.opts.Policy, time.Now()),
			Turn: newTurnID(), Setup: r.setup(), Claim: r.reserve(),
		})
	}
	if len(puts) == 0 {
		return outcomes
	}
	results, errs := r.opts.Box.PutAll(ctx, puts)
	for n, result := range results {
		outcomes[at[n]] = r.accept(puts[n].Message, result, errs[n])
		switch {
		case result.Claimed != nil:
			r.start(result.Claimed)
		case puts[n].Claim:
			r.release()
		}
		r.tellHolder(result)
	}
	r.route(outcomes)
	r.enter(ctx, outcomes)
	return outcomes
}

// enter puts messages that enter by an edit: each under its own id, and so once.
func (r *Runtime) enter(ctx context.Context, outcomes []Outcome) {
	for i, o := range outcomes {
		if o.Err == nil && o.Disposition == chat.Enter {
			o.Message.Change = nil
			outcomes[i] = r.Deliver(ctx, []chat.Message{o.Message})[0]
		}
	}
}

// nobodys: a message at the top of a channel that does not address the bot
// stands in no conversation of ours, and costs no look-up.
func nobodys(m chat.Message) bool {
	top := m.Conversation.Root == m.ID.TS
	return m.Change == nil && top && m.Visibility != chat.DM && (!m.Addressed || m.Standing == chat.ContextOnly)
}

// accept reads what became of one message, and says it in the log.
func (r *Runtime) accept(m chat.Message, result mailbox.PutResult, err error) Outcome {
	if err != nil {
		r.opts.Logger.Error("message not stored", "conversation", m.Conversation.Key(), "ts", m.ID.TS, "err", err)
		return Outcome{Message: m, Err: err}
	}
	m.Conversation = result.Conversation
	if m.Author.IsZero() {
		m.Author = result.Author // of a deletion
	}
	o := Outcome{
		Message: m, Disposition: result.Disposition, First: result.First, Turn: result.Turn,
		Runs: result.Runs, Withdrawn: result.Withdrawn, Below: result.Below,
	}
	r.opts.Count(CountMessages, string(o.Disposition), 1)
	level := slog.LevelInfo
	if o.Disposition == chat.Ignored {
		level = slog.LevelDebug
	}
	r.opts.Logger.Log(context.Background(), level, "message", fate(o)...)
	return o
}

// fate is a message's outcome as one line of the log, without its text.
func fate(o Outcome) []any {
	var args []any
	if o.Message.Change != nil {
		args = append(args, "change", o.Message.Change.Kind)
	}
	args = append(args,
		"disposition", o.Disposition, "conversation", o.Message.Conversation.Key(), "ts", o.Message.ID.TS,
		"author", o.Message.Author.Key(), "turn", o.Turn)
	if o.Disposition == chat.Duplicate {
		args = append(args, "first", o.First)
	}
	if o.Message.Forced {
		args = append(args, "forced", true)
	}
	if !o.Runs.IsZero() {
		args = append(args, "runs", o.Runs.Key())
	}
	if len(o.Withdrawn) > 0 {
		args = append(args, "withdrawn", len(o.Withdrawn))
	}
	return args
}

// tellHolder passes on what concerns a turn of this process, without waiting
// for the message that the store publishes.
func (r *Runtime) tellHolder(result mailbox.PutResult) {
	switch result.Disposition {
	case chat.SteerOwn, chat.SteerContext:
		r.signal(mailbox.Signal{Steer: result.Turn})
	case chat.Stop:
		r.signal(mailbox.Signal{Stop: result.Turn})
	}
}
