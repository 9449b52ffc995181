package agent

import (
	"fmt"
	"slices"

	"reeve/runtime/chat"
)

// unit is what is kept or left out as one: a closed turn of the history, a
// message of the thread, or a single entry of another origin.
type unit struct {
	kind     unitKind
	entries  []chat.Entry
	elements []Element
	kept     bool
}

type unitKind int

const (
	turnUnit unitKind = iota
	messageUnit
	otherUnit
)

// before shows what stands before the turn. Closed turns are taken newest
// first while they fit into a share of tokens, then the thread's messages
// while they fit into another; a message that is given already is not given
// again. What is left out is counted in a note.
func (p prompt) before(share int) []Element {
	units := p.units()
	given := map[chat.MessageID]bool{}
	for _, e := range p.turn.Own {
		if e.Message != nil {
			given[*e.Message] = true
		}
	}
	turns := p.take(units, turnUnit, share, given)
	messages := p.take(units, messageUnit, share, given)
	p.take(units, otherUnit, share, given)

	var elements []Element
	if note := leftOut(p.turn.Note, turns, messages); note != "" {
		elements = append(elements, Element{Origin: "note", Note: note})
	}
	for _, u := range units {
		if u.kept {
			elements = append(elements, u.elements...)
		}
	}
	return elements
}

// take keeps the newest units of a kind that fit, and counts the others.
func (p prompt) take(units []*unit, kind unitKind, share int, given map[chat.MessageID]bool) (left int) {
	room, full := share*bytesPerToken, false
	for _, u := range slices.Backward(units) {
		if u.kind != kind {
			continue
		}
		size := 0
		var taken []chat.MessageID
		u.elements = nil
		for _, e := range u.entries {
			if e.Message != nil && given[*e.Message] {
				continue
			}
			if e.Message != nil {
				taken = append(taken, *e.Message)
			}
			for _, element := range p.elements(e) {
				u.elements = append(u.elements, element)
				size += len(element.String()) + 1
			}
		}
		if len(u.elements) == 0 {
			continue
		}
		if full = full || size > room; full {
			left++
			continue
		}
		room -= size
		u.kept = true
		for _, id := range taken {
			given[id] = true
		}
	}
	return left
}

// units groups what stands before the turn and its actor may see.
func (p prompt) units() []*unit {
	var units []*unit
	for _, e := range p.turn.Visible() {
		kind := otherUnit
		switch {
		case e.Origin == chat.History:
			kind = turnUnit
		case e.Message != nil && e.Origin != chat.Memory && e.Origin != chat.Summary:
			kind = messageUnit
		}
		if n := len(units); n > 0 && units[n-1].kind == kind && together(kind, units[n-1].entries[0], e) {
			units[n-1].entries = append(units[n-1].entries, e)
			continue
		}
		units = append(units, &unit{kind: kind, entries: []chat.Entry{e}})
	}
	return units
}

func together(kind unitKind, a, b chat.Entry) bool {
	switch kind {
	case turnUnit:
		return a.Turn == b.Turn
	case messageUnit:
		return *a.Message == *b.Message
	}
	return false
}

func leftOut(note string, turns, messages int) string {
	add := func(n int, one, many string) {
		if n == 0 {
			return
		}
		if note != "" {
			note += " "
		}
		if n == 1 {
			note += one
			return
		}
		note += fmt.Sprintf(many, n)
	}
	add(turns, "1 earlier turn is not shown.", "%d earlier turns are not shown.")
	add(messages, "1 earlier message of the thread is not shown.", "%d earlier messages of the thread are not shown.")
	return note
}
