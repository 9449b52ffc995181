package app

import (
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// secretForms are the forms of tokens that are masked wherever they come from:
// a header that a library logs, an error that quotes its request, a model's
// answer. What precedes the match in group 1 is kept. Each is looked for only
// in a text that holds its literal, in any case: three lines of every turn pass
// here, and hardly any has one.
var secretForms = []struct {
	literal string // in lower case
	form    *regexp.Regexp
	with    string
}{
	{"xox", regexp.MustCompile(`\b(xox[a-z](?:\.xox[a-z])?-)[A-Za-z0-9%._-]+`), "${1}" + mask},
	{"xapp-", regexp.MustCompile(`\b(xapp-)[A-Za-z0-9%._-]+`), "${1}" + mask},
	{"sk-", regexp.MustCompile(`\b(sk-)[A-Za-z0-9_-]{12,}`), "${1}" + mask},
	{"bearer", regexp.MustCompile(`(?i)\b(bearer(?:\s|%20|\+)+)[A-Za-z0-9._~+/=-]+`), "${1}" + mask},
	// The ticket of a Socket Mode URL opens the socket.
	{"ticket", regexp.MustCompile(`\b(ticket(?:=|%3D))[A-Za-z0-9%._~-]+`), "${1}" + mask},
	// The user part of a URL.
	{"://", regexp.MustCompile(`([a-z][a-z0-9+]*://)[^\s/@"'<>]+@`), "${1}" + mask + "@"},
}

// shortestSecret is the least length of a configured secret that is masked by
// its value: masking "x" or "none", as local models are given for a key, would
// only make the log unreadable.
const shortestSecret = 6

// redactor masks the given values, in the spellings in which logs and forms
// quote them, and everything that has the form of a token.
type redactor struct{ values *strings.Replacer }

func newRedactor(secrets ...string) *redactor {
	var pairs []string
	add := func(spelling string) { pairs = append(pairs, spelling, mask) }
	// Longer ones first, so that no secret hides a part of another.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if len(secret) < shortestSecret {
			continue
		}
		add(secret)
		add(url.QueryEscape(secret))
		quoted := strconv.Quote(secret)
		add(quoted[1 : len(quoted)-1])
		if quoted, err := json.Marshal(secret); err == nil {
			add(string(quoted[1 : len(quoted)-1]))
		}
	}
	return &redactor{strings.NewReplacer(pairs...)}
}

func (r *redactor) redact(text string) string {
	text = r.values.Replace(text)
	lower := strings.ToLower(text)
	for _, f := range secretForms {
		if strings.Contains(lower, f.literal) {
			text = f.form.ReplaceAllString(text, f.with)
		}
	}
	return text
}

// redactedWriter masks what is written. Each Write is taken for a whole, as
// slog and fmt write their lines.
type redactedWriter struct {
	to io.Writer
	by *redactor
}

func (w redactedWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.by.redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
