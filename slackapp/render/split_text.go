package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// text adds text without inner blocks, cut where it has to be.
func (s *splitter) text(text, gap string) {
	for text = strings.TrimSpace(text); text != ""; {
		if s.fits(text) {
			s.add(text, gap)
			return
		}
		limit := s.limit.markdown
		head := text[:cutAt(text, limit)]
		for !s.fits(head) && limit > 16 {
			limit = limit * 3 / 4
			head = text[:cutAt(text, limit)]
		}
		s.flush()
		s.add(strings.TrimRight(head, " \n"), gap)
		s.flush()
		text = strings.TrimLeft(text[len(head):], " \n")
	}
}

// cutAt is the best place to cut text at or before its limit-th character: the
// end of a line, of a sentence, of a word; not inside of a link or a code span
// if that can be helped.
func cutAt(text string, limit int) int {
	end := byteOffset(text, limit)
	if end == len(text) {
		return end
	}
	var line, sentence, word int
	code, bracket, escaped := false, 0, false
	var prev rune
	for i, r := range text[:end] {
		if !code && bracket == 0 {
			switch {
			case r == '\n':
				line = i + 1
			case r == ' ' && strings.ContainsRune(".!?:;", prev):
				sentence = i + 1
			case unicode.IsSpace(r):
				word = i + utf8.RuneLen(r)
			case strings.ContainsRune("。！？；，、", prev):
				sentence = i
			}
		}
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '`':
			code = !code
		case code:
		case r == '[':
			bracket = 1
		case r == ']' && !strings.HasPrefix(text[i+1:], "("), r == ')':
			bracket = 0
		}
		prev = r
	}
	for _, i := range []int{line, sentence, word} {
		if i > end/2 {
			return i
		}
	}
	for _, i := range []int{word, sentence, line} {
		if i > end/8 {
			return i
		}
	}
	i := graphemeFloor(text, end)
	if slashes := len(text[:i]) - len(strings.TrimRight(text[:i], `\`)); slashes%2 == 1 {
		i--
	}
	if i <= 0 {
		return end
	}
	return i
}
