package agent

import (
	"regexp"
	"strings"
	"unicode"
)

// lookalike finds our own markup in what an actor types: a tag name of ours
// after "<", in any case, with invisible characters, blanks or a slash between.
var lookalike = regexp.MustCompile(`(?i)<([\s/\p{Cf}\p{Cc}]*(?:` + spaced("information") + `|` + spaced("entry") + `))`)

// spaced lets invisible characters stand between the letters of a word.
func spaced(word string) string {
	return strings.Join(strings.Split(word, ""), `[\p{Cf}\p{Cc}\x{FE00}-\x{FE0F}]*`)
}

// requestText is an actor's own text as it stands in a prompt: as he typed it,
// since escaping would spoil code and links. Only our own markup is broken, so
// that no request can look like a block of foreign text, and characters that
// providers refuse are replaced.
func requestText(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return r
		case unicode.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, text)
	return lookalike.ReplaceAllString(text, "&lt;$1")
}
