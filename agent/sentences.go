package agent

import (
	"fmt"

	"reeve/runtime/chat"
)

// sentences are what the actor of a failed turn is told: what happened, and
// what to do. Nothing of the provider's own words is in them.
var sentences = map[FailureKind]string{
	ModelRefused:     "I could not answer: the language model refused this request, and asking again unchanged will not help; please ask whoever runs me to look at turn %s.",
	ModelUnreachable: "I could not answer: the language model gave no usable answer, although I tried several times; please ask again in a few minutes (turn %s).",
	RetryTooLong:     "I could not answer: the language model is overloaded and told me to wait longer than I may; please ask again later (turn %s).",
	StepsSpent:       "I stopped before I was done, because this turn has used up the number of steps that it may take; please ask for a smaller piece of it (turn %s).",
	TimeSpent:        "I stopped before I was done, because this turn has used up its time; please ask again, perhaps for a smaller piece of it (turn %s).",
	TokensSpent:      "I stopped before I was done, because this turn has used up the amount of text that it may process; please ask for a smaller piece of it (turn %s).",
	DaySpent:         "I stopped, because your requests have used up the amount of text that I may process for one person in a day; please ask again tomorrow, by the clock of UTC (turn %s).",
	TooLong:          "I could not answer: what belongs to this request is too long for the language model; please ask in a new thread, or with less text (turn %s).",
	Internal:         "I could not answer because of a fault of my own; please ask again, and if that does not help, ask whoever runs me to look at turn %s.",
}

// Sentence is the one honest sentence that a failed turn's actor is told.
func (f *Failure) Sentence(turn chat.TurnID) string {
	sentence, ok := sentences[f.Kind]
	if !ok {
		sentence = sentences[Internal]
	}
	return fmt.Sprintf(sentence, turn.Short())
}

const (
	notApproved = "Not approved: "
	leftUndone  = " Do without it, and say what you left undone, for whom, and why."
	// notAsked answers calls that were to be asked about when a message came.
	notAsked = "This call was not made: a new message came before the person for whom you act could be asked about it. Read that first, and ask for the call again if it is still wanted."
)

// tooMuch answers calls for which one card has no room.
var tooMuch = fmt.Sprintf("This call was not made: the person for whom you act would have to be asked, and one question holds at most %d calls with %d characters of arguments. Ask for less at a time.", mostAsked, mostShown)

// refusalText says to the model why a call was not approved.
func refusalText(how chat.How, c chat.Decided) string {
	if c.Rule == chat.RuleConnect {
		why := "the person for whom you act has not connected an account at " + c.Provider
		switch how {
		case chat.ByTime:
			why += " in the time that there was for it"
		case chat.ByMessage:
			why += ", and has written a message instead, which you read next"
		case chat.ByNoCard:
			why += ": Slack would not take the message that asks for it"
		}
		return notApproved + why + "." + leftUndone
	}
	why := "it was not answered"
	switch how {
	case chat.ByAnswer:
		why = "the person for whom you act has refused this call"
	case chat.ByTime:
		why = "the person for whom you act was asked, and has not answered in time"
	case chat.ByMessage:
		why = "the person for whom you act has not answered, and has written a message instead, which you read next"
	case chat.ByNoCard:
		why = "the person for whom you act could not be asked, since Slack would not take the question"
	case chat.ByOperator:
		why = "whoever runs you let the turn go on before the person for whom you act had answered"
	}
	return notApproved + why + "." + leftUndone
}
