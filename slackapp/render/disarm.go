package render

import (
	"regexp"
	"strings"
)

// joiner has no width and allows no line to break at it.
const joiner = "\u2060"

// The first character of a token, as itself or as an entity, however often it
// was escaped.
const opening = `(<|&(?:amp;)*(?:(?i:lt)|#0*60|#[xX]0*3[cC]);?|(?:(?i:lt)|#0*60|#[xX]0*3[cC]);)`

var (
	broadcast = regexp.MustCompile(`(?i)(@)(channel|here|everyone)\b`)
	userID    = regexp.MustCompile(`(@)([UW][A-Z0-9]{2,})\b`)
	// tokenStart is what makes a token out of "<" in text.
	tokenStart = regexp.MustCompile(opening + `(![A-Za-z]|@[A-Za-z0-9]|#[A-Za-z0-9]|[A-Za-z][A-Za-z0-9+.-]*:)`)
	// In code only what Slack would surely read is touched: "<!doctype" and
	// "vector<std::string>" stay as they are.
	codeToken = regexp.MustCompile(`(?i)` + opening +
		`(!(?:channel|here|everyone|group|subteam|date)|@[UWB][A-Z0-9]|#[CGD][A-Z0-9]|[a-z][a-z0-9+.-]*:[^\s<>|:][^\s<>|]*(?:\||>|&gt;))`)
	foreignURL = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*):(//)`)
	// A name in front of the host, in an address that stands in the open: Slack
	// links such addresses by itself.
	namedURL  = regexp.MustCompile(`(?i)\b(https?:)(//[^\s/?#]*@)`)
	scriptURL = regexp.MustCompile(`(?i)\b(javascript|vbscript|data|file|blob|about|slack|tel|sms|callto|facetime|skype|xmpp|irc|magnet|view-source|intent):([^\s\x{2060}])`)
)

// disarm breaks every token in finished text. What may stay was held back
// before and is put in afterwards.
func disarm(s string) string {
	// Most text has nothing of the kind, and the patterns are slow.
	if strings.Contains(s, "@") {
		s = broadcast.ReplaceAllString(s, "${1}"+joiner+"${2}")
		s = userID.ReplaceAllString(s, "${1}"+joiner+"${2}")
	}
	if strings.ContainsAny(s, "<&;") {
		s = tokenStart.ReplaceAllString(s, "${1}"+joiner+"${2}")
	}
	if !strings.Contains(s, ":") {
		return s
	}
	s = namedURL.ReplaceAllString(s, "${1}"+joiner+"${2}")
	for range 2 { // a match takes the first character of the next
		s = scriptURL.ReplaceAllString(s, "${1}:"+joiner+"${2}")
	}
	return foreignURL.ReplaceAllStringFunc(s, func(m string) string {
		scheme, slashes, _ := strings.Cut(m, ":")
		if s := strings.ToLower(scheme); s == "http" || s == "https" {
			return m
		}
		return scheme + ":" + joiner + slashes
	})
}

// disarmCode is disarm for code, which should otherwise be copied as it is.
func disarmCode(s string) string {
	if !strings.ContainsAny(s, "@<&;") {
		return s
	}
	s = broadcast.ReplaceAllString(s, "${1}"+joiner+"${2}")
	return codeToken.ReplaceAllString(s, "${1}"+joiner+"${2}")
}

// Held pieces stand in the text as one character each of a private plane,
// which clean takes out of everything foreign.
const (
	heldFirst = '\U000F0000'
	heldMost  = 0x1FFF0
)

// hold keeps a piece out of the last pass.
func (w *writer) hold(piece string) string {
	if piece == "" || w.form == asSource {
		return piece
	}
	if len(w.held) >= heldMost {
		return piece
	}
	w.held = append(w.held, piece)
	return string(rune(heldFirst + len(w.held) - 1))
}

// finish disarms the text and puts the held pieces in.
func (w *writer) finish(s string) string {
	if w.form == asSource {
		return s
	}
	s = disarm(s)
	if len(w.held) == 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if i := int(r - heldFirst); i >= 0 && i < len(w.held) {
			b.WriteString(w.held[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
