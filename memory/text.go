package memory

import (
	"slices"
	"strings"
	"unicode"
)

// plain is a text as it is kept: on one line, without characters that nobody
// sees, but for those that join letters and pictures.
func plain(text string) string {
	return oneLine(strings.Map(func(r rune) rune {
		if hidden(r) && r != '\u200c' && r != '\u200d' {
			return -1
		}
		return r
	}, text))
}

// visible is a text without any character that nobody sees: as it is compared,
// and looked through for secrets.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, text)
}

func hidden(r rune) bool {
	return !unicode.IsSpace(r) && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// oneLine writes each piece of white space as one blank.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// normal is text as it is compared: lower case, white space and punctuation at
// its edges aside.
func normal(text string) string {
	fields := strings.Fields(strings.ToLower(visible(text)))
	for i, f := range fields {
		fields[i] = strings.Trim(f, ".,;:!?\"'“”‘’()[]")
	}
	return strings.Join(slices.DeleteFunc(fields, func(f string) bool { return f == "" }), " ")
}

// letters is how many letters and digits a text has.
func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
