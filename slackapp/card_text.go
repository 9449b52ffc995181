package slackapp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what stands on a card besides arguments, in characters.
const (
	lineMost  = 120  // of a name
	namesMost = 30   // of a list
	chunkMost = 2800 // of one text: a section may have 3,000
)

// visible writes out what nobody would see, or what would change how the rest
// is shown. What was made visible before stays as it is.
func visible(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || unicode.IsPrint(r) && !unicode.Is(unseen, r):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// unseen are characters that Unicode calls printable and that look like nothing.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, {Lo: 0x115F, Hi: 0x1160, Stride: 1}, {Lo: 0x17B4, Hi: 0x17B5, Stride: 1},
		{Lo: 0x180B, Hi: 0x180F, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1}, {Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x13441, Hi: 0x13442, Stride: 1}, {Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, {Lo: 0x1BCA0, Hi: 0x1BCA3, Stride: 1},
		{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}, {Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1},
	},
}

// oneLine is a name on a card: visible, on one line, its middle left out where
// it is long, so that no name pushes the rest away.
func oneLine(name string) string {
	name = strings.ReplaceAll(visible(strings.TrimSpace(name)), "\n", `\n`)
	if runes := []rune(name); len(runes) > lineMost {
		half := (lineMost - 1) / 2
		return string(runes[:half]) + "…" + string(runes[len(runes)-half:])
	}
	return name
}

func eachLine(names []string) []string {
	var out []string
	for i, name := range names {
		if i == namesMost {
			return append(out, fmt.Sprintf("and %d more", len(names)-i))
		}
		out = append(out, oneLine(name))
	}
	return out
}

// safeURL is an address that a button may open; empty: there is none.
func safeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(raw) > 3000 {
		return ""
	}
	return raw
}

// chunks cuts a text into pieces that each have at most most characters, and at
// most size as they are sent; nothing is left out. It cuts behind a line where
// one ends in the second half.
func chunks(text string, most, size int) []string {
	var out []string
	for text != "" {
		end, runes, sent, line := 0, 0, 0, 0
		for end < len(text) {
			r, width := utf8.DecodeRuneInString(text[end:])
			more := sentSize(r)
			if runes == most || sent+more > size {
				break
			}
			end, runes, sent = end+width, runes+1, sent+more
			if r == '\n' {
				line = end
			}
		}
		if end < len(text) && line > end/2 {
			end = line
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}

// sentSize is how many characters a character is as it is sent.
func sentSize(r rune) int {
	raw, err := json.Marshal(string(r))
	if err != nil {
		return 6
	}
	return utf8.RuneCount(raw) - 2
}
