package memory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// proposal is what a model proposes. It is checked, and never trusted.
type proposal struct {
	Kind     Kind       `json:"kind"`
	Topic    string     `json:"topic"`
	Text     string     `json:"text"`
	Evidence []citation `json:"evidence"`
}

// citation names an entry by its place among those that the model was given,
// and words that stand in it.
type citation struct {
	Entry int    `json:"entry"` // from 1
	Span  string `json:"span"`
}

// Personal evidence: what the run's actor typed in this turn, and nothing when
// anybody else has steered into it.
func personalEvidence(run plugins.Run) []plugins.Entry {
	if run.Conflict() || !run.Actor.IsPerson() {
		return nil
	}
	return selected(run, func(e plugins.Entry) bool {
		return run.Instruction(e) && (e.Origin == chat.Request || e.Origin == chat.Steer)
	})
}

// Shared evidence: what everybody in a public channel could read of this turn:
// members' messages, and results that spent nobody's rights.
func sharedEvidence(run plugins.Run) []plugins.Entry {
	if run.Visibility != chat.Public {
		return nil
	}
	return selected(run, func(e plugins.Entry) bool {
		if e.Private || e.Turn != run.Turn {
			return false
		}
		switch e.Origin {
		case chat.Request, chat.Steer, chat.Thread:
			return e.Message != nil && e.Author.IsPerson() && e.Author.Team == run.Conversation.Team
		case chat.Result:
			return !e.Failed
		}
		return false
	})
}

// selected are the entries that fit, in their order, and of a message that was
// edited meanwhile only what it reads now. What is longer than a model is given
// at a time is left out.
func selected(run plugins.Run, fits func(plugins.Entry) bool) []plugins.Entry {
	reads := map[chat.MessageID]int{}
	for i, e := range run.Transcript {
		if typed(e) {
			reads[*e.Message] = i
		}
	}
	var entries []plugins.Entry
	room := maxInput
	for i, e := range run.Transcript {
		if strings.TrimSpace(e.Text) == "" || !fits(e) || len(e.Text) > room || typed(e) && reads[*e.Message] != i {
			continue
		}
		room -= len(e.Text)
		entries = append(entries, e)
	}
	return entries
}

// typed: it is what somebody has typed in a message, and nothing that came with
// it.
func typed(e plugins.Entry) bool {
	return e.Message != nil && (e.Origin == chat.Request || e.Origin == chat.Steer || e.Origin == chat.Thread)
}

// shortestSpan is how many letters and digits a citation needs at least, so that
// "I" and a line of dashes prove nothing.
const shortestSpan = 6

// accept makes a memory of a proposal, or says why not.
func accept(p proposal, owner Owner, turn chat.TurnID, given []plugins.Entry, now time.Time) (Memory, error) {
	text, topic := plain(p.Text), plain(p.Topic)
	switch {
	case !slices.Contains(owner.Kinds(), p.Kind):
		return Memory{}, fmt.Errorf("kind %q is not one that can be remembered here", p.Kind)
	case text == "" || topic == "":
		return Memory{}, fmt.Errorf("it has no text or no topic")
	case len(text) > maxText || len(topic) > maxTopic:
		return Memory{}, fmt.Errorf("it is longer than %d bytes, or its topic than %d", maxText, maxTopic)
	case !utf8.ValidString(text) || !utf8.ValidString(topic):
		return Memory{}, fmt.Errorf("it is no text")
	case len(p.Evidence) == 0 || len(p.Evidence) > maxSpans:
		return Memory{}, fmt.Errorf("it cites nothing, or more than %d places", maxSpans)
	case hasSecret(text, topic):
		return Memory{}, errSecret
	}
	m := Memory{
		Kind: p.Kind, Topic: topic, Text: text, Schema: schema,
		Evidence: Evidence{Turn: turn}, Created: now, Expires: now.Add(lifetimes[p.Kind]),
	}
	for _, c := range p.Evidence {
		span, err := found(c, given)
		if err != nil {
			return Memory{}, err
		}
		if owner.IsPersonal() && span.Author != owner.Person {
			return Memory{}, fmt.Errorf("entry %d is not its owner's", c.Entry)
		}
		if hasSecret(span.Text) {
			return Memory{}, errSecret
		}
		m.Evidence.Spans = append(m.Evidence.Spans, span)
	}
	return m, nil
}

var errSecret = errors.New("it looks like a password, a key or a token")

// hasSecret looks through texts one by one and together: a secret may stand half
// in one of them.
func hasSecret(texts ...string) bool { return plugins.HasSecret(visible(strings.Join(texts, " "))) }

// found looks a citation up. White space may differ: models do not keep line
// ends. Everything else is as it stands there, character by character.
func found(c citation, given []plugins.Entry) (Span, error) {
	if c.Entry < 1 || c.Entry > len(given) {
		return Span{}, fmt.Errorf("there is no entry %d", c.Entry)
	}
	e, span := given[c.Entry-1], oneLine(c.Span)
	whole := oneLine(e.Text)
	switch {
	case letters(span) < min(shortestSpan, max(letters(whole), 1)):
		return Span{}, fmt.Errorf("the span of entry %d is too short", c.Entry)
	case len(span) > maxSpan:
		return Span{}, fmt.Errorf("the span of entry %d is longer than %d bytes", c.Entry, maxSpan)
	case !strings.Contains(whole, span):
		return Span{}, fmt.Errorf("the span does not stand in entry %d", c.Entry)
	}
	return Span{Entry: e.ID, Author: e.Author, Text: span}, nil
}
