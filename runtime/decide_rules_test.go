package runtime

import (
	"slices"
	"testing"

	"reeve/runtime/chat"
)

// rule checks every case: it answers what is wrong with a disposition, or "".
func rule(t *testing.T, wrong func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string) {
	t.Helper()
	everyCase(func(s chat.State, m chat.Message, p Policy, d chat.Disposition) {
		if w := wrong(s, m, p, d); w != "" {
			t.Errorf("%s: %+v addressed=%v forced=%v stop=%v %s under %+v: %s", w, s, m.Addressed, m.Forced, m.Stop, m.Standing, p, d)
		}
	})
}

func is(d chat.Disposition, any ...chat.Disposition) bool { return slices.Contains(any, d) }

func TestP4_WhoMayNotInstructIsContextAtMost(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if m.Standing == chat.ContextOnly && d != chat.AsContext {
			return "it starts, steers or stops"
		}
		return ""
	})
}

func TestP4_UncheckedIsDecidedLikeWhoMayInstruct(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if m.Standing == chat.ContextOnly {
			return ""
		}
		for _, standing := range []chat.Standing{chat.MayInstruct, chat.Unchecked} {
			m.Standing = standing
			if Decide(s, m, p) != d {
				return "standing " + string(standing) + " changes it"
			}
		}
		return ""
	})
}

func TestP4_UnaddressedNeverStartsOrSteers(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if !m.Addressed && !is(d, chat.AsContext, chat.Stop, chat.WithdrawOwn) {
			return "it is more than context or a stop"
		}
		if !m.Addressed && !m.Stop && d != chat.AsContext {
			return "it is more than context"
		}
		return ""
	})
}

func TestP4_StopIsNeverRefusedForRoomNorReachesTheModel(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if !m.Stop || m.Standing == chat.ContextOnly {
			return ""
		}
		room := s
		room.Full = chat.NotFull
		switch {
		case d != Decide(room, m, p):
			return "it depends on room"
		case is(d, chat.Start, chat.Wait, chat.SteerOwn, chat.SteerContext, chat.JoinParked, chat.EndWait):
			return "a control word becomes text for the model"
		}
		return ""
	})
}

func TestP4_StopPolicy(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if !m.Stop || m.Standing == chat.ContextOnly {
			return ""
		}
		own := s.Column == chat.OwnRuns || s.Column == chat.OwnParked
		switch {
		case own && d != chat.Stop:
			return "he cannot stop his own turn"
		case s.Column == chat.OtherRuns && p.Stop == StopByActor && d == chat.Stop:
			return "it stops another's turn"
		case s.Column == chat.OtherRuns && p.Stop == StopByAnyone && d != chat.Stop:
			return "it does not stop another's turn"
		case s.Column == chat.NoneRuns && d == chat.Stop:
			return "it stops what does not run"
		case s.Column == chat.NoneRuns && s.OlderOwnWaiting && d != chat.WithdrawOwn:
			return "it does not withdraw his waiting messages"
		case d == chat.NothingRunning && !m.Addressed:
			return "an answer to somebody who did not ask"
		}
		return ""
	})
}

func instructs(m chat.Message) bool {
	return m.Addressed && !m.Stop && m.Standing != chat.ContextOnly
}

func TestP4_OnlyAFullLaneRefuses(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if instructs(m) && (d == chat.Refused) != (s.Full != chat.NotFull) {
			return "refused and full differ"
		}
		return ""
	})
}

func TestP4_OthersTextEntersATurnAsContextOnly(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		switch {
		case s.Column == chat.OtherRuns && is(d, chat.SteerOwn, chat.JoinParked, chat.EndWait, chat.Start):
			return "another's turn takes it as its own"
		case s.Column != chat.OtherRuns && d == chat.SteerContext:
			return "his own words become context"
		}
		return ""
	})
}

func TestP4_PlainNeverOvertakesForcedAlwaysDoes(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if !instructs(m) || s.Full != chat.NotFull || s.Column == chat.NoneRuns {
			return ""
		}
		enters := is(d, chat.SteerOwn, chat.SteerContext, chat.JoinParked, chat.EndWait)
		switch {
		case !m.Forced && s.OlderOwnWaiting && enters:
			return "it overtakes an older one of its author"
		case m.Forced && !s.Stopping && !enters:
			return "a forced message waits"
		}
		return ""
	})
}

func TestP4_WhatStopsTakesNoMoreSteers(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if instructs(m) && s.Stopping && s.Full == chat.NotFull && s.Column != chat.NoneRuns && d != chat.Wait {
			return "it enters a turn that ends"
		}
		return ""
	})
}

func TestP4_ModesGovernPlainMessagesOfTheirColumnAlone(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		for _, q := range policies() {
			same := q.SameActor == p.SameActor || s.Column != chat.OwnRuns
			cross := q.CrossActor == p.CrossActor || s.Column != chat.OtherRuns
			stop := q.Stop == p.Stop || !m.Stop
			if m.Forced && !m.Stop {
				same, cross = true, true
			}
			if same && cross && stop && Decide(s, m, q) != d {
				return "a policy changes it that is about something else"
			}
		}
		return ""
	})
}

func TestP4_NothingIsLostWhereNoneRuns(t *testing.T) {
	rule(t, func(s chat.State, m chat.Message, p Policy, d chat.Disposition) string {
		if instructs(m) && s.Column == chat.NoneRuns && s.Full == chat.NotFull && d != chat.Start {
			return "it starts nothing"
		}
		return ""
	})
}
