package agent

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"reeve/plugins"
	"reeve/runtime/chat"
)

//go:embed prompt.md
var rules string

// DefaultContextTokens is how much a request may hold when nothing else is
// said.
const DefaultContextTokens = 100_000

const (
	// NoText stands as the request where the actor's message has no words of
	// its own.
	NoText = "(This message has no text of its own: the thread, or what came with the message, is what it is about.)"
	// unknownOutcome is the result of a call that was begun by a run that was
	// lost, and must not be repeated.
	unknownOutcome = "Outcome unknown: the process that ran this call was lost. It may have taken effect or not, and it was not repeated."
	// quotedMost is how much of a message is quoted to name it, in characters.
	quotedMost = 160
	// shortened is how much of an older result stays, in bytes, when a request
	// has grown too long.
	shortened = 1024
)

// BuildRequest is what the model is sent for a turn: a pure function of what
// is known of the turn. Only the actor's own addressed messages of this turn
// stand as plain user messages; all else stands in blocks (see Element).
func BuildRequest(turn Turn, tools []ToolSpec, contextTokens int) Request {
	if contextTokens <= 0 {
		contextTokens = DefaultContextTokens
	}
	p := prompt{turn: turn, bot: botMention(turn.Bot)}
	req := Request{System: p.system(), Tools: tools}
	if before := p.before(contextTokens / 4); len(before) > 0 {
		req.Messages = append(req.Messages, Message{Role: chat.UserRole, Content: Block(before)})
	}
	head := req
	req.Messages = append(slices.Clone(head.Messages), p.own(turn.Own)...)
	if over := Estimate(req) - contextTokens; over > 0 {
		req.Messages = append(head.Messages, p.own(shorten(turn.Own, over*bytesPerToken))...)
	}
	return req
}

const bytesPerToken = 3

// Estimate is about how many tokens a request takes, for want of a count by
// the provider: a third of its bytes.
func Estimate(req Request) int {
	n := len(req.System)
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, m := range req.Messages {
		n += len(m.Content)
		for _, c := range m.Calls {
			n += len(c.Tool) + len(c.Arguments)
		}
	}
	return n / bytesPerToken
}

// prompt builds the pieces of one request.
type prompt struct {
	turn Turn
	bot  *regexp.Regexp // mentions of the bot, or nil
}

// botMention is compiled once for each bot, of which a process has one.
func botMention(bot chat.UserID) *regexp.Regexp {
	if bot == "" {
		return nil
	}
	if known, ok := botMentions.Load(bot); ok {
		return known.(*regexp.Regexp)
	}
	form := regexp.MustCompile(`<@` + regexp.QuoteMeta(string(bot)) + `(?:\|[^<>]*)?>`)
	botMentions.Store(bot, form)
	return form
}

var botMentions sync.Map // *regexp.Regexp by chat.UserID

// system is the rules and, at the end so that providers can cache the rest,
// what holds for this turn alone.
func (p prompt) system() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(rules))
	b.WriteString("\n\n## This turn\n\nYou act for the person with the id ")
	escape(&b, p.turn.Actor.Key(), true)
	if p.turn.ActorName != "" {
		b.WriteString(` (display name "`)
		escape(&b, plugins.CutMiddle(p.turn.ActorName, 120), true)
		b.WriteString(`")`)
	}
	b.WriteString(", " + place(p.turn.Visibility) + ".\n")
	return b.String()
}

func place(v chat.Visibility) string {
	switch v {
	case chat.DM:
		return "in a direct message that only this person can read"
	case chat.Private:
		return "in a private channel or group message, whose members can read your answer"
	case chat.Shared:
		return "in a channel shared with another organisation, whose members can read your answer"
	default:
		return "in a channel whose members can read your answer"
	}
}

// own turns the turn's own entries into messages.
func (p prompt) own(entries []chat.Entry) []Message {
	var messages []Message
	var foreign []Element
	asked := slices.ContainsFunc(entries, p.isRequest)
	flush := func() {
		if len(foreign) > 0 {
			messages = append(messages, Message{Role: chat.UserRole, Content: Block(foreign)})
			foreign = nil
		}
	}
	// A mention with nothing but a forward or a file has no words that could
	// stand as the request.
	ask := func() {
		flush()
		if !asked {
			asked = true
			messages = append(messages, Message{Role: chat.UserRole, Content: NoText})
		}
	}
	results := resultsByCall(entries)
	for i, e := range entries {
		switch {
		case p.isRequest(e):
			flush()
			content := p.request(e.Text)
			if e.Corrects {
				content = p.corrects(e, entries[:i]) + content
			}
			messages = append(messages, Message{Role: chat.UserRole, Content: content})
		case e.Role == chat.AssistantRole:
			ask()
			messages = append(messages, p.answer(e, results.of[i])...)
		case results.placed[i]:
			// It stands behind its call already.
		default:
			foreign = append(foreign, p.elements(e)...)
		}
	}
	if len(entries) > 0 {
		ask()
	}
	return messages
}

