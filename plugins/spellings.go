package plugins

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// shortestSpelled is the least length of a secret that is looked for in other ways
// of writing: those of a shorter one may be anything.
const shortestSpelled = 8

// Spellings are the ways in which a secret may stand in a text: as it is, in a URL,
// in JSON, in hex, and in base64, alone or as a part of something longer. The
// longest comes first. In base64 the characters that hold bits of what stands beside
// the secret are left out.
func Spellings(secret string) []string {
	if secret == "" {
		return nil
	}
	all := []string{secret}
	add := func(text string) {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(secret) >= shortestSpelled {
		for _, escaped := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
			add(escaped)
			add(lowerEscapes(escaped))
		}
		add(strings.ReplaceAll(secret, "/", `\/`))
		add(jsonEscapes.Replace(secret))
		add(hex.EncodeToString([]byte(secret)))
		add(strings.ToUpper(hex.EncodeToString([]byte(secret))))
		for before := range 3 {
			for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				text := alphabet.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
				text = text[[...]int{0, 2, 3}[before]:]
				if (before+len(secret))%3 != 0 {
					text = text[:len(text)-1]
				}
				add(text)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// jsonEscapes are those that encoders write of characters that could stand as they
// are.
var jsonEscapes = strings.NewReplacer("/", `\/`, "+", `\u002b`, "=", `\u003d`, "&", `\u0026`, "<", `\u003c`, ">", `\u003e`)

// lowerEscapes writes the escapes of a URL in small letters.
func lowerEscapes(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			b.WriteString(strings.ToLower(text[i : i+3]))
			i += 2
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
