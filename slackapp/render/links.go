package render

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// target is where a link leads, checked and written so that no reader can take
// a part of it for markup.
type target struct {
	url  string
	host string // or the whole address, of mailto
}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)

// checkURL reads an address as a browser would; ok is false for what must not
// become a link.
func checkURL(raw string) (t target, ok bool) {
	raw = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.TrimSpace(raw))
	m := scheme.FindStringSubmatch(raw)
	if m == nil {
		return target{}, false
	}
	rest := raw[len(m[0]):]
	switch s := strings.ToLower(m[1]); s {
	case "mailto":
		address, _, _ := strings.Cut(rest, "?")
		if !mailAddress.MatchString(address) {
			return target{}, false
		}
		return target{"mailto:" + encode(rest), strings.ToLower(address)}, true
	case "http", "https":
		// A browser takes a backslash for a slash.
		rest = strings.ReplaceAll(rest, `\`, "/")
		if !strings.HasPrefix(rest, "//") {
			return target{}, false
		}
		authority, path := strings.TrimLeft(rest, "/"), ""
		if i := strings.IndexAny(authority, "/?#"); i >= 0 {
			authority, path = authority[:i], authority[i:]
		}
		// Nobody needs a name and password in a link but who wants to deceive.
		if i := strings.LastIndexByte(authority, '@'); i >= 0 {
			authority = authority[i+1:]
		}
		host, ok := hostOf(authority)
		if !ok {
			return target{}, false
		}
		return target{s + "://" + authority + encode(path), host}, true
	}
	return target{}, false
}

var (
	port        = regexp.MustCompile(`:[0-9]{1,5}$`)
	mailAddress = regexp.MustCompile(`^[\p{L}\p{N}.+_-]+@[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*$`)
	hostName    = regexp.MustCompile(`^[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*\.?$`)
)

// hostOf is the host of "host:port"; IPv6 addresses are let through as they are.
func hostOf(authority string) (string, bool) {
	host := strings.ToLower(port.ReplaceAllString(authority, ""))
	if strings.HasPrefix(host, "[") {
		u, err := url.Parse("http://" + host)
		return host, err == nil && u.Hostname() != ""
	}
	return strings.TrimSuffix(host, "."), hostName.MatchString(host)
}

var (
	urlEntity    = regexp.MustCompile(`(&#?[A-Za-z0-9]+);`)
	urlBroadcast = regexp.MustCompile(`(?i)@(channel|here|everyone)\b`)
)

// encode writes path, query and fragment with all that could be markup, of
// Markdown or of Slack, as percent escapes.
func encode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c <= ' ', c >= 0x7f, strings.IndexByte("<>|\"\\^`{}()[]!*~'", c) >= 0:
			const hex = "0123456789ABCDEF"
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	out := urlEntity.ReplaceAllString(b.String(), "${1}%3B")
	return urlBroadcast.ReplaceAllString(out, "%40${1}")
}

var hostLike = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}][\p{L}\p{N}_-]*)+`)

// misleads reports whether a link's text names another host than its target.
// It is quick to suspect: "main.go" looks like a host too, and costs a note.
func misleads(label, host string) bool {
	label = strings.ToLower(strings.Map(func(r rune) rune {
		switch r {
		case '\u3002', '\uff0e', '\uff61', '\u2024': // dots to a browser, or to an eye
			return '.'
		}
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, strings.TrimSpace(label)))
	same := func(name string) bool {
		return strings.TrimPrefix(name, "www.") == strings.TrimPrefix(host, "www.")
	}
	// Where the text is an address itself, only its host counts.
	address := strings.TrimPrefix(strings.TrimPrefix(label, "https://"), "http://")
	if end := strings.IndexAny(address, "/?#"); !strings.ContainsAny(address, " \n") {
		name := address
		if end >= 0 {
			name = address[:end]
		}
		if same(port.ReplaceAllString(name, "")) {
			return false
		}
	}
	if strings.Contains(host, "@") {
		return label != host && strings.TrimPrefix(label, "mailto:") != host && strings.ContainsAny(label, "@.")
	}
	for _, name := range hostLike.FindAllString(label, -1) {
		last := name[strings.LastIndexByte(name, '.')+1:]
		if r, _ := utf8.DecodeRuneInString(last); unicode.IsLetter(r) && utf8.RuneCountInString(last) >= 2 || strings.Count(name, ".") == 3 {
			if !same(name) {
				return true
			}
		}
	}
	return false
}

// inlinesInLink writes a link's text; nobody is pinged in it.
func (w *writer) inlinesInLink(n ast.Node) string {
	defer func(was bool) { w.inLink = was }(w.inLink)
	w.inLink = true
	return strings.TrimSpace(w.inlines(n))
}

var sourceURL = strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "\n", "%0A", `\`, `\\`, "&", "&amp;")

// link writes a link whose text is given twice: as it is to be written, and
// bare, to be compared with the target.
func (w *writer) link(n ast.Node, address, label, bare string) string {
	if w.form == asSource {
		if _, ok := n.(*ast.AutoLink); ok && scheme.MatchString(bare) {
			return "<" + strings.ReplaceAll(bare, "|", "%7C") + ">"
		} else if ok {
			return bare
		}
		return "[" + label + "](<" + sourceURL.Replace(address) + ">)"
	}
	shown := strings.TrimSpace(address)
	if utf8.RuneCountInString(shown) > 200 {
		shown = shown[:byteOffset(shown, 200)] + "…"
	}
	if strings.TrimSpace(bare) == "" {
		label, bare = escapeText(shown, w.form), shown
	}
	to, ok := checkURL(address)
	if !ok || w.inLink {
		if shown == "" || shown == strings.TrimSpace(bare) || w.inLink {
			return label
		}
		return label + escapeText(" ("+shown+")", w.form)
	}
	label = strings.ReplaceAll(label, "\n", " ")
	if misleads(bare, to.host) {
		label += escapeText(" ("+to.host+")", w.form)
	}
	switch w.form {
	case asMrkdwn:
		return w.hold("<" + escapeText(to.url, w.form) + "|" + strings.ReplaceAll(w.finish(label), "|", "¦") + ">")
	case asPlain:
		if strings.TrimSpace(bare) == address || strings.TrimSpace(bare) == to.url {
			return label
		}
		return label + " (" + w.hold(escapeText(to.url, w.form)) + ")"
	}
	if w.inCell {
		label = strings.ReplaceAll(label, "|", "¦")
	}
	return "[" + label + "](" + w.hold(to.url) + ")"
}
