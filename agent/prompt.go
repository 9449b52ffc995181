package agent

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

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
)

// BuildRequest is what the model is sent for a turn: a pure function of what
// is known of the turn. Only the actor's own addressed messages of this turn
// stand as plain user messages; all else stands in blocks (see Element). What
// would exceed contextTokens is cut down, the least important first (see trims).
func BuildRequest(turn Turn, tools []ToolSpec, contextTokens int) Request {
	if contextTokens <= 0 {
		contextTokens = DefaultContextTokens
	}
	p := newPrompt(turn)
	d := draft{own: turn.Own, share: share(contextTokens)}
	req := p.build(d, tools)
	for _, trim := range trims {
		over := Estimate(req) - contextTokens
		if over <= 0 {
			break
		}
		d = trim(d, (over+1)*bytesPerToken)
		req = p.build(d, tools)
	}
	return req
}

// share is how much of a request, in tokens, the history may take, and how much
// the thread.
func share(contextTokens int) int { return contextTokens / 4 }

// draft is what a request is made of, as far as it may be cut down.
type draft struct {
	own   []chat.Entry
	share int
}

func (p prompt) build(d draft, tools []ToolSpec) Request {
	req := Request{System: p.system(), Tools: tools}
	if before := p.before(d.share); len(before) > 0 {
		req.Messages = append(req.Messages, Message{Role: chat.UserRole, Content: Block(before)})
	}
	req.Messages = append(req.Messages, p.own(d.own)...)
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

func newPrompt(turn Turn) prompt { return prompt{turn: turn, bot: botMention(turn.Bot)} }

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
	if !p.turn.Actor.IsPerson() {
		b.WriteString("\n\n## This turn\n\nYou act for nobody: this turn is that of ")
		escape(&b, p.turn.Actor.Key(), true)
		b.WriteString(", " + place(p.turn.Visibility) + ". " + nobodysTurn + "\n")
		return b.String()
	}
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

// nobodysTurn says what a turn of a system actor is.
const nobodysTurn = "Its time has come: the plain user message is what somebody has asked for earlier, and code says in front of it who that was, and when; " +
	"that is said in front of your answer, too. If it is something to be reminded of, say it; if it is work, do it with the tools that you have and say what came of it. " +
	"You spend nobody's rights, and no tool that needs a person is there: where one would be needed, say so, and that they ask you in a message of their own. " +
	"Nobody waits for a question of yours."

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
