package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reeve/plugins/web"
)

// filled is a text of half a megabyte, made of a piece.
func filled(piece string) string { return strings.Repeat(piece, (512<<10)/len(piece)) }

func nested(open, shut string, depth int) string {
	return filled(strings.Repeat(open, depth) + "x" + strings.Repeat(shut, depth))
}

// Whatever a page holds, reading it takes no longer than its length explains,
// and gives no more than fits.
func TestHostilePages(t *testing.T) {
	pages := map[string]string{
		"brackets": strings.Repeat("[", 2<<20), "stars": filled("*"), "spaces": "<p>" + filled(" ") + "x", "lines": "<pre>" + filled("\n") + "x",
		"bold that is not closed": filled("<b><p>"), "links that are not closed": filled("<a href=x><p>y"), "items": "<ul>" + filled("<li>x"),
		"a wide table": "<table><tr>" + filled("<td>x"), "cells that span": "<table>" + filled("<tr><td colspan=1000 rowspan=65534>x"),
		"one long cell": "<table><tr><td>" + filled("y") + "<tr><td>x", "deep": nested("<div>", "</div>", 500), "too deep": nested("<div>", "</div>", 600),
		"deep and never closed": filled("<div>"), "deep lists": nested("<ul><li>", "</ul>", 250), "deep quotes": nested("<blockquote>", "</blockquote>", 500),
		"deep tables": nested("<table><tr><td>", "</table>", 120), "one tag": "<p " + filled("a=b "), "one attribute": `<a href="` + filled("x") + `">y</a>`,
		"comments": filled("<!-- -->"), "a comment that is not closed": "<!--" + filled("x"), "scripts": filled("<script>x</script>"),
		"entities": filled("&amp;"), "half entities": filled("&#x"), "codes": filled("<code>`</code>"), "images": filled("<img alt='x y'>"),
		"tables in tables' way": filled("<table><b>x"), "titles": filled("<title>x</title>"), "mains": filled("<main>x</main>"), "nothing closed": filled("<"),
		"frames": filled("<frameset>"), "selects": filled("<select><option>x"), "odd bytes": filled("\xff\xfe<p\x00>"), "closing tags": filled("</p></b></a></table></ul></pre>"),
	}
	for name, page := range pages {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, serve("text/html", page), func(o *web.Options) { o.Timeout = time.Minute })
			began := time.Now()
			result := p.fetch(t, p.url("example.com", "/"))
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if result.Error || len(result.Text) > 50<<10 || !utf8.ValidString(result.Text) {
				t.Errorf("%d bytes: %.100q", len(result.Text), result.Text)
			}
		})
	}
}

func TestALongPageIsCut(t *testing.T) {
	for _, kind := range []string{"text/plain", "text/html"} {
		p := newPlace(t, serve(kind, strings.Repeat("wörd ", 1<<20)))
		result := p.fetch(t, p.url("example.com", "/"))
		if result.Error || len(result.Text) > 50<<10 || !strings.Contains(result.Text, "Only the first 2097152 bytes were read.") ||
			!strings.Contains(result.Text, "its end was left out") || !utf8.ValidString(result.Text) {
			t.Errorf("%s: %d bytes, ends %q", kind, len(result.Text), result.Text[len(result.Text)-200:])
		}
	}
}

func TestAGzipBombIsCut(t *testing.T) {
	p := newPlace(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		chunk := []byte(strings.Repeat("x", 1<<20))
		for range 100 {
			if _, err := z.Write(chunk); err != nil {
				return
			}
		}
		_ = z.Close()
	})
	if result := p.fetch(t, p.url("example.com", "/")); result.Error || len(result.Text) > 50<<10 {
		t.Errorf("%d bytes", len(result.Text))
	}
}

func TestAPackingThatWasNotAskedFor(t *testing.T) {
	p := newPlace(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		serve("text/html", "\x8b\x03\x80hello\x03")(w, nil)
	})
	if result := p.fetch(t, p.url("example.com", "/")); !result.Error {
		t.Errorf("%q", result.Text)
	}
}

// A page that drips is given its time and no more; what had come by then is
// not lost.
func TestASlowPage(t *testing.T) {
	over := make(chan struct{})
	p := newPlace(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-over
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Path == "/much" {
			_, _ = io.WriteString(w, strings.Repeat("word ", 1000))
		}
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			if _, err := io.WriteString(w, "x"); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	}, func(o *web.Options) { o.Timeout = 400 * time.Millisecond })
	t.Cleanup(func() { close(over) })
	for path, want := range map[string]string{"/silent": "took too long", "/drip": "took too long", "/much": "word word"} {
		began := time.Now()
		result := p.fetch(t, p.url("example.com", path))
		if result.Error != (path != "/much") || !strings.Contains(result.Text, want) || !strings.Contains(result.Text, "took too long") {
			t.Errorf("%s: %q", path, result.Text)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s took %v", path, took)
		}
	}
}
