package runtime

import (
	"time"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
)

// young is how old a message may be that enters by an edit although nobody
// knows it.
const young = time.Hour

// RowOf is the message's disposition in every state, or, of a change, in every
// place in which the message may stand.
func RowOf(m chat.Message, p Policy, now time.Time) chat.Row {
	if m.Change == nil {
		return DecideRow(m, p)
	}
	switch m.Change.Kind {
	case chat.Edited:
		return editRow(m, now)
	case chat.Deleted:
		return deleteRow()
	default:
		return signRow(m, p)
	}
}

func editRow(m chat.Message, now time.Time) chat.Row {
	e := Edit{
		ByAuthor: m.Change.ByAuthor, Differs: m.Change.Differs, ByApp: m.Change.ByApp,
		AddsMention: m.Change.AddsMention && m.Addressed, Young: now.Sub(m.ID.TS.Time()) < young, Leaves: leaves(m),
	}
	// Who may not instruct (any more) changes what he said and waits, and
	// neither starts nor steers anything by it.
	instructs := m.Standing != chat.ContextOnly
	e.AddsMention, e.Young = e.AddsMention && instructs, e.Young && instructs
	row := make([]byte, 0, 2*int(places))
	for place := range places {
		for _, corrected := range []bool{false, true} {
			e.Place, e.Corrected = place, corrected
			d := DecideEdit(e)
			if d == EditCorrect && !instructs {
				d = EditNothing
			}
			row = append(row, editLetters[d])
		}
	}
	return chat.Row(row)
}

func leaves(m chat.Message) Leaves {
	switch {
	case m.Stop:
		return LeavesStop
	case m.Text == "" && len(m.Attached) == 0:
		return LeavesNothing
	}
	return LeavesText
}

func deleteRow() chat.Row {
	row := make([]byte, 0, int(places))
	for place := range places {
		row = append(row, deleteLetters[DecideDelete(place)])
	}
	return chat.Row(row)
}

// signRow is for a stop that is no message.
func signRow(m chat.Message, p Policy) chat.Row {
	row := make([]byte, chat.States)
	for i := range row {
		row[i] = DecideStopSign(StopSign{Named: true, Standing: m.Standing, On: chat.StateAt(i).Column}, p).Letter()
	}
	return chat.Row(row)
}

var editLetters = map[EditDisposition]byte{
	EditNothing: mailbox.ChangeNothing, EditReplace: mailbox.ChangeReplace, EditWithdraw: mailbox.ChangeWithdraw,
	EditEnter: mailbox.ChangeEnter, EditCorrect: mailbox.ChangeCorrect,
}

var deleteLetters = map[DeleteDisposition]byte{
	DeleteClaim: mailbox.ChangeClaim, DeleteWithdraw: mailbox.ChangeWithdraw,
	DeleteStop: mailbox.ChangeStop, DeleteBlank: mailbox.ChangeBlank,
}
