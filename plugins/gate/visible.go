package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// visible is a call's arguments as a person is shown them, whole: JSON over
// several lines, in which each character that he would not see, or that would
// change how others are shown, is written as its escape.
func visible(arguments json.RawMessage) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return fmt.Sprintf("%q", arguments) // no call passes with what cannot be read
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%q", arguments)
	}
	var shown strings.Builder
	for _, r := range strings.TrimSpace(out.String()) {
		switch {
		case r == '\n' || unicode.IsPrint(r) && !unicode.Is(blank, r):
			shown.WriteRune(r)
		case r > 0xFFFF:
			high, low := surrogates(r)
			fmt.Fprintf(&shown, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&shown, `\u%04x`, r)
		}
	}
	return shown.String()
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
	{Lo: 0x1BCA0, Hi: 0x1BCA3, Stride: 1}, // shorthand format controls
	{Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1}, // tags and variation selectors
}}
