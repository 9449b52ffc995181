package runtime

import (
	"context"
	"errors"
	"slices"
	"time"

	"reeve/agent"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// end is what follows a run: the turn is closed already, or is closed now as
// what the error says, or is left for another worker.
func (r *Runtime) end(ctx context.Context, log *turnLog, own []chat.Entry, err error) {
	var stopped *agent.Stopped
	if err != nil && ctx.Err() != nil && !errors.As(err, &stopped) && !errors.Is(err, agent.ErrParked) {
		err = context.Cause(ctx)
	}
	if stopped != nil && log.h.held.Err() != nil {
		err = context.Cause(log.h.held)
	}
	var failure *agent.Failure
	var notAllowed *notAllowedError
	switch {
	case err == nil:
		r.ended(log, own, mailbox.Done)
	case errors.Is(err, agent.ErrParked):
		r.opts.Logger.Info("turn waits for its actor", "turn", log.h.ref.Turn, "conversation", log.h.ref.Conversation.Key(), "actor", log.h.actor.Key())
	case errors.Is(err, errStopped):
		r.closeStopped(log, own, stopped)
	case errors.Is(err, errHandedOver):
		if err := r.handOver(log); err != nil {
			r.opts.Logger.Warn("turn not handed over", "turn", log.h.ref.Turn, "err", err)
		}
	case errors.Is(err, errLeaseLost):
		r.opts.Logger.Warn("turn lost", "turn", log.h.ref.Turn, "err", err)
		r.giveBack(log)
	case errors.Is(err, errNothingLeft):
		r.closeAs(log, own, mailbox.Withdrawn, "", nil)
	case errors.As(err, &notAllowed):
		r.closeNotAllowed(log, own, notAllowed.why)
	case errors.As(err, &failure):
		r.opts.Logger.Error("turn failed", "turn", log.h.ref.Turn, "kind", failure.Kind, "err", failure.Cause)
		r.closeAs(log, own, mailbox.Failed, failure.Sentence(log.h.ref.Turn), nil)
	default:
		r.opts.Logger.Error("turn interrupted", "turn", log.h.ref.Turn, "err", err)
		r.giveBack(log)
	}
}

// closeAs ends the turn with what is still to be written, and one sentence to
// its actor.
func (r *Runtime) closeAs(log *turnLog, own []chat.Entry, outcome mailbox.Outcome, sentence string, last []chat.Entry) {
	var parts []chat.Part
	if sentence != "" {
		told := sentence
		sentence = log.heading() + sentence
		parts = log.parts([]string{sentence})
		parts = append(parts, log.failedDue(outcome, told, len(parts))...)
		last = append(last, chat.Entry{
			Role: chat.AssistantRole, Origin: chat.Answer, Text: sentence, Posted: true,
			Provenance: &chat.Provenance{Authority: chat.Context},
		})
	}
	parts = append(append(parts, log.directs(last, len(parts))...), log.overtaken(last)...)
	entries, err := encode(last)
	if err != nil {
		r.opts.Logger.Error("last entries lost", "turn", log.h.ref.Turn, "err", err)
	}
	closing, err := log.close(context.Background(), outcome, entries, parts)
	if err != nil || !closing.Closed {
		r.opts.Logger.Error("turn not closed", "turn", log.h.ref.Turn, "outcome", outcome, "err", err)
		r.giveBack(log)
		return
	}
	r.ended(log, own, outcome)
}

// closeStopped says that the turn was stopped, by whom when it was not its
// actor, and what became of calls that had begun.
func (r *Runtime) closeStopped(log *turnLog, own []chat.Entry, stopped *agent.Stopped) {
	sentence := mailbox.StoppedText
	pulses, errs := r.opts.Box.Renew(context.Background(), []mailbox.Ref{log.h.ref})
	if errs[0] != nil {
		r.opts.Logger.Warn("turn lost", "turn", log.h.ref.Turn, "err", errs[0])
		r.giveBack(log)
		return
	}
	switch stop := pulses[0].Stop; {
	case stop == nil:
	case stop.By == mailbox.Deletion:
		sentence = mailbox.DeletedText
	case stop.By != log.h.actor && stop.By.IsPerson():
		sentence = "Stopped by <@" + string(stop.By.User) + ">."
		log.mentions = append(log.mentions, stop.By.User)
	}
	if stopped == nil {
		stopped = &agent.Stopped{}
	}
	for _, c := range stopped.Calls {
		if c.Finished {
			sentence += " `" + c.Tool + "` had begun and was finished."
		} else {
			sentence += " `" + c.Tool + "` had begun; what it did is unknown."
		}
	}
	r.closeAs(log, own, mailbox.Stopped, sentence, stopped.Results)
}

// closeNotAllowed ends a turn whose author may not instruct: his messages are
// context, and he is told in private.
func (r *Runtime) closeNotAllowed(log *turnLog, own []chat.Entry, why string) {
	r.closeAs(log, own, mailbox.Withdrawn, "", nil)
	var messages []chat.TS
	for _, id := range messagesOf(own) {
		messages = append(messages, id.TS)
	}
	r.notAllowed(log.h.ref.Conversation, log.h.actor, messages, why)
}

func (r *Runtime) handOver(log *turnLog) error {
	err := r.opts.Box.HandOver(context.Background(), log.h.ref)
	if err == nil {
		r.opts.Logger.Info("turn handed over", "turn", log.h.ref.Turn)
	}
	return err
}

// giveBack hands over, as soon as the store answers, a turn that an outage of
// the store broke off: it goes on at once and no attempt is counted. What broke
// off for any other reason is left to the end of its lease, and counts.
func (r *Runtime) giveBack(log *turnLog) {
	for pause := 50 * time.Millisecond; r.opts.Box.Troubled(); pause = min(2*pause, time.Second) {
		err := r.handOver(log)
		if err == nil || errors.Is(err, mailbox.ErrStale) {
			return
		}
		select {
		case <-time.After(pause):
		case <-r.cut.Done():
			return
		}
	}
}

// distinct leaves out each id that comes again later: an edited message is read
// twice.
func distinct(ids []chat.MessageID) []chat.MessageID {
	var list []chat.MessageID
	for i, id := range ids {
		if !slices.Contains(ids[i+1:], id) {
			list = append(list, id)
		}
	}
	return list
}

// ended shows what became of the turn.
func (r *Runtime) ended(log *turnLog, own []chat.Entry, outcome mailbox.Outcome) {
	r.opts.Count(CountEnded, string(outcome), 1)
	r.mu.Lock()
	handedBack := log.h.handedBack
	r.mu.Unlock()
	messages := slices.DeleteFunc(distinct(append(messagesOf(own), log.steered...)), func(id chat.MessageID) bool {
		return slices.Contains(handedBack, id) // it waits
	})
	r.opts.Logger.Info("turn ended", "turn", log.h.ref.Turn, "conversation", log.h.ref.Conversation.Key(), "outcome", outcome,
		"messages", stamps(messages))
	state := ShownEnded
	if outcome == mailbox.Done {
		state = ShownDone
	}
	r.opts.Slack.Show(Change{
		State: state, Turn: log.h.ref.Turn, Conversation: log.h.ref.Conversation,
		Messages: messages, Actor: log.h.actor,
	})
	if len(log.withdrawn) > 0 {
		r.opts.Slack.Show(Change{
			State: ShownEnded, Turn: log.h.ref.Turn, Conversation: log.h.ref.Conversation, Messages: log.withdrawn,
		})
	}
}
