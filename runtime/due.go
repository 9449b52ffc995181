package runtime

import (
	"context"
	"errors"
	"fmt"

	"reeve/plugins"
	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// What is due: work that somebody has asked for at a time. It enters a
// conversation as a message of the Scheduler's and makes a turn of that actor,
// which is decided, ordered, leased and stopped like any other, and is nobody's:
// it spends no rights, parks for nobody, and has no DM.
//
// The message's id follows from what is due and when, so that putting it is all
// that has to be done once: the mailbox knows a message that it has (P3), from
// whichever replica it comes and whoever was killed around it.

// StartDue begins the turn of something that is due; see plugins.Services.Start.
// plugin is whose it is.
func (r *Runtime) StartDue(ctx context.Context, plugin string, d plugins.Due) (started bool, err error) {
	m := dueMessage(plugin, d)
	if !d.CreatedBy.IsPerson() || d.Key == "" || d.Conversation.Channel == "" {
		return false, fmt.Errorf("start what is due: it does not say what it is, whose, or where")
	}
	known, err := r.opts.Box.Known(ctx, m.ID)
	if known || err != nil {
		return false, err
	}
	refusal, err := r.mayBegin(ctx, &m)
	if err != nil {
		return false, err
	}
	if refusal != "" {
		m.Due.Report, m.Due.Note = true, "It has ended: "+string(refusal)
	}
	result, err := r.putDue(ctx, m)
	switch {
	case err != nil:
		return false, err
	case refusal != "":
		r.opts.Logger.Info("due work ended", "conversation", d.Conversation.Key(), "actor", d.CreatedBy.Key(), "why", string(refusal))
		return false, refusal
	}
	switch result.Disposition {
	case chat.Start, chat.Wait, chat.SteerOwn, chat.JoinParked:
		return true, nil
	case chat.Duplicate:
		return false, nil
	case chat.Refused:
		return false, fmt.Errorf("start what is due in %s: too much waits there already", d.Conversation.Key())
	}
	return false, fmt.Errorf("start what is due in %s: it was taken as %q", d.Conversation.Key(), result.Disposition)
}

func dueMessage(plugin string, d plugins.Due) chat.Message {
	key := plugin + "/" + d.Key
	return chat.Message{
		ID:           chat.MessageID{Team: d.Conversation.Team, Channel: d.Conversation.Channel, TS: chat.DueTS(key, d.At)},
		Conversation: d.Conversation, Author: chat.Scheduler, Standing: chat.MayInstruct, Addressed: true, Text: d.Text,
		Due: &chat.Due{
			Key: key, CreatedBy: d.CreatedBy, Created: d.Created.UTC(), At: d.At.UTC(), Zone: d.Zone, Note: d.Note, Report: d.Report,
		},
	}
}

// mayBegin asks whether whoever asked for it may still instruct, and is still
// where he asked. It fills in what the turn has to know of both. A refusal says
// why not; m then says where that can be told.
func (r *Runtime) mayBegin(ctx context.Context, m *chat.Message) (plugins.Refusal, error) {
	who := m.Due.CreatedBy
	facts, err := r.opts.Slack.Facts(ctx, who)
	if err != nil {
		return "", err
	}
	m.Text = dueRequest(m.Due, facts.Name) + m.Text
	if facts.Standing == chat.ContextOnly {
		return plugins.Refusal("<@" + string(who.User) + "> has " + facts.Why + "."), nil
	}
	if r.opts.Place == nil {
		return "", nil
	}
	m.Visibility, err = r.opts.Place(ctx, who, m.Conversation)
	if refusal, gone := errors.AsType[plugins.Refusal](err); gone {
		m.Due.Privately = true
		return refusal, nil
	}
	return "", err
}

// putDue puts the message and starts the turn that it begins. It steers nothing:
// what is due waits for a turn of its own.
func (r *Runtime) putDue(ctx context.Context, m chat.Message) (mailbox.PutResult, error) {
	put := mailbox.Put{
		Message: m, Row: DecideRow(m, Policy{SameActor: ModeFollowUp, CrossActor: ModeFollowUp}),
		Turn: newTurnID(), Setup: r.setup(), Claim: r.reserve(),
	}
	results, errs := r.opts.Box.PutAll(ctx, []mailbox.Put{put})
	r.accept(m, results[0], errs[0])
	switch {
	case results[0].Claimed != nil:
		r.start(results[0].Claimed)
	case put.Claim:
		r.release()
	}
	return results[0], errs[0]
}
