package agent

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"reeve/plugins"
	"reeve/runtime/chat"
)

//go:embed summary.md
var summaryRules string

// summaryOrder ends every request for a summary.
const summaryOrder = "Write the summary of the entries above."

// IsSummary reports whether a request asks for a summary, and not for a turn's
// answer.
func IsSummary(req Request) bool {
	return strings.HasPrefix(req.System, strings.TrimSpace(summaryRules))
}

// source is what a summary is made of.
type source struct {
	covers  chat.Range
	entries []chat.Entry
	private bool // one of them is
}

// overflow is what a summary has to stand for because a request has no room for
// it: closed turns up to the newest that has to go, and the summary before them.
// So that not every turn needs another one, it goes well below the room there
// is. ok is false when all that can be shown is.
func overflow(t Turn, contextTokens int) (source, bool) {
	p := newPrompt(t)
	s := source{covers: chat.Range{To: p.outdated(share(contextTokens)), Reader: t.Actor}}
	if s.covers.To == 0 || !t.Actor.IsWhole() {
		return s, false
	}
	needed := slices.ContainsFunc(p.arrange(share(contextTokens)), func(u *unit) bool {
		closing := u.entries[0].Closing
		return u.fate == left && closing > 0 && closing <= s.covers.To
	})
	if !needed {
		return s, false
	}
	for _, e := range t.Before {
		if !s.covers.Includes(e) {
			continue
		}
		s.entries = append(s.entries, e)
		s.private = s.private || e.Private
		from := e.Closing
		if e.Origin == chat.Summary {
			from = e.Covers.From
		}
		if s.covers.From == 0 || from < s.covers.From {
			s.covers.From = from
		}
	}
	// In a conflict what is private must not be seen, and a summary without it
	// would lose it for later turns.
	return s, !s.private || len(chat.Contributors(t.Own, t.Actor)) == 0
}

// outdated is the closing number of the newest closed turn for which no room is
// kept: what is newer fits into a quarter of the share. The last turn stays.
func (p prompt) outdated(share int) int64 {
	said, heard, newest := map[int64]int{}, map[int64]int{}, int64(0)
	var numbers []int64
	for _, u := range p.units() {
		n := u.entries[0].Closing
		if n == 0 {
			continue
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
		newest = max(newest, n)
		size := sizeOf(p.show(u.entries, nil))
		if u.kind == turnUnit {
			said[n] += size
		} else {
			heard[n] += size
		}
	}
	slices.Sort(numbers)
	room := share * bytesPerToken / 4
	turns, thread := room, room
	for _, n := range slices.Backward(numbers) {
		turns, thread = turns-said[n], thread-heard[n]
		if n != newest && (turns < 0 || thread < 0) {
			return n
		}
	}
	return 0
}

// summaryRequest asks for a summary within contextTokens. Of what is too long
// for one request the oldest is left out, after the earlier summary.
func summaryRequest(t Turn, s source, contextTokens int) Request {
	p := newPrompt(t)
	var b strings.Builder
	b.WriteString(strings.TrimSpace(summaryRules))
	fmt.Fprintf(&b, "\n\nYou write for the person with the id ")
	escape(&b, t.Actor.Key(), true)
	fmt.Fprintf(&b, ". At most %d words.\n", max(summaryBytes(contextTokens)/8, 40))
	req := Request{System: b.String()}
	room := contextTokens*bytesPerToken - len(req.System) - len(summaryOrder) - len(blockHeading) - len(blockEnd) - summaryBytes(contextTokens)

	var elements, first []Element
	for _, e := range s.entries {
		shown := p.elements(cutDown(e, shortened))
		if e.Origin == chat.Summary {
			first = shown
			continue
		}
		elements = append(elements, shown...)
	}
	room -= sizeOf(first)
	begin := len(elements)
	for begin > 0 {
		if room -= sizeOf(elements[begin-1 : begin]); room < 0 {
			break
		}
		begin--
	}
	if begin > 0 {
		first = append(first, Element{Origin: string(noteOrigin), Note: fmt.Sprintf("%d entries are left out here.", begin)})
	}
	req.Messages = []Message{
		{Role: chat.UserRole, Content: Block(append(first, elements[begin:]...))},
		{Role: chat.UserRole, Content: summaryOrder},
	}
	return req
}

// summaryBytes is how long a summary may be.
func summaryBytes(contextTokens int) int { return share(contextTokens) * bytesPerToken / 2 }

// summarised is what stands before a turn when a summary stands for a part of it.
func summarised(before []chat.Entry, summary chat.Entry) []chat.Entry {
	rest := slices.DeleteFunc(slices.Clone(before), summary.Covers.Includes)
	return append([]chat.Entry{summary}, rest...)
}

// summaryEntry is a summary as the turn's log keeps it.
func (r *run) summaryEntry(s source, text string, tokens int) chat.Entry {
	e := r.entry(chat.UserRole, chat.Summary)
	e.ID = fmt.Sprintf("%s.summary.%d", r.turn.ID, s.covers.To)
	e.Text, e.Tokens, e.Private, e.Covers = plugins.CutMiddle(strings.TrimSpace(text), summaryBytes(r.limit)), tokens, s.private, &s.covers
	return e
}
