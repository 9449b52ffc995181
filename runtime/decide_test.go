package runtime

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reeve/cmd/app/apptest/golden"
	"reeve/runtime/chat"
)

// kinds are all messages that Decide can tell apart, in the order of the
// golden table's columns.
var kinds = []struct {
	name string
	chat.Message
}{
	{"plain", chat.Message{Addressed: true}},
	{"forced", chat.Message{Addressed: true, Forced: true}},
	{"stop", chat.Message{Addressed: true, Stop: true}},
	{"forced stop", chat.Message{Addressed: true, Stop: true, Forced: true}},
	{"unaddr. stop", chat.Message{Stop: true}},
	{"unaddressed", chat.Message{}},
	{"unaddr. forced", chat.Message{Forced: true}},
	{"may not", chat.Message{Addressed: true, Standing: chat.ContextOnly}},
	{"may not, forced", chat.Message{Addressed: true, Forced: true, Standing: chat.ContextOnly}},
	{"may not, stop", chat.Message{Addressed: true, Stop: true, Standing: chat.ContextOnly}},
}

func policies() []Policy {
	var all []Policy
	for _, same := range []MidRunMode{ModeSteer, ModeFollowUp} {
		for _, cross := range []MidRunMode{ModeFollowUp, ModeSteer} {
			for _, stop := range []StopPolicy{StopByAnyone, StopByActor} {
				all = append(all, Policy{SameActor: same, CrossActor: cross, Stop: stop})
			}
		}
	}
	return all
}

// everyCase calls f for every state, kind of message and policy.
func everyCase(f func(chat.State, chat.Message, Policy, chat.Disposition)) {
	for _, p := range policies() {
		for i := range chat.States {
			for _, k := range kinds {
				s := chat.StateAt(i)
				f(s, k.Message, p, Decide(s, k.Message, p))
			}
		}
	}
}

func TestP4_DecideGolden(t *testing.T) {
	var b strings.Builder
	b.WriteString("What becomes of a message, in every state of its conversation and under every policy.\n")
	for _, p := range policies() {
		fmt.Fprintf(&b, "\nSAME_ACTOR_MID_RUN_MODE=%s CROSS_ACTOR_MID_RUN_MODE=%s STOP_POLICY=%s\n\n", p.SameActor, p.CrossActor, p.Stop)
		fmt.Fprintf(&b, "%-11s %-8s %-12s %-12s", "column", "stopping", "older waits", "full")
		for _, k := range kinds {
			fmt.Fprintf(&b, " | %-15s", k.name)
		}
		b.WriteString("\n")
		for i := range chat.States {
			s := chat.StateAt(i)
			fmt.Fprintf(&b, "%-11s %-8s %-12s %-12s", s.Column, yes(s.Stopping), yes(s.OlderOwnWaiting), s.Full)
			for _, k := range kinds {
				fmt.Fprintf(&b, " | %-15s", Decide(s, k.Message, p))
			}
			b.WriteString("\n")
		}
	}
	golden.Holds(t, filepath.Join("testdata", "decide.golden"), trimmed(b.String()))
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// trimmed has no blanks at the ends of its lines.
func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func TestP4_RowIsDecideInEveryState(t *testing.T) {
	for _, p := range policies() {
		for _, k := range kinds {
			row := DecideRow(k.Message, p)
			if len(row) != chat.States {
				t.Fatalf("a row of %d cells, want %d", len(row), chat.States)
			}
			for i := range chat.States {
				s := chat.StateAt(i)
				if got, want := chat.DispositionOf(row[s.Index()]), Decide(s, k.Message, p); got != want {
					t.Errorf("%s in %+v: the row says %s, Decide %s", k.name, s, got, want)
				}
			}
		}
	}
}

// TestP4_DecideTable is the table of the rules, cell by cell, where there is
// room, nothing older of the author waits and nothing is being stopped.
func TestP4_DecideTable(t *testing.T) {
	def := Policy{SameActor: ModeSteer, CrossActor: ModeFollowUp, Stop: StopByAnyone}
	same := Policy{SameActor: ModeFollowUp, CrossActor: ModeFollowUp, Stop: StopByAnyone}
	cross := Policy{SameActor: ModeSteer, CrossActor: ModeSteer, Stop: StopByAnyone}
	actor := Policy{SameActor: ModeSteer, CrossActor: ModeFollowUp, Stop: StopByActor}
	plain, force := chat.Message{Addressed: true}, chat.Message{Addressed: true, Forced: true}
	halt := chat.Message{Addressed: true, Stop: true}
	for _, c := range []struct {
		name   string
		m      chat.Message
		p      Policy
		own    chat.Disposition
		parked chat.Disposition
		other  chat.Disposition
		none   chat.Disposition
	}{
		{"plain", plain, def, chat.SteerOwn, chat.JoinParked, chat.Wait, chat.Start},
		{"plain, own follow_up", plain, same, chat.Wait, chat.JoinParked, chat.Wait, chat.Start},
		{"plain, cross steer", plain, cross, chat.SteerOwn, chat.JoinParked, chat.SteerContext, chat.Start},
		{"forced", force, def, chat.SteerOwn, chat.EndWait, chat.SteerContext, chat.Start},
		{"forced, own follow_up", force, same, chat.SteerOwn, chat.EndWait, chat.SteerContext, chat.Start},
		{"stop", halt, def, chat.Stop, chat.Stop, chat.Stop, chat.NothingRunning},
		{"stop, policy actor", halt, actor, chat.Stop, chat.Stop, chat.Refused, chat.NothingRunning},
		{"stop, unaddressed", chat.Message{Stop: true}, def, chat.Stop, chat.Stop, chat.Stop, chat.AsContext},
		{"unaddressed", chat.Message{}, def, chat.AsContext, chat.AsContext, chat.AsContext, chat.AsContext},
	} {
		for column, want := range map[chat.Column]chat.Disposition{
			chat.OwnRuns: c.own, chat.OwnParked: c.parked, chat.OtherRuns: c.other, chat.NoneRuns: c.none,
		} {
			if got := Decide(chat.State{Column: column}, c.m, c.p); got != want {
				t.Errorf("%s, %s: %s, want %s", c.name, column, got, want)
			}
		}
	}
}
