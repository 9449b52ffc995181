package plugins

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CutMiddle shortens text to at most limit bytes by taking out its middle,
// where a note says how much is gone. It never cuts a character in two, and
// bytes that are no UTF-8 become U+FFFD.
func CutMiddle(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	// The note's own length depends on the number in it; the whole length is
	// the longest that the number can be.
	room := max(limit-len(cutNote(len(text))), 0)
	head, tail := room-room/3, len(text)-room/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + cutNote(tail-head) + text[tail:]
}

func cutNote(gone int) string { return fmt.Sprintf("\n[… %d bytes left out here …]\n", gone) }
