package slackapp

import (
	"fmt"
	"time"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
	"reeve/runtime/mailbox"
	"reeve/slackapp/render"
)

// A card is posted whole where Slack takes it. Where it does not, its arguments
// are posted first, each with an id below the card's, and the card stands below
// them: it never asks about arguments that are not there. Where Slack takes
// neither, the card is unsent, and nobody is asked.

// rungs is how many forms the part has.
func (a *attempt) rungs() int {
	if a.forms != nil {
		return len(a.forms)
	}
	return render.Rungs
}

// canPart: it is a whole card whose arguments can stand above it.
func (a *attempt) canPart() bool {
	return a.forms != nil && !a.apart && a.part.Card != nil && len(questions(*a.part.Card)) > 0
}

// cardApart posts a card's arguments, and then the card.
func (d *drain) cardApart(a *attempt, look bool) (mailbox.Posted, error) {
	for i, forms := range argumentForms(*a.part.Card) {
		piece := a.part
		piece.ID, piece.Card = fmt.Sprintf("%s~%d", a.part.ID, i), nil
		p, err := d.carry(newCard(piece, forms, TextCard(*a.part.Card), look), look)
		if err != nil || p.Unsent != nil {
			return mailbox.Posted{ID: a.part.ID, Unsent: p.Unsent}, err
		}
	}
	card := newCard(a.part, apartForms(*a.part.Card), TextCard(*a.part.Card), look)
	return d.carry(card, look)
}

// newCard is an attempt at a piece of a card, or at one whose arguments stand
// above it.
func newCard(part chat.Part, forms []cardForm, text string, look bool) *attempt {
	return &attempt{part: part, thread: part.To.Thread, forms: forms, text: text, apart: true, began: time.Now(), open: look}
}

// cardOptions are a card as a call's options.
func cardOptions(form cardForm, text string) []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(text, false), slack.MsgOptionDisableMarkdown(),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
		slack.MsgOptionBlocks(form...),
	}
}
