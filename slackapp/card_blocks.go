package slackapp

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"reeve/runtime/chat"
)

// Sizes of a card's blocks as they are sent, in characters. Slack refuses about
// 13,200 for all of a message's; nowhere is that written down.
const (
	cardSize  = 12_000
	pieceSize = 9_000 // of arguments in a post of their own
	cardMost  = 50    // blocks
)

// cardForm is a card, or a piece of one, as blocks.
type cardForm []slack.Block

// wholeForms are a card in one post, the better form first; none where Slack
// would not take it.
func wholeForms(c chat.Card) []cardForm { return fitting(forms(c, false)) }

// apartForms are a card whose arguments stand above it in posts of their own.
func apartForms(c chat.Card) []cardForm { return forms(c, true) }

func forms(c chat.Card, apart bool) []cardForm {
	l, value := layout(c, apart), cardValue(c)
	return []cardForm{l.blocks(c, value, rich), l.blocks(c, value, flat)}
}

func fitting(forms []cardForm) []cardForm {
	var out []cardForm
	for _, f := range forms {
		if f.size() <= cardSize && len(f) <= cardMost {
			out = append(out, f)
		}
	}
	return out
}

// size is how long the blocks are as they are sent.
func (f cardForm) size() int {
	raw, err := json.Marshal(f)
	if err != nil {
		return cardSize + 1
	}
	return utf8.RuneCount(raw)
}

// argumentForms are the posts above a card that is too large for one: each with
// its forms, and together with all the card's arguments.
func argumentForms(c chat.Card) [][]cardForm {
	var out [][]cardForm
	for i, q := range questions(c) {
		pieces := chunks(visible(q.Arguments), pieceSize, pieceSize)
		for n, piece := range pieces {
			item := cardItem{title: TextArguments(c.Turn, i+1, n+1, len(pieces)), body: piece}
			out = append(out, []cardForm{rich(item), flat(item)})
		}
		if len(pieces) == 0 {
			item := cardItem{title: TextArguments(c.Turn, i+1, 1, 1), lines: []string{TextNoArguments()}}
			out = append(out, []cardForm{rich(item), flat(item)})
		}
	}
	return out
}

// blocks writes a layout; write writes one item.
func (l cardLayout) blocks(c chat.Card, value string, write func(cardItem) cardForm) cardForm {
	out := cardForm{ours(l.head)}
	for i, item := range l.items {
		out = append(out, write(item)...)
		if item.tick == "" {
			continue
		}
		n := strconv.Itoa(i + 1)
		box := slack.NewCheckboxGroupsBlockElement(cardAction(c.Kind, tickButton+":"+n), slack.NewOptionBlockObject(item.tick, literal(item.label), nil))
		out = append(out, slack.NewActionBlock("tick:"+n, box))
	}
	if l.foot != "" {
		out = append(out, ours(l.foot))
	}
	if len(l.buttons) == 0 {
		return out
	}
	var buttons []slack.BlockElement
	for _, b := range l.buttons {
		button := slack.NewButtonBlockElement(cardAction(c.Kind, b.name), value, literal(b.label))
		button.URL, button.Style = b.url, b.style
		if b.ask != "" {
			button.Confirm = slack.NewConfirmationBlockObject(literal(b.label), literal(b.ask), literal(b.label), literal(TextHomeNo()))
		}
		buttons = append(buttons, button)
	}
	return append(out, slack.NewActionBlock("buttons", buttons...))
}

// rich writes an item as rich text, in which a text is text and nothing else.
func rich(item cardItem) cardForm {
	text := ""
	for _, line := range item.lines {
		text += "\n" + line
	}
	var parts []slack.RichTextSectionElement
	if item.title != "" {
		parts = append(parts, slack.NewRichTextSectionTextElement(item.title, &slack.RichTextSectionTextStyle{Bold: true}))
	} else if text != "" {
		text = text[1:]
	}
	for _, piece := range chunks(text, chunkMost, cardSize) {
		parts = append(parts, slack.NewRichTextSectionTextElement(piece, nil))
	}
	var elements []slack.RichTextElement
	if len(parts) > 0 {
		elements = append(elements, slack.NewRichTextSection(parts...))
	}
	if item.body != "" {
		box := &slack.RichTextPreformatted{Type: slack.RTEPreformatted}
		for _, piece := range chunks(item.body, chunkMost, cardSize) {
			box.Elements = append(box.Elements, slack.NewRichTextSectionTextElement(piece, nil))
		}
		elements = append(elements, box)
	}
	if len(elements) == 0 {
		return nil
	}
	return cardForm{slack.NewRichTextBlock("", elements...)}
}

// flat writes an item as plain sections.
func flat(item cardItem) cardForm {
	head := item.title
	for _, line := range item.lines {
		if head != "" {
			head += "\n"
		}
		head += line
	}
	var out cardForm
	for _, text := range []string{head, item.body} {
		for _, piece := range chunks(text, chunkMost, cardSize) {
			out = append(out, slack.NewSectionBlock(literal(piece), nil, nil))
		}
	}
	return out
}

// ours is a sentence of our own, in Slack's markup, in which nothing is made a
// link by itself.
func ours(text string) slack.Block {
	return slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, text, false, true), nil, nil)
}

// literal is text in which Slack reads nothing.
func literal(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
}
