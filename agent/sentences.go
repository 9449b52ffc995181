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
