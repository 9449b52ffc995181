package runtime

import "reeve/runtime/chat"

// MidRunMode is what an operator wants of messages that arrive while a turn
// runs.
type MidRunMode string

const (
	// ModeSteer: the message joins the running turn.
	ModeSteer MidRunMode = "steer"
	// ModeFollowUp: the message waits for a turn of its own author.
	ModeFollowUp MidRunMode = "follow_up"
	// ModeRouter: another author's message waits, and his own joins, until a small
	// model thinks otherwise; see Router.
	ModeRouter MidRunMode = "router"
)

// StopPolicy says who may stop a turn.
type StopPolicy string

const (
	StopByAnyone StopPolicy = "anyone"
	StopByActor  StopPolicy = "actor"
)

// Policy is what the operator chose. It holds for the deployment; nothing in
// a message changes it.
type Policy struct {
	SameActor  MidRunMode // of the author's own turn
	CrossActor MidRunMode // of another author's turn
	Stop       StopPolicy
}

// Decide says what becomes of a message in one state of its conversation. It
// is the only place where that is decided: the append step is sent the answers
// for every state and takes the one that is true. See doc.go for the table.
func Decide(s chat.State, m chat.Message, p Policy) chat.Disposition {
	switch {
	case m.Standing == chat.ContextOnly:
		return chat.AsContext
	case m.Stop:
		return decideStop(s, m, p)
	case !m.Addressed:
		return chat.AsContext
	}
	d := place(s, m, p)
	if s.Full != chat.NotFull {
		return chat.Refused
	}
	return d
}

// decideStop is about a stop word alone. It has no need of room.
func decideStop(s chat.State, m chat.Message, p Policy) chat.Disposition {
	switch {
	case s.Column == chat.OwnRuns, s.Column == chat.OwnParked:
		return chat.Stop
	case s.Column == chat.OtherRuns && p.Stop == StopByAnyone:
		return chat.Stop
	case s.OlderOwnWaiting:
		return chat.WithdrawOwn
	case m.Addressed && s.Column == chat.NoneRuns:
		return chat.NothingRunning
	case m.Addressed:
		// Another's turn runs and only its actor may stop it.
		return chat.Refused
	default:
		return chat.AsContext
	}
}

// place is where an addressed message goes if there is room. A plain message
// never overtakes an older waiting one of its author; a forced one does.
func place(s chat.State, m chat.Message, p Policy) chat.Disposition {
	behind := s.OlderOwnWaiting && !m.Forced
	switch s.Column {
	case chat.OwnRuns:
		if s.Stopping || behind || p.SameActor == ModeFollowUp && !m.Forced {
			return chat.Wait
		}
		return chat.SteerOwn
	case chat.OwnParked:
		switch {
		case s.Stopping:
			return chat.Wait
		case m.Forced:
			return chat.EndWait
		case behind:
			return chat.Wait
		}
		return chat.JoinParked
	case chat.OtherRuns:
		if s.Stopping || behind || p.CrossActor != ModeSteer && !m.Forced {
			return chat.Wait
		}
		return chat.SteerContext
	default:
		return chat.Start
	}
}

// DecideRow is the message's disposition in every state, as the append step
// takes it.
func DecideRow(m chat.Message, p Policy) chat.Row {
	row := make([]byte, chat.States)
	for i := range row {
		row[i] = Decide(chat.StateAt(i), m, p).Letter()
	}
	return chat.Row(row)
}
