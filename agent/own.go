package agent

import (
	"slices"
	"strings"

	"reeve/runtime/chat"
)

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
		case e.Decision != nil:
			// What came of it stands in the results of its calls.
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
