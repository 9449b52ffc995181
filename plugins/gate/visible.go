package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// widest is the longest text that is laid out over several lines: no card has
	// room for a longer one. deepest is how deep such a text may be nested: what is
	// indented grows by the square of that.
	widest  = 32 << 10
	deepest = 32
)

// visible is a call's arguments as a person is shown them, whole: JSON over
// several lines, in which each character that he would not see, or that would
// change how others are shown, is written as its escape.
func visible(arguments json.RawMessage) string {
	out := bytes.NewBuffer(arguments)
	if len(arguments) <= widest && depth(arguments) <= deepest {
		out = new(bytes.Buffer)
		if err := json.Indent(out, arguments, "", "  "); err != nil {
			return fmt.Sprintf("%q", arguments) // no call passes with what cannot be read
		}
	}
	var shown strings.Builder
	text := out.String()
	for i := 0; i < len(text); {
		if text[i] == '\\' && i+1 < len(text) {
			n := 2
			if c, known := readable[text[i:min(i+6, len(text))]]; known {
				shown.WriteByte(c)
				n = 6
			} else {
				shown.WriteString(text[i : i+n])
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		show(&shown, r)
		i += n
	}
	return shown.String()
}

// readable are the characters that were escaped for the sake of HTML.
var readable = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

func show(to *strings.Builder, r rune) {
	switch {
	case r == '\n' || unicode.IsPrint(r) && !unicode.Is(blank, r):
		to.WriteRune(r)
	case r > 0xFFFF:
		high, low := surrogates(r)
		fmt.Fprintf(to, `\u%04x\u%04x`, high, low)
	default:
		fmt.Fprintf(to, `\u%04x`, r)
	}
}

// depth is how deep JSON is nested, or more where brackets stand in its texts.
func depth(raw json.RawMessage) int {
	now, most := 0, 0
	for _, b := range raw {
		switch b {
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now--
		}
	}
	return most
}

// surrogates are the two escapes by which JSON writes a character beyond the
// first plane.
func surrogates(r rune) (high, low rune) {
	r -= 0x10000
	return 0xD800 + r>>10, 0xDC00 + r&0x3FF
}

// blank are letters that Unicode calls printable and that look like nothing.
var blank = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x034F, Hi: 0x034F, Stride: 1}, // combining grapheme joiner
	{Lo: 0x115F, Hi: 0x1160, Stride: 1}, // Hangul fillers
	{Lo: 0x17B4, Hi: 0x17B5, Stride: 1}, // Khmer inherent vowels
	{Lo: 0x180B, Hi: 0x180F, Stride: 1}, // Mongolian variation selectors
	{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // Braille blank
	{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
	{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1}, // variation selectors
	{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, // halfwidth Hangul filler
}, R32: []unicode.Range32{
	{Lo: 0x13441, Hi: 0x13442, Stride: 1}, // blanks among hieroglyphs
	{Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, // Khitan filler
	{Lo: 0x1BCA0, Hi: 0x1BCA3, Stride: 1}, // shorthand format controls
	{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}, // null notehead
	{Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1}, // tags and variation selectors
}}
