package github

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"reeve/plugins"
	"reeve/runtime/chat"
)

const (
	// maxSheet bounds a whole result, in bytes, maxText the text of an issue or
	// pull request in it, maxPiece one comment, review, description or diff of a
	// file, and maxLine what is one line.
	maxSheet = 44 << 10
	maxText  = 12 << 10
	maxPiece = 4 << 10
	maxLine  = 300

	indent = "    "
)

// sheet is a result while it is written. What people wrote is indented, so that
// a line that begins at the margin is never theirs.
type sheet struct{ strings.Builder }

// line writes a line of ours. What others chose goes through flat first.
func (s *sheet) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// breaks are all that may be shown as the end of a line.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// text writes what somebody wrote, each line of it indented, in at most limit
// bytes or little more.
func (s *sheet) text(text string, limit int) {
	if strings.TrimSpace(text) == "" {
		s.WriteString(indent + "(no text)\n")
		return
	}
	text = breaks.Replace(plugins.CutMiddle(text, limit))
	// Thousands of short lines grow by what is put in front of them.
	for range 8 {
		size := len(text) + len(indent)*(strings.Count(text, "\n")+1)
		if size <= limit+limit/4 {
			break
		}
		text = plugins.CutMiddle(text, len(text)*limit/size)
	}
	for line := range strings.SplitSeq(text, "\n") {
		s.WriteString(indent + line + "\n")
	}
}

// newest writes of a list that is oldest first as many as fit, the newest of
// them, and answers how many were left out.
func (s *sheet) newest(pieces []string) (left int) {
	from, room := len(pieces), maxSheet-s.Len()
	for from > 0 && room >= len(pieces[from-1]) {
		from--
		room -= len(pieces[from])
	}
	for _, piece := range pieces[from:] {
		s.WriteString(piece)
	}
	return from
}

// first writes of a list as many as fit, and answers how many were left out.
func (s *sheet) first(pieces []string) (left int) {
	for i, piece := range pieces {
		if s.Len()+len(piece) > maxSheet {
			return len(pieces) - i
		}
		s.WriteString(piece)
	}
	return 0
}

// rights says in whose eyes it was read, where others may read the answer.
func (s *sheet) rights(call plugins.Call) {
	if call.Visibility != chat.DM {
		s.line("Read with the GitHub account %s. Not everybody who reads your answer here may be able to read there: tell no more of it than you were asked for.", flat(call.Account.Name))
	}
}

// flat makes one short line of what somebody chose.
func flat(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxLine {
		cut := maxLine
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		text = text[:cut] + "…"
	}
	return text
}

// title is what somebody chose, as a part of a line of ours.
func title(text string) string { return strconv.QuoteToGraphic(flat(text)) }

// pages says which part of a list is shown.
func pages(what string, page, last, all int) string {
	if last <= 1 {
		return fmt.Sprintf("%s: %d.", what, all)
	}
	return fmt.Sprintf("%s: %d, page %d of %d. Ask with page for another one.", what, all, page, last)
}

// pageOf is the page that was asked for, or else the one that is best.
func pageOf(asked, best, last int) int {
	if asked <= 0 {
		return best
	}
	return min(asked, max(last, 1))
}
