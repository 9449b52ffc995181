package render

import (
	"unicode"
	"unicode/utf8"
)

// graphemeFloor is the last place at or before i where s may be cut without
// tearing what is seen as one character: no combining mark, joiner, variation,
// skin tone, tag or Hangul vowel loses its base, and no flag its half.
func graphemeFloor(s string, i int) int {
	for i > 0 && i < len(s) {
		for !utf8.RuneStart(s[i]) {
			i--
		}
		before, size := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i:])
		if !joined(s[:i], before, after) {
			return i
		}
		i -= size
	}
	return i
}

func joined(head string, before, after rune) bool {
	switch {
	case before == '\u200d', after == '\u200d', before == '\r' && after == '\n':
		return true
	case unicode.In(after, unicode.Mn, unicode.Me, unicode.Mc):
		return true
	case after >= 0x1F3FB && after <= 0x1F3FF, after >= 0xE0020 && after <= 0xE007F:
		return true
	case after >= 0x1160 && after <= 0x11FF:
		return true
	case isFlag(before) && isFlag(after):
		n := 0
		for head != "" {
			r, size := utf8.DecodeLastRuneInString(head)
			if !isFlag(r) {
				break
			}
			n++
			head = head[:len(head)-size]
		}
		return n%2 == 1
	}
	return false
}

func isFlag(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }
