package web

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"reeve/plugins"
	"reeve/plugins/outbound"
)

// page makes text of an answer, with a line in front that says whose it is.
func (f fetcher) page(u *url.URL, host string, r *http.Response) (string, error) {
	if r.StatusCode < 200 || r.StatusCode > 299 {
		return "", tell("The page was not read: %s answered %s.", host, status(r.StatusCode))
	}
	if packed := r.Header.Get("Content-Encoding"); packed != "" {
		return "", tell("The page was not read: %s sent it packed in a way that it was not asked for.", host)
	}
	kind, written := r.Header.Get("Content-Type"), ""
	if kind != "" {
		if written = bare(kind); !readable(written) {
			return "", notText(host, written, r.ContentLength)
		}
	}
	data, notes, err := f.take(r.Body)
	if err != nil {
		return "", err
	}
	if kind == "" {
		kind = http.DetectContentType(data)
		if written = bare(kind); !readable(written) {
			return "", notText(host, written, r.ContentLength)
		}
	}
	text := decode(data, kind)
	if strings.ContainsRune(text[:min(len(text), 4096)], 0) {
		return "", notText(host, "that it calls "+written+" and is none", r.ContentLength)
	}
	title, cut := "", false
	if written == "text/html" || written == "application/xhtml+xml" {
		title, text, cut = readHTML(text, u, f.options.MaxText)
	} else {
		text = plain(text)
		cut = len(text) > f.options.MaxText
		text = strings.ToValidUTF8(text[:min(len(text), f.options.MaxText)], "")
	}
	if strings.TrimSpace(text) == "" {
		text = "(There is no text on the page. It may need scripts, which are not run.)"
	}
	if cut {
		notes = append(notes, "The page goes on; its end was left out.")
	}
	head := u.String() + "\n"
	if title != "" {
		head += "Title: " + title + "\n"
	}
	return head + "\n" + strings.Join(append([]string{text}, notes...), "\n\n"), nil
}

// take reads a body up to its bound. What came before the time was over, or the
// connection broke off, is worth having.
func (f fetcher) take(body io.Reader) (data []byte, notes []string, err error) {
	data, err = io.ReadAll(io.LimitReader(body, int64(f.options.MaxBody)+1))
	switch {
	case err != nil && len(data) < 1024:
		return nil, nil, err
	case err != nil:
		notes = append(notes, fmt.Sprintf("Only the first %d bytes were read: %s.", len(data), why(err)))
	case len(data) > f.options.MaxBody:
		data = data[:f.options.MaxBody]
		notes = append(notes, fmt.Sprintf("Only the first %d bytes were read.", len(data)))
	}
	return data, notes, nil
}

func why(err error) string {
	if failed, ok := err.(*outbound.Error); ok {
		return failed.Why
	}
	return "the connection broke off"
}

// bare is a content type without its parameters, in lower case.
func bare(contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(contentType, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	return plugins.CutMiddle(kind, 128)
}

func readable(kind string) bool {
	switch kind {
	case "application/xhtml+xml", "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/x-ndjson", "application/ld+json":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml"
}

func notText(host, kind string, size int64) error {
	long := "of unknown size"
	if size >= 0 {
		long = fmt.Sprintf("of %d bytes", size)
	}
	return tell("The page was not read: %s sent a file of the type %s, %s, which is no text.", host, kind, long)
}

func status(code int) string {
	switch text := http.StatusText(code); {
	case text == "":
		return fmt.Sprintf("with the status %d", code)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Sprintf("%d %s; it may want a login, which this tool has not", code, text)
	default:
		return fmt.Sprintf("%d %s", code, text)
	}
}

// decode makes UTF-8 of a page. What a page says of its own encoding counts
// unless it says nothing and is UTF-8 already.
func decode(data []byte, contentType string) string {
	encoding, _, certain := charset.DetermineEncoding(data[:min(len(data), 1024)], contentType)
	if !certain && utf8.Valid(whole(data)) {
		return string(whole(data))
	}
	decoded, err := encoding.NewDecoder().Bytes(data)
	if err != nil {
		decoded = data
	}
	return strings.ToValidUTF8(string(bytes.TrimPrefix(decoded, []byte("\uFEFF"))), "\uFFFD")
}

// whole takes off a character that was cut in two at the end.
func whole(data []byte) []byte {
	for back := 1; back <= min(utf8.UTFMax, len(data)); back++ {
		if b := data[len(data)-back]; utf8.RuneStart(b) {
			if !utf8.FullRune(data[len(data)-back:]) {
				return data[:len(data)-back]
			}
			break
		}
	}
	return data
}

// plain takes out what is not seen: such characters hide text from people.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u00a0':
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0: // control
			return -1
		case r == '\u00ad', r == '\u200b', r == '\u2060', r == '\ufeff', // invisible
			r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', // turn the reading direction
			r >= 0xe0000 && r <= 0xe0fff: // tags
			return -1
		}
		return r
	}, text)
}
