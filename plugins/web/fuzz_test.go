package web

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a page is, its text is text: bounded, UTF-8, and without characters
// that nobody sees.
func FuzzPage(f *testing.F) {
	for _, page := range []string{
		"<title>t</title><h1>a</h1><ul><li>b<li><p>c</ul><pre>\n d</pre><table><tr><td>e<td>f</table><a href=/x>g</a><blockquote><p>h",
		strings.Repeat("<div>", 600) + "x</div><script>y</script>", "<main hidden>x</main><article>y</article>", "<code><a href=x></code></a></pre></ul></td>",
		"<base href='::'><a href='//\x00'>x", "<svg><title>x</title><foreignObject><p>y</svg>", "a\u202eb\U000E0041", "\xff\xfeh\x00i\x00",
	} {
		f.Add([]byte(page), "text/html; charset=utf-8")
		f.Add([]byte(page), "text/html; charset=utf-16le")
	}
	base, _ := url.Parse("https://example.com/dir/page")
	const limit = 300
	f.Fuzz(func(t *testing.T, page []byte, contentType string) {
		source := decode(page, contentType)
		title, text, _ := readHTML(source, base, limit)
		for _, got := range []string{title, text, plain(source)} {
			if !utf8.ValidString(got) {
				t.Errorf("not UTF-8: %q", got)
			}
			if strings.ContainsAny(got, "\x00\x07\x1b\u200b\u202e\u2066\ufeff\U000E0041") {
				t.Errorf("holds what is not seen: %q", got)
			}
		}
		if len(text) > limit+16 || len(title) > 300 || strings.Contains(title, "\n") {
			t.Errorf("title %d bytes, text %d: %q", len(title), len(text), text)
		}
	})
}
