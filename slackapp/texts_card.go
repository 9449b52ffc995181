package slackapp

import (
	"fmt"
	"strings"
	"time"

	"reeve/runtime/chat"
)

// Sentences of cards. Those that hold mentions or dates are Slack's own markup
// and hold nothing that anybody else wrote; all others are plain.

// TextCard says in a line what a card is, for where Slack shows no more of it.
func TextCard(c chat.Card) string {
	record := c.Ending != nil
	switch c.Kind {
	case chat.ConsentCard:
		if record {
			return "What became of the calls that I asked you about."
		}
		return "I need your word before I go on."
	case chat.ConnectCard:
		if record {
			return "What became of the account that I asked you for."
		}
		return "I need an account of yours to go on."
	case chat.OfferCard:
		return "What you wrote into somebody else's turn can become a turn of your own."
	case chat.ConnectedCard:
		if record {
			return "This account is no longer connected."
		}
		return "An account of yours is now connected."
	}
	return "A card that I cannot show."
}

// TextConsent begins a card that asks about calls.
func TextConsent(c chat.Card) string {
	text := "*I need your word before I go on.* What you asked " + whereAsked(c) + " leads to the calls below. Tick those that I may make; what you do not tick is refused."
	if len(c.Contributors) > 0 {
		text += "\n" + TextContributed(c.Contributors) + " So I cannot tell whose wish these calls carry out. You alone are asked, and only rights of yours would be used."
	}
	return text
}

// TextContributed says who made it unclear whose wish a call carries out.
func TextContributed(who []chat.Actor) string {
	return mentionEach(who) + " wrote into this turn too."
}

// TextSeen says who will see what comes of it.
func TextSeen(v chat.Visibility) string {
	where := map[chat.Visibility]string{
		chat.DM:      "in our direct messages, which you alone can read.",
		chat.Private: "in the thread where you asked, which everybody in that channel can read.",
		chat.Public:  "in the thread where you asked, which everybody in the workspace can read.",
		chat.Shared:  "in the thread where you asked, which people of another organisation can read too.",
	}[v]
	if where == "" {
		where = "in the thread where you asked, for everybody who can read that."
	}
	return "What comes of it will be seen " + where
}

// TextUntil says until when an answer counts.
func TextUntil(until time.Time) string {
	return "An answer counts until " + date(until) + "; without one, nothing of this is done. Stop the turn, or write something with `!!` in front there, and nothing of it is done either."
}

// TextRule says why the actor of a turn is asked about a call.
func TextRule(rule string) string {
	why, known := map[string]string{
		"conflict_sends":  "somebody else wrote into this turn, and the call can carry data out.",
		"conflict_reads":  "somebody else wrote into this turn, and the call reads with your rights.",
		"conflict_writes": "somebody else wrote into this turn, and the call changes something with your rights.",
		"private_sends":   "I have read something here that is for you alone, and the call could carry it out.",
		"foreign_writes":  "I have read text here that you did not write, and the call changes something with your rights.",
		"every_write":     "I was set up to ask before every change that is made with your rights.",
		"always":          "its tool never makes such a call without your word.",
	}[rule]
	if !known {
		why = "I may not decide about it by myself."
	}
	return "Why I ask: " + why
}

// TextAccount says whose rights a call spends, and where.
func TextAccount(provider, account string) string {
	if account == "" {
		return "Account: yours at " + provider
	}
	return "Account: " + account + " at " + provider
}

// TextHost says where a call sends to.
func TextHost(host string) string {
	if host == "" {
		return "It can carry data out of Slack."
	}
	return "It sends data to: " + host
}

// TextChanges says what a call does.
func TextChanges(write bool) string {
	if write {
		return "It changes something."
	}
	return "It reads."
}

// TextArguments names arguments that stand in a post of their own, above their
// card. Another turn's may stand between them, or between them and the card.
func TextArguments(turn chat.TurnID, n, piece, of int) string {
	text := fmt.Sprintf("Arguments of call %d of turn %s, on the card below", n, turn.Short())
	if of > 1 {
		text += fmt.Sprintf(", part %d of %d", piece, of)
	}
	return text + ":"
}

// TextArgumentsAbove stands on that card instead.
func TextArgumentsAbove(turn chat.TurnID, n int) string {
	return fmt.Sprintf("Its arguments stand above this card, as those of call %d of turn %s.", n, turn.Short())
}

// TextNoArguments stands where a call has none.
func TextNoArguments() string { return "It has no arguments." }

// TextConnect begins a card that asks for an account.
func TextConnect(c chat.Card) string {
	return "*I need an account of yours to go on.* What you asked " + whereAsked(c) + " needs the rights below. Connect an account that has them, and I go on there by myself."
}

// TextProvider names a provider on a card.
func TextProvider(provider string) string { return "Where: " + provider }

// TextScopes lists what an account has to grant.
func TextScopes(scopes []string) string { return "What it must grant: " + strings.Join(scopes, ", ") }

// TextLacking lists what the connected account has not granted.
func TextLacking(scopes []string) string {
	return "What the connected one has not granted: " + strings.Join(scopes, ", ")
}

// TextDevice says what to do with a device code.
func TextDevice(url string) string {
	return "Open " + url + " and enter this code. When it is not taken any more, “" + TextNewCode + "” gives you another one."
}

// TextEnterCode says what to do with the page's code.
func TextEnterCode() string {
	return "At its end the page shows a code of 8 characters. Enter it here with “Enter the code”: so I know that it was you. Never enter one that somebody else gave you."
}

// TextOffer begins a card that offers a turn of his own to who steered.
func TextOffer(c chat.Card) string {
	return "*Shall I do it for you?* You wrote into the turn of " + mention(c.Runs) + " " + whereAsked(c) +
		". There I act for them alone and take your words as information. If you want it done as your own request, with your own rights, I can begin a turn of yours with them."
}

// TextConnected begins a card that tells of a new connection.
func TextConnected() string {
	return "*An account is now connected to you here.* I use it for what you ask, and for nobody else. If it was not you who connected it, or you do not want it any more, disconnect it."
}

// TextAccountName names a connected account.
func TextAccountName(account, provider string) string { return account + " at " + provider }

// whereAsked is where a card's turn runs, as its actor is told.
func whereAsked(c chat.Card) string {
	turn := ""
	if c.Turn != "" {
		turn = " (turn " + c.Turn.Short() + ")"
	}
	if c.Visibility == chat.DM || !isChannelID(string(c.Conversation.Channel)) {
		return "me" + turn
	}
	return "in <#" + string(c.Conversation.Channel) + ">" + turn
}

// mentionEach lists people, each once.
func mentionEach(who []chat.Actor) string {
	var names []string
	seen := map[string]bool{}
	for _, a := range who {
		if name := mention(a); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// date is a time as each reader's Slack shows it.
func date(t time.Time) string {
	return fmt.Sprintf("<!date^%d^{date_short_pretty}, {time}|%s>", t.Unix(), t.UTC().Format("2006-01-02 15:04 UTC"))
}
