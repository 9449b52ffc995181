package memory

import (
	"context"
	"slices"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// budget is how many tokens each section of the prompt may have.
const budget = 600

func (p *Plugin) sections() []plugins.Section {
	return []plugins.Section{
		{Name: "person", Tokens: budget, Render: p.person},
		{Name: "channel", Tokens: budget, Render: p.channel},
	}
}

// person is what is remembered of the turn's actor, for him alone.
func (p *Plugin) person(ctx context.Context, call plugins.Call) ([]plugins.Note, error) {
	owner, ok := Personal(call.Actor)
	if !ok || call.Conflict() {
		return nil, nil
	}
	held, err := p.options.Store.Held(ctx, owner, p.services.Now())
	if err != nil {
		return nil, err
	}
	var notes []plugins.Note
	for _, m := range withHabits(p.ranker.rank(ctx, asked(call.Run), held), held) {
		notes = append(notes, plugins.Note{Text: said(m), Author: call.Actor, Time: m.Created, Private: true})
	}
	return notes, nil
}

// channel is what is remembered for a public channel, with those who said so.
func (p *Plugin) channel(ctx context.Context, call plugins.Call) ([]plugins.Note, error) {
	owner, ok := Shared(call.Conversation)
	if !ok || call.Visibility != chat.Public {
		return nil, nil
	}
	held, err := p.options.Store.Held(ctx, owner, p.services.Now())
	if err != nil {
		return nil, err
	}
	var notes []plugins.Note
	for _, m := range p.ranker.rank(ctx, asked(call.Run), held) {
		note := plugins.Note{Text: said(m), Time: m.Created}
		if authors := m.Authors(); len(authors) > 0 {
			note.Author = authors[0]
			note.Text += by("also from", authors[1:])
		}
		notes = append(notes, note)
	}
	return notes, nil
}

// by names who a memory comes from; "" where nobody is known.
func by(word string, authors []chat.Actor) string {
	var keys []string
	for _, a := range authors {
		if !a.IsZero() {
			keys = append(keys, a.Key())
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return " (" + word + " " + strings.Join(keys, ", ") + ")"
}

// asked is what the turn's actor has asked for in it.
func asked(run plugins.Run) string {
	var words []string
	for _, e := range run.Transcript {
		if run.Instruction(e) {
			words = append(words, e.Text)
		}
	}
	return strings.Join(words, "\n")
}

// withHabits puts behind what was found how a person likes things, newest first,
// since that has to do with whatever he asks.
func withHabits(found, held []Memory) []Memory {
	for _, m := range slices.Backward(held) {
		if m.Kind == Preference && !slices.ContainsFunc(found, func(f Memory) bool { return f.ID == m.ID }) {
			found = append(found, m)
		}
	}
	return found
}
