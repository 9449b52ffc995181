package render

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escapeText writes text so that it is read as text, wherever it stands.
func escapeText(s string, f form) string {
	return escapeBetween(s, f, around{inCell: true, inLink: true})
}

// around is what stands around a text.
type around struct {
	before, after  rune // 0 is any
	inCell, inLink bool
}

// escapeBetween is escapeText for text of which it is known where it stands.
func escapeBetween(s string, f form, at around) string {
	if !f.markdown() {
		return slackEscapes.Replace(s)
	}
	// Without an opening bracket there is no link, image, definition or note.
	bracket := strings.Contains(s, "](") || strings.Contains(s, "][") || strings.Contains(s, "]:") || strings.HasSuffix(s, "]")
	var b strings.Builder
	prev := at.before
	for i, r := range s {
		next, size := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if size == 0 {
			next = at.after
		}
		if mustEscape(r, prev, next, s[i:], bracket, at) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}

// mustEscape knows where a character could be markup. Where it surely is not,
// it stays bare, so that ordinary text is not full of backslashes.
func mustEscape(r, prev, next rune, rest string, bracket bool, at around) bool {
	switch r {
	case '`':
		return true
	case '*':
		return !(unicode.IsSpace(prev) && unicode.IsSpace(next))
	case '_':
		return !(isWord(prev) && isWord(next)) && !(unicode.IsSpace(prev) && unicode.IsSpace(next))
	case '~':
		return next != ' ' && !(unicode.IsSpace(prev) && next >= '0' && next <= '9')
	case '[':
		return bracket || at.inLink || !strings.Contains(rest, "]") || next == '^'
	case ']':
		return at.inLink
	case '\\':
		return next == 0 || next == '\n' || next < utf8.RuneSelf && (unicode.IsPunct(next) || unicode.IsSymbol(next))
	case '<':
		return next == 0 || unicode.IsLetter(next) || strings.ContainsRune("/!?@#", next)
	case '&':
		return next == 0 || entity.MatchString(rest)
	case '!':
		return next == 0 || next == '['
	case '|':
		return at.inCell
	}
	return false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var (
	lineMark = regexp.MustCompile(`^(?:#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|=+\s*$|(?:_\s*){3,}$|(?:\*\s*){3,}$|~~~)`)
	lineNum  = regexp.MustCompile(`^(\d{1,9})([.)](?:\s|$))`)
	lineRule = regexp.MustCompile(`^[\s:|-]*-[\s:|-]*$`)
)

// escapeLines keeps a paragraph's lines from being read as the beginning of
// another kind of block, or as the rule below a heading or a table's head.
func escapeLines(s string) string {
	all := strings.Split(s, "\n")
	for i, line := range all {
		// More than three spaces would make code of it; two at the end are a
		// line break.
		line = strings.TrimLeft(line, " \t")
		switch {
		case lineRule.MatchString(line):
			line = strings.Replace(line, "-", `\-`, 1)
		case lineMark.MatchString(line):
			line = `\` + line
		default:
			line = lineNum.ReplaceAllString(line, `${1}\${2}`)
		}
		all[i] = line
	}
	return strings.Join(all, "\n")
}
