package agent

import (
	"fmt"
	"slices"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

// unit is what is kept or left out as one: a closed turn of the history, a
// message of the thread, or a single entry of another origin.
type unit struct {
	kind     unitKind
	entries  []chat.Entry
	elements []Element
	fate     fate
}

type unitKind int

const (
	turnUnit unitKind = iota
	messageUnit
	summaryUnit
	otherUnit
)

// fate is what becomes of a unit.
type fate int

const (
	nothing fate = iota // there is nothing in it that is not given already
	whole
	brief // without what was done between its messages and answers
	left
)

// before shows what stands before the turn: the summary, closed turns and the
// thread's messages, the newest of each that fit into a share of tokens, and
// what plugins add. A message that is given already is not given again. What is
// left out is counted in a note.
func (p prompt) before(share int) []Element {
	units := p.arrange(share)
	var elements []Element
	if note := leftOut(p.turn, units); note != "" {
		elements = append(elements, Element{Origin: string(noteOrigin), Note: note})
	}
	for _, u := range units {
		elements = append(elements, u.elements...)
	}
	return elements
}

// arrange decides over each unit. Closed turns come first: they say more of a
// message than the thread does.
func (p prompt) arrange(share int) []*unit {
	units := p.units()
	given := map[chat.MessageID]bool{}
	for _, e := range p.turn.Own {
		if e.Message != nil {
			given[*e.Message] = true
		}
	}
	for _, kind := range []unitKind{summaryUnit, turnUnit, messageUnit, otherUnit} {
		room := share * bytesPerToken
		full := false
		for _, u := range slices.Backward(units) {
			if u.kind != kind {
				continue
			}
			size := p.fill(u, given, room, full)
			full = full || u.fate == left
			room -= size
		}
	}
	return units
}

// fill gives a unit its elements, if there is room for them, and answers how
// many bytes they take.
func (p prompt) fill(u *unit, given map[chat.MessageID]bool, room int, full bool) int {
	u.elements = p.show(u.entries, given)
	if len(u.elements) == 0 {
		return 0
	}
	u.fate = whole
	size := sizeOf(u.elements)
	switch {
	case full:
		u.fate = left
	case size > room && u.kind == summaryUnit && room > smallest:
		e := u.entries[0]
		e.Text = plugins.CutMiddle(e.Text, max(len(e.Text)-(size-room), 0))
		u.elements = p.show([]chat.Entry{e}, given)
		size = sizeOf(u.elements)
	case size > room && u.kind == turnUnit:
		u.elements, u.fate = p.show(slices.DeleteFunc(slices.Clone(u.entries), between), given), brief
		size = sizeOf(u.elements)
	}
	if u.fate == left || size > room {
		u.elements, u.fate = nil, left
		return 0
	}
	for _, e := range u.entries {
		if e.Message != nil {
			given[*e.Message] = true
		}
	}
	return size
}

// between: the entry is what the turn did, and not what was said in it.
func between(e chat.Entry) bool { return e.Message == nil && !e.Posted }

// show are entries as elements, without messages that are given already.
func (p prompt) show(entries []chat.Entry, given map[chat.MessageID]bool) []Element {
	var elements []Element
	for _, e := range entries {
		if e.Message == nil || !given[*e.Message] {
			elements = append(elements, p.elements(e)...)
		}
	}
	return elements
}

func sizeOf(elements []Element) int {
	size := 0
	for _, e := range elements {
		size += len(e.String()) + 1
	}
	return size
}

// units groups what stands before the turn and its actor may see.
func (p prompt) units() []*unit {
	var units []*unit
	for _, e := range p.turn.Visible() {
		kind := otherUnit
		switch {
		case e.Origin == chat.History:
			kind = turnUnit
			e = cutDown(e, shortened)
		case e.Origin == chat.Summary:
			kind = summaryUnit
		case e.Message != nil && e.Origin != chat.Memory:
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

// leftOut says what a prompt does not show.
func leftOut(t Turn, units []*unit) string {
	notes := []string{}
	if t.Note != "" {
		notes = append(notes, t.Note)
	}
	say := func(kind unitKind, f fate, one, many string) {
		n := 0
		for _, u := range units {
			if u.kind == kind && u.fate == f {
				n++
			}
		}
		switch {
		case n == 1:
			notes = append(notes, one)
		case n > 1:
			notes = append(notes, fmt.Sprintf(many, n))
		}
	}
	if hidden(t) || slices.ContainsFunc(units, func(u *unit) bool { return u.kind == summaryUnit && u.fate == left }) {
		notes = append(notes, "A summary of earlier turns is not shown.")
	}
	say(turnUnit, left, "1 earlier turn is not shown.", "%d earlier turns are not shown.")
	say(turnUnit, brief, "Of 1 earlier turn the calls are not shown.", "Of %d earlier turns the calls are not shown.")
	say(messageUnit, left, "1 earlier message of the thread is not shown.", "%d earlier messages of the thread are not shown.")
	say(otherUnit, left, "1 piece of further information is not shown.", "%d pieces of further information are not shown.")
	return strings.Join(notes, " ")
}

// hidden: a private summary stands before a turn in conflict.
func hidden(t Turn) bool {
	private := func(e chat.Entry) bool { return e.Origin == chat.Summary && e.Private }
	return slices.ContainsFunc(t.Before, private) && !slices.ContainsFunc(t.Visible(), private)
}