// isRequest: an instruction counts only in the turn that took it in.
func (p prompt) isRequest(e chat.Entry) bool {
	return e.Role == chat.UserRole && e.Authority() == chat.Instruction && e.Author() == p.turn.Actor &&
		(e.Turn == "" || e.Turn == p.turn.ID) && (e.Origin == chat.Request || e.Origin == chat.Steer)
}

func (p prompt) request(text string) string {
	text = strings.TrimSpace(requestText(p.seen(text)))
	if text == "" {
		return NoText
	}
	return text
}

// corrects says which message an edit is of: it stands in front of the new text.
func (p prompt) corrects(edit chat.Entry, before []chat.Entry) string {
	for _, e := range slices.Backward(before) {
		if p.isRequest(e) && e.Message != nil && *e.Message == *edit.Message {
			old := strings.Join(strings.Fields(requestText(p.seen(e.Text))), " ")
			if runes := []rune(old); len(runes) > quotedMost {
				old = string(runes[:quotedMost]) + "…"
			}
			if old != "" {
				return "(I have edited my message that said “" + old + "”. It now says:)\n\n"
			}
		}
	}
	return "(I have edited an earlier message of mine. It now says:)\n\n"
}

// seen shows a mention of the bot as what it means to the model.
func (p prompt) seen(text string) string {
	if p.bot == nil {
		return text
	}
	return p.bot.ReplaceAllLiteralString(text, "@you")
}

// answer is an answer of the model and, right behind it as providers want it,
// the results of its calls.
func (p prompt) answer(e chat.Entry, results map[string]chat.Entry) []Message {
	text := requestText(e.Text)
	if text == "" && len(e.Calls) == 0 {
		return nil
	}
	m := Message{Role: chat.AssistantRole, Content: text}
	for _, c := range e.Calls {
		m.Calls = append(m.Calls, sendable(c))
	}
	messages := []Message{m}
	for _, c := range e.Calls {
		element := Element{Origin: string(chat.Result), Author: "tool", Tool: c.Tool, Text: unknownOutcome}
		if result, ok := results[c.ID]; ok {
			element.Text = result.Text
		}
		messages = append(messages, Message{Role: chat.ToolRole, Content: element.String(), CallID: c.ID})
	}
	return messages
}

// elements shows an entry as foreign text: its text, and each of its calls.
func (p prompt) elements(e chat.Entry) []Element {
	base := Element{Origin: string(e.Origin), ID: e.ID, Author: p.author(e), Tool: e.Tool}
	if base.Author != "you" {
		base.Name = e.Name
	}
	if e.Message != nil {
		base.ID = string(e.Message.Channel) + ":" + string(e.Message.TS)
	}
	when := e.Time
	if when.IsZero() && e.Message != nil {
		when = e.Message.TS.Time()
	}
	if !when.IsZero() {
		base.Time = when.UTC().Format(time.RFC3339)
	}
	var notes []string
	if e.Corrects {
		notes = append(notes, "what the message says since an edit")
	}
	if e.Origin == chat.Steer && e.Author() != p.turn.Actor {
		notes = append(notes, "information from somebody for whom this turn does not act")
	}
	base.Note = strings.Join(notes, "; ")
	if e.File != nil {
		base.File, base.Mime = e.File.Name, e.File.Mime
		if base.File == "" {
			base.File = e.File.ID
		}
		base.Size = strconv.FormatInt(e.File.Size, 10)
	}
	var elements []Element
	if e.Text != "" || len(e.Calls) == 0 {
		said := base
		said.Text = p.seen(e.Text)
		elements = append(elements, said)
	}
	for _, c := range e.Calls {
		asked := base
		asked.Tool, asked.Text, asked.Note = c.Tool, c.Arguments, "a call that you made"
		elements = append(elements, asked)
	}
	return elements
}

// author is an id, or a word where nobody's id is meant.
func (p prompt) author(e chat.Entry) string {
	author := e.Author()
	switch {
	case e.Role == chat.AssistantRole, p.turn.Bot != "" && author.User == p.turn.Bot:
		return "you"
	case e.Role == chat.ToolRole:
		return "tool"
	case author.IsZero():
		return "unknown"
	}
	return author.Key()
}
