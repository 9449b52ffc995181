package runtime

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reeve/cmd/app/apptest/golden"
	"reeve/runtime/chat"
)

var both = []bool{false, true}

// everyEdit calls f for every edit.
func everyEdit(f func(Edit, EditDisposition)) {
	for place := range places {
		for leaves := range leavings {
			for n := range 64 {
				bit := func(i int) bool { return n>>i&1 == 1 }
				e := Edit{Place: place, Leaves: leaves, ByAuthor: !bit(5), Differs: !bit(4), ByApp: bit(3),
					AddsMention: bit(2), Young: bit(1), Corrected: bit(0)}
				f(e, DecideEdit(e))
			}
		}
	}
}

func TestP4_DecideChangeGolden(t *testing.T) {
	var b strings.Builder
	b.WriteString("What becomes of an edit by its author, without an app's stamp, that changes the text.\n\n")
	fmt.Fprintf(&b, "%-11s %-10s %-13s %-6s %-10s | %s\n", "place", "leaves", "adds mention", "young", "corrected", "becomes")
	everyEdit(func(e Edit, d EditDisposition) {
		if e.ByAuthor && e.Differs && !e.ByApp {
			fmt.Fprintf(&b, "%-11s %-10s %-13s %-6s %-10s | %s\n", e.Place, e.Leaves, yes(e.AddsMention), yes(e.Young), yes(e.Corrected), d)
		}
	})
	b.WriteString("\nWhat becomes of a deletion.\n\n")
	for place := range places {
		fmt.Fprintf(&b, "%-11s | %s\n", place, DecideDelete(place))
	}
	b.WriteString("\nWhat becomes of a stop that is no message.\n\n")
	fmt.Fprintf(&b, "%-11s %-6s %-13s %-12s | %s\n", "turn", "named", "standing", "STOP_POLICY", "becomes")
	for i := chat.OwnRuns; i <= chat.NoneRuns; i++ {
		for _, named := range both {
			for _, standing := range []chat.Standing{chat.MayInstruct, chat.Unchecked, chat.ContextOnly} {
				for _, policy := range []StopPolicy{StopByAnyone, StopByActor} {
					d := DecideStopSign(StopSign{Named: named, Standing: standing, On: i}, Policy{Stop: policy})
					fmt.Fprintf(&b, "%-11s %-6s %-13s %-12s | %s\n", i, yes(named), standing, policy, d)
				}
			}
		}
	}
	golden.Holds(t, filepath.Join("testdata", "decide_change.golden"), trimmed(b.String()))
}

func TestP4_OnlyTheAuthorsOwnChangeOfTextCounts(t *testing.T) {
	everyEdit(func(e Edit, d EditDisposition) {
		if (!e.ByAuthor || !e.Differs || e.ByApp) && d != EditNothing {
			t.Errorf("%+v: %s", e, d)
		}
	})
}

func TestP4_EditNeverChangesTheLane(t *testing.T) {
	everyEdit(func(e Edit, d EditDisposition) {
		counts := e.ByAuthor && e.Differs && !e.ByApp
		if counts && e.Place == Waiting && (d == EditReplace) != (e.Leaves == LeavesText) {
			t.Errorf("%+v: %s", e, d)
		}
		if e.Place != Waiting && (d == EditReplace || d == EditWithdraw) {
			t.Errorf("%+v: %s of what does not wait", e, d)
		}
	})
}

func TestP4_EditEntersOnlyWhatNeverEntered(t *testing.T) {
	everyEdit(func(e Edit, d EditDisposition) {
		if d == EditEnter && e.Place != Unknown && e.Place != Passive {
			t.Errorf("%+v enters twice", e)
		}
		if d == EditEnter && !e.AddsMention && !e.Young {
			t.Errorf("%+v: an old message enters without a new mention", e)
		}
		if e.ByAuthor && e.Differs && !e.ByApp && e.AddsMention && (e.Place == Unknown || e.Place == Passive) && d != EditEnter {
			t.Errorf("%+v: the first mention does not enter", e)
		}
	})
}

func TestP4_EditOfWhatWasReadJoinsOnceAndOnlyItsAuthorsTurn(t *testing.T) {
	everyEdit(func(e Edit, d EditDisposition) {
		own := e.Place == BeganOpen || e.Place == ReadOwn
		if d == EditCorrect && (!own || e.Corrected || e.Leaves != LeavesText) {
			t.Errorf("%+v joins", e)
		}
		if e.ByAuthor && e.Differs && !e.ByApp && own && !e.Corrected && e.Leaves == LeavesText && d != EditCorrect {
			t.Errorf("%+v: %s, want it to join", e, d)
		}
	})
}

func TestP4_StopSignByWhoMayNotInstructTouchesNothing(t *testing.T) {
	for i := chat.OwnRuns; i <= chat.NoneRuns; i++ {
		s := StopSign{Named: true, Standing: chat.ContextOnly, On: i}
		if d := DecideStopSign(s, Policy{Stop: StopByAnyone}); d != chat.Ignored {
			t.Errorf("%+v: %s", s, d)
		}
	}
}
