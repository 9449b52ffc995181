package slackapp

import (
	"strconv"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// A card is laid out once, as a cardLayout, and written in two forms of blocks:
// rich text, and plainer sections where Slack will not have that. What others
// wrote (arguments, names of accounts) is in neither read as markup; only
// sentences of our own are, and they hold ids alone.

// cardLayout is what stands on a card, from top to bottom.
type cardLayout struct {
	head    string // Slack's markup, ours alone
	items   []cardItem
	foot    string // likewise
	buttons []cardButton
}

// cardItem is one call, or one account. All of it is text.
type cardItem struct {
	title string
	lines []string
	body  string // arguments, in full
	// tick is the value of the item's box; empty: there is none.
	tick, label string
}

type cardButton struct {
	name, label string
	url         string
	style       slack.Style
	ask         string // asked before it is pressed
}

// layout lays a card out. apart: its arguments stand in posts of their own.
func layout(c chat.Card, apart bool) cardLayout {
	switch c.Kind {
	case chat.ConsentCard:
		return layoutConsent(c, apart)
	case chat.ConnectCard:
		return layoutConnect(c)
	case chat.OfferCard:
		return layoutOffer(c)
	case chat.ConnectedCard:
		return layoutConnected(c)
	}
	return cardLayout{head: TextCard(c)}
}

func layoutConsent(c chat.Card, apart bool) cardLayout {
	l := cardLayout{head: TextConsent(c), foot: TextSeen(c.Visibility)}
	if !c.Until.IsZero() {
		l.foot += "\n" + TextUntil(c.Until)
	}
	for i, q := range questions(c) {
		item := cardItem{title: strconv.Itoa(i+1) + ". " + oneLine(q.Tool), lines: questionLines(q)}
		switch {
		case apart:
			item.lines = append(item.lines, TextArgumentsAbove(c.Turn, i+1))
		case q.Arguments == "":
			item.lines = append(item.lines, TextNoArguments())
		default:
			item.body = visible(q.Arguments)
		}
		if c.Ending != nil {
			item.lines = append([]string{TextDecided(c.Ending.How, allowed(c, q.Call))}, item.lines...)
		} else {
			item.tick, item.label = q.Call, TextAllow(i+1)
		}
		l.items = append(l.items, item)
	}
	if c.Ending != nil {
		l.head = TextEnding(c)
		if c.Ending.How != chat.ByAnswer || len(c.Ending.Allowed) == 0 {
			l.foot = ""
		} else {
			l.foot = TextSeen(c.Visibility)
		}
		if len(c.Contributors) > 0 {
			l.head += "\n" + TextContributed(c.Contributors)
		}
		return l
	}
	l.buttons = []cardButton{
		{name: "allow", label: TextAllowTicked, style: slack.StylePrimary},
		{name: "refuse", label: TextRefuseAll, style: slack.StyleDanger},
	}
	return l
}

func questions(c chat.Card) []chat.Question {
	if c.Asking == nil {
		return nil
	}
	return c.Asking.Questions
}

// questionLines are the facts of a call.
func questionLines(q chat.Question) []string {
	var lines []string
	if q.Provider != "" {
		lines = append(lines, TextAccount(oneLine(q.Provider), oneLine(q.Account)))
	}
	if q.Provider != "" || q.Write {
		lines = append(lines, TextChanges(q.Write))
	}
	if q.Sends || q.Host != "" {
		lines = append(lines, TextHost(oneLine(q.Host)))
	}
	return append(lines, TextRule(q.Rule))
}

// allowed: only an answer that allows the call does.
func allowed(c chat.Card, call string) bool {
	if c.Ending == nil || c.Ending.How != chat.ByAnswer {
		return false
	}
	for _, a := range c.Ending.Allowed {
		if a == call {
			return true
		}
	}
	return false
}

func layoutConnect(c chat.Card) cardLayout {
	l := cardLayout{head: TextConnect(c)}
	item := cardItem{}
	if a := c.Asking; a != nil {
		item.title = TextProvider(oneLine(a.Provider))
		if len(a.Scopes) > 0 {
			item.lines = append(item.lines, TextScopes(eachLine(a.Scopes)))
		}
		if len(a.Lacking) > 0 {
			item.lines = append(item.lines, TextLacking(eachLine(a.Lacking)))
		}
	}
	if c.Ending != nil {
		l.head, l.items = TextEnding(c), []cardItem{item}
		return l
	}
	if !c.Until.IsZero() {
		l.foot = TextUntil(c.Until)
	}
	link := safeURL(c.URL)
	if link != "" {
		l.buttons = append(l.buttons, cardButton{name: "open", label: TextConnectHere, url: link, style: slack.StylePrimary})
	}
	switch {
	case c.Code != "":
		item.lines = append(item.lines, TextDevice(oneLine(c.URL)))
		item.body = visible(c.Code)
		if c.Flow != "" {
			l.buttons = append(l.buttons, cardButton{name: "renew", label: TextNewCode})
		}
	case c.Flow != "":
		item.lines = append(item.lines, TextEnterCode())
		l.buttons = append(l.buttons, cardButton{name: "code", label: TextCodeButton})
	}
	l.items = []cardItem{item}
	l.buttons = append(l.buttons, cardButton{name: "refuse", label: TextNotNow})
	return l
}

func layoutOffer(c chat.Card) cardLayout {
	if c.Ending != nil {
		return cardLayout{head: TextEnding(c)}
	}
	return cardLayout{head: TextOffer(c), buttons: []cardButton{{name: "own", label: TextOwnTurn, style: slack.StylePrimary}}}
}

func layoutConnected(c chat.Card) cardLayout {
	item := cardItem{title: TextAccountName(oneLine(c.Account), oneLine(c.Provider))}
	if c.Ending != nil {
		return cardLayout{head: TextEnding(c), items: []cardItem{item}}
	}
	return cardLayout{head: TextConnected(), items: []cardItem{item}, buttons: []cardButton{
		{name: "disconnect", label: TextDisconnect, style: slack.StyleDanger, ask: TextDisconnectQ},
	}}
}
