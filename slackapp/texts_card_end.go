package slackapp

import (
	"reeve/runtime/chat"
)

// TextDecided says of one call of a record what became of it.
func TextDecided(how chat.How, allowed bool) string {
	switch {
	case how != chat.ByAnswer:
		return "Not done."
	case allowed:
		return "Allowed."
	}
	return "Refused."
}

// TextEnding says how what a card asked came to its end.
func TextEnding(c chat.Card) string {
	if c.Ending == nil {
		return ""
	}
	who, when := "", ""
	if c.Ending.By != nil {
		who = mention(*c.Ending.By)
	}
	if !c.Ending.Time.IsZero() {
		when = " " + date(c.Ending.Time)
	}
	by := func(did string) string {
		if who == "" {
			return "*Over.*" + when
		}
		return who + " " + did + when + "."
	}
	switch c.Kind {
	case chat.OfferCard:
		if c.Ending.How == chat.ByAnswer {
			return by("took it as a turn of their own")
		}
		if c.Ending.How == chat.ByHandBack {
			return "*Handed back already*" + when + ": it waits for a turn of your own, or has had one."
		}
		return "*Over.* There is nothing left to hand back."
	case chat.ConnectedCard:
		return by("disconnected it")
	}
	return endedWait(c, by, who, when)
}

// endedWait is TextEnding of what a turn has waited for.
func endedWait(c chat.Card, by func(string) string, who, when string) string {
	const nothing = " Nothing of this was done."
	switch c.Ending.How {
	case chat.ByAnswer:
		return by("answered")
	case chat.ByAccount:
		if who == "" {
			return "*Connected*" + when + ". I go on."
		}
		return who + " connected the account" + when + ". I go on."
	case chat.ByRefusal:
		if who == "" {
			return "*Refused* by the provider" + when + "." + nothing
		}
		return who + " refused" + when + "." + nothing
	case chat.ByTime:
		return "*Expired*" + when + ": nobody answered in time." + nothing
	case chat.ByMessage:
		return "*Overtaken*" + when + " by what you wrote with `!!` instead." + nothing
	case chat.ByStop:
		return "*Stopped*" + when + ", with its turn." + nothing
	case chat.ByAbandoned:
		return "*Given up*" + when + ", with its turn." + nothing
	case chat.ByNoCard:
		return "*Not delivered*" + when + "." + nothing
	case chat.ByOperator:
		return "*Not waited for any longer*" + when + ": whoever runs me let the turn go on." + nothing
	}
	return "*Over*" + when + "." + nothing
}
